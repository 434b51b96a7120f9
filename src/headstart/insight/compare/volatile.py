"""Values that are likely to differ from request to request, by how they look.

A look alone is a suspicion: it is confirmed where two requests have different values in one place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.contracts import client_line
from headstart.insight.causes import Cause

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_WEEKDAY = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:r(?:s(?:day)?)?)?|Fri(?:day)?"
    r"|Sat(?:urday)?|Sun(?:day)?)\.?"
)
_FULL_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_WEEKDAY_ZH = r"(?:星期|周|礼拜|週|禮拜)[一二三四五六日天]"
_MONTH_ELSEWHERE = (
    r"(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember"
    r"|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_NUMBER_ZH = "[〇○零一二三四五六七八九十廿卅]"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|CST|[+-]\d{2}:?\d{2})\b)?"
_HALF = r"\s?[AaPp]\.?[Mm]\b\.?"
_TIME = (
    rf"(?:\d{{1,2}}[:：]\d{{2}}(?:[:：]\d{{2}}(?:[.,]\d+)?)?(?:{_HALF})?"
    rf"|\d{{1,2}}{_HALF}|\d{{1,2}}h\d{{2}}\b){_ZONE}"
)
_TIME_ZH = (
    r"(?:(?:凌晨|早上|上午|中午|下午|傍晚|晚上)\s?)?"
    r"(?:\d{1,2}\s?[时時点點](?:\d{1,2}\s?分?)?(?:\d{1,2}\s?秒)?|\d{1,2}[:：]\d{2}(?:[:：]\d{2})?)"
)
_YEAR = r"(?:19|20)\d{2}"
_DATE = (
    rf"(?:{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.]{_YEAR}(?!\d)"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH},?[\s-]+{_YEAR}"
    rf"|\d{{1,2}}(?:er|\.|º)?\s+(?:de\s+)?(?:{_MONTH}|{_MONTH_ELSEWHERE})\s+(?:de\s+)?{_YEAR}"
    rf"|{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"
    rf"|{_YEAR}\s?[年년]\s?\d{{1,2}}\s?[月월]\s?\d{{1,2}}\s?[日号號일]"
    rf"|(?:{_NUMBER_ZH}{{4}}年)?{_NUMBER_ZH}{{1,2}}月{_NUMBER_ZH}{{1,3}}[日号號])"
)
_DATED = (
    rf"(?:{_WEEKDAY},?\s+(?:the\s+)?)?{_DATE}"
    rf"(?:[,，]?\s?(?:[（(]?{_WEEKDAY_ZH}[）)]?|{_WEEKDAY}\b))?"
)
_LEFT = r"(?<![0-9A-Za-z_])"
_RIGHT = r"(?![0-9A-Za-z_])"

_LABELLED = (
    r"(?:(?:[Rr]equest|[Ss]ession|[Tt]race|[Ss]pan|[Cc]orrelation|[Cc]onversation|[Tt]hread|[Rr]un)"
    r"[-_ ]?(?:ID|Id|id)|(?:请求|会话|追踪|請求|會話)\s?(?:ID|id|号|编号|標識|标识))"
    r"[\"'`]?\s*(?:[:：=]|为|是|is)\s*[\"'`]?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{6,}"
)
"""An id that says itself whose it is, whatever it looks like."""

CLIENT_LINE = re.compile(
    rf"{client_line.CLIENT_LINE}[^\n]*"
    # It is also looked for in a window that may begin within the line.
    r"|(?<![A-Za-z0-9_])cc_(?:version|entrypoint|workload)=[^\n]*|(?<=; )cch=[^\n]*"
)
"""Claude Code's, as its users report it: anthropics/claude-code#24168, #68900."""

PATTERNS: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    (Cause.CLIENT_LINE, CLIENT_LINE),
    (
        Cause.NONCE,
        re.compile(
            r"(?:(?:nonce|random\s+(?:seed|value|number|token|string|id)|cache[-_ ]?bust(?:er)?"
            r"|随机(?:数|种子|值)|种子)\W{0,4}(?:is\s+|为|是)?"
            # Of words that also mean something else the value is set.
            r"|(?<![A-Za-z])(?:seed|salt|entropy)[\"'`]?(?:\s*[:=：]\s*|\s+is\s+))[\"'`]?"
            r"(?:(?=[A-Za-z+/=_-]*\d)[A-Za-z0-9+/=_-]+(?:\.\d+)?|[A-Za-z0-9+/=_-]{16,})",
            re.IGNORECASE,
        ),
    ),
    (
        Cause.IDENTIFIER,
        re.compile(
            rf"{_LEFT}(?:[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}"
            r"|(?:req|request|sess|session|trace|span|run|msg|conv|conversation|thread|call|job|txn"
            r"|corr|correlation|user|usr|chatcmpl|ticket|order)[_-](?=[A-Za-z0-9_-]*\d)"
            r"[A-Za-z0-9_-]{6,}"
            rf"|{_LABELLED}"
            r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"
            r"|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)(?:[0-9a-f]{12,64}))"
            rf"{_RIGHT}"
        ),
    ),
    (
        Cause.CLOCK,
        re.compile(
            rf"{_LEFT}(?:{_DATED}(?:T|\s?[,，]?\s*(?:at\s+)?)(?:{_TIME}|{_TIME_ZH})"
            rf"|{_TIME}|{_TIME_ZH}"
            r"|1[5-9]\d{8}(?:\d{3}){0,2}(?:\.\d+)?(?!\d)"
            rf"|\d{{8}}T\d{{6}}Z?)"
        ),
    ),
    (
        Cause.DATE,
        re.compile(
            rf"{_LEFT}(?:{_DATED}|{_WEEKDAY_ZH}|{_FULL_WEEKDAY}\b|\d{{1,2}}月\d{{1,2}}[日号])"
        ),
    ),
    (
        Cause.COUNTER,
        re.compile(
            r"(?:(?:turn|step|request|message|query|call|iteration|attempt|round|visit|count(?:er)?"
            r"|index|sequence|session|conversation|ticket|no\.|nr\.|number|#)\s*(?:number|no\.?|id)?"
            r"\s*[:：=#]?\s*#?|第\s?|编号\W{0,2}|次数\W{0,2}|序号\W{0,2})"
            r"(\d{1,12})(?![0-9A-Za-z_])(?:\s?[次轮个条号])?",
            re.IGNORECASE,
        ),
    ),
)

_NOW = re.compile(
    r"(?<![A-Za-z])(?:now|current(?:ly)?|today|time(?:stamp)?|ts|date|as of|generated|issued"
    r"|created|updated|request|session|conversation|trace(?:parent)?|correlation|clock)(?![A-Za-z])"
    r"|现在|当前|目前|今天|今日|时间|日期|截至|此刻|请求|会话|現在|當前|時間",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"cut-?off|released?|since|until|version|founded|published|born|deadline|effective|example"
    r"|e\.g\.|such as|format|between|hours|open|schedule|slots?\b|every|each\b"
    r"|每|截止|生效|发布|版本|例如|格式|营业",
    re.IGNORECASE,
)
_OF_A_TEXT = re.compile(
    r"updated|created|generated|issued|revis(?:ed|ion)|review(?:ed)?|edited|modified"
    r"|更新|修订|修訂|创建|建立",
    re.IGNORECASE,
)
_OF_TODAY = re.compile(
    r"(?<![A-Za-z])(?:now|current(?:ly)?|today)(?![A-Za-z])|现在|当前|目前|今天|今日|此刻|現在|當前",
    re.IGNORECASE,
)
_REACH = 40
"""Characters before a value that say what it is."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A value in a text."""

    cause: Cause
    begin: int
    end: int

    def of(self, text: str) -> str:
        """The value itself."""
        return text[self.begin : self.end]


def value_at(text: str, at: int) -> Spot | None:
    """The value that the character `at` is part of, or that ends just there."""
    line = text.rfind("\n", 0, at) + 1
    begin = max(line, at - 80)
    end = min(len(text), at + 80)
    for cause, pattern in PATTERNS:
        for found in pattern.finditer(text, begin, end):
            if found.start() <= at <= found.end():
                return Spot(cause, found.start(), found.end())
            if found.start() > at:
                break
    return None


def dates_a_text(text: str, begin: int) -> bool:
    """Whether the date there is said to be that of a text (`Last updated:`), not today's."""
    before = text[max(text.rfind("\n", 0, begin) + 1, begin - _REACH) : begin]
    return bool(_OF_A_TEXT.search(before)) and not _OF_TODAY.search(before)


_Found = tuple[tuple[Cause, int, int], ...]


class Suspects:
    """Values that say themselves that they are of now, or of this request.

    What was found in short lines is remembered: prompts with a clock have all others in common.
    """

    def __init__(self, most: int = 4096, longest: int = 1024) -> None:
        """`most` lines of at most `longest` characters are remembered; then all are forgotten."""
        self._most = most
        self._longest = longest
        self._known: dict[str, _Found] = {}

    def __call__(self, text: str) -> Iterator[Spot]:
        """Those of one text, in order."""
        begin = 0
        for line in text.splitlines(keepends=True):
            for cause, at, end in self._of(line):
                yield Spot(cause, begin + at, begin + end)
            begin += len(line)

    def _of(self, line: str) -> _Found:
        if len(line) > self._longest:
            return _of_line(line)
        found = self._known.get(line)
        if found is None:
            if len(self._known) >= self._most:
                self._known.clear()
            found = self._known[line] = _of_line(line)
        return found


def suspects(text: str) -> Iterator[Spot]:
    """Those of one text that is not met again."""
    return Suspects(most=1)(text)


def _of_line(line: str) -> _Found:
    if not _MAYBE.search(line):
        return ()
    spots = [
        Spot(cause, *found.span())
        for cause, pattern in PATTERNS
        for found in pattern.finditer(line)
    ]
    taken, kept = 0, []
    for spot in sorted(spots, key=lambda spot: (spot.begin, -spot.end)):
        if spot.begin >= taken and _is_of_now(line, spot):
            taken = spot.end
            kept.append((spot.cause, spot.begin, spot.end))
    return tuple(kept)


_MAYBE = re.compile(
    rf"\d|{_FULL_WEEKDAY}|{_WEEKDAY_ZH}|{_NUMBER_ZH}月|nonce|seed|salt|entropy|cache", re.IGNORECASE
)
"""Every value has one of these: most lines of a prompt have none."""


def _is_of_now(line: str, spot: Spot) -> bool:
    before = line[max(0, spot.begin - _REACH) : spot.begin]
    if _NOT_NOW.search(before):
        return False
    match spot.cause:
        case Cause.NONCE | Cause.CLIENT_LINE:
            return True
        case Cause.IDENTIFIER if _SAYS_SO.match(spot.of(line)):
            return True
        case Cause.COUNTER:
            return _stands_alone(line, spot) or bool(_OF_THIS.search(before))
        case _:
            return bool(_NOW.search(before))


_SAYS_SO = re.compile(_LABELLED)
_OF_THIS = re.compile(r"this|current|you are|这是|当前|本", re.IGNORECASE)


def _stands_alone(line: str, spot: Spot) -> bool:
    """Whether it is all that the line says."""
    return len(line.strip(" .[]()<>-*#\r\n")) <= spot.end - spot.begin

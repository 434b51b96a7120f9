"""What differs from request to request, in the forms in which it is met."""

import random
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

from tests.insight.labelled.toolbox import hexadecimal, letters

from headstart.insight.causes import Cause

WEEKDAYS = "一二三四五六日"


def moments(rng: random.Random, count: int) -> list[datetime]:
    """On one day, minutes apart."""
    start = datetime(2026, 1, 1, rng.randint(7, 15), rng.randint(10, 50), 3, tzinfo=UTC)
    now = start + timedelta(days=rng.randint(0, 700))
    found = []
    for _ in range(count):
        found.append(now)
        now += timedelta(seconds=rng.randint(61, 1900))
    return found


def days(rng: random.Random, count: int) -> list[datetime]:
    """One after the other."""
    first = datetime(2026, 1, 1, 9, tzinfo=UTC) + timedelta(days=rng.randint(0, 700))
    return [first + timedelta(days=number) for number in range(count)]


def _chinese_clock(at: datetime) -> str:
    half, hour = ("下午", at.hour - 12) if at.hour > 12 else ("上午", at.hour)
    return f"{half}{hour}时{at.minute:02}分"


def _english_date(at: datetime) -> str:
    return f"{at:%A}, {at.day} {at:%B %Y}"


def _chinese_date(at: datetime) -> str:
    return f"{at.year}年{at.month}月{at.day}日 星期{WEEKDAYS[at.weekday()]}"


Form = tuple[str, str, Callable[[datetime], str]]
"""Name, the line with a gap, and how a moment fills it."""

CLOCKS: Sequence[Form] = (
    ("iso-utc", "Current time: {}", lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    (
        "iso-offset",
        "now={}",
        lambda at: at.astimezone(timezone(timedelta(hours=8))).isoformat(timespec="milliseconds"),
    ),
    ("space", "Generated at {}.", lambda at: f"{at:%Y-%m-%d %H:%M:%S}"),
    ("rfc2822", "Date: {}", format_datetime),
    ("epoch", "timestamp: {}", lambda at: str(int(at.timestamp()))),
    ("epoch-ms", "<ts>{}</ts>", lambda at: str(int(at.timestamp()) * 1000 + 417)),
    ("time-only", "Current time: {}", lambda at: f"{at:%H:%M:%S}"),
    ("am-pm", "It is now {} where the user is.", lambda at: f"{at:%I:%M %p}".lstrip("0")),
    ("ctime", "System clock: {}", lambda at: f"{at:%a %b %d %H:%M:%S} UTC {at.year}"),
    ("chinese-clock", "当前时间：{}", _chinese_clock),
    (
        "chinese-full",
        "现在是{}，请据此回答。",
        lambda at: f"{at.year}年{at.month}月{at.day}日 {at:%H:%M:%S}",
    ),
)
DATES: Sequence[Form] = (
    ("iso", "Today's date: {}", lambda at: f"{at:%Y-%m-%d}"),
    ("weekday", "Today is {}.", _english_date),
    ("us", "Date: {}", lambda at: f"{at:%m/%d/%Y}"),
    ("us-words", "The current date is {}.", lambda at: f"{at:%b} {at.day}, {at.year}"),
    ("chinese", "今天是{}", _chinese_date),
    ("chinese-short", "当前日期：{}", lambda at: f"{at.year}年{at.month:02}月{at.day:02}日"),
    ("dotted", "Stand: {}", lambda at: f"{at:%d.%m.%Y}"),
    ("slashes", "[today] {}", lambda at: f"{at:%Y/%m/%d}"),
)


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _ulid(rng: random.Random) -> str:
    return "01K" + "".join(rng.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=23))


Random = tuple[str, str, Callable[[random.Random], str]]
IDS: Sequence[Random] = (
    ("uuid", "Session: {}", _uuid),
    ("request-id", "request_id: {}", lambda rng: "req_011CS" + letters(rng, 19)),
    ("trace-hex", "trace-id={}", lambda rng: hexadecimal(rng, 32)),
    ("ulid", "<conversation id='{}'/>", _ulid),
    ("session-id", "You are in session {}.", lambda rng: "sess-" + hexadecimal(rng, 16)),
    ("chinese", "请求编号：{}", lambda rng: "REQ" + str(rng.randint(10**11, 10**12 - 1))),
)
NONCES: Sequence[Random] = (
    ("nonce", "nonce: {}", lambda rng: hexadecimal(rng, 16)),
    ("seed", "Random seed: {}", lambda rng: str(rng.randint(100000, 999999))),
    ("salt", "[salt={}]", lambda rng: letters(rng, 16)),
    ("cache-buster", "cache_buster={}", lambda rng: f"0.{rng.randint(10**9, 10**10 - 1)}"),
    ("chinese", "随机数：{}", lambda rng: str(rng.randint(10**7, 10**8 - 1))),
)
COUNTERS: Sequence[tuple[str, str]] = (
    ("turn", "Turn {}"),
    ("request", "Request #{}"),
    ("step", "Step {} of 250"),
    ("budget", "You have used {} of 900 tool calls."),
    ("chinese", "当前为第{}轮对话"),
    ("messages", "message_count: {}"),
)


def values(cause: Cause, form: str, rng: random.Random, count: int) -> tuple[list[str], list[str]]:
    """(lines, what differs in each)."""
    match cause:
        case Cause.CLOCK | Cause.DATE:
            forms, when = (CLOCKS, moments) if cause == Cause.CLOCK else (DATES, days)
            line, show = next((line, show) for name, line, show in forms if name == form)
            shown = [show(at) for at in when(rng, count)]
        case Cause.IDENTIFIER | Cause.NONCE:
            known = IDS if cause == Cause.IDENTIFIER else NONCES
            line, draw = next((line, draw) for name, line, draw in known if name == form)
            shown = [draw(rng) for _ in range(count)]
        case Cause.COUNTER:
            line = dict(COUNTERS)[form]
            first = rng.randint(3, 200)
            shown = [str(first + number) for number in range(count)]
        case _:
            raise ValueError(cause)
    return [line.format(each) for each in shown], shown


FORMS: dict[Cause, list[str]] = {
    Cause.CLOCK: [form[0] for form in CLOCKS],
    Cause.DATE: [form[0] for form in DATES],
    Cause.IDENTIFIER: [form[0] for form in IDS],
    Cause.NONCE: [form[0] for form in NONCES],
    Cause.COUNTER: [form[0] for form in COUNTERS],
}

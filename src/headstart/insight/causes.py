"""Why a prompt is not read from a cache, by name: the one closed list of all tools here.

A cause says what to change. Beside it stands what the cache itself can say, a `cache.Reason`:
a prompt that `diverged` did so because of a `clock`.
"""

from dataclasses import dataclass
from enum import StrEnum

from headstart.cache import Reason


class Cause(StrEnum):
    """What stood in the way. The values are what reports, filters and JSON call it."""

    # Values that differ from request to request.
    CLOCK = "clock"
    DATE = "date"
    IDENTIFIER = "identifier"
    COUNTER = "counter"
    NONCE = "nonce"
    RETRIEVAL = "retrieval"
    CLIENT_LINE = "client_line"
    # The same said otherwise.
    WHITESPACE = "whitespace"
    LINE_ENDS = "line_ends"
    UNICODE_FORM = "unicode_form"
    WIDTH = "width"
    INVISIBLE = "invisible"
    JSON_ORDER = "json_order"
    WORDING = "wording"
    FORM = "form"
    # Tools.
    TOOL_ORDER = "tool_order"
    TOOLS_CHANGED = "tools_changed"
    TOOL_DEFINITION = "tool_definition"
    KEY_ORDER = "key_order"
    # The conversation.
    ORDER = "order"
    SYSTEM_CHANGED = "system_changed"
    HISTORY_EDITED = "history_edited"
    WINDOW = "window"
    COMPACTION = "compaction"
    RETRIEVAL_ORDER = "retrieval_order"
    MEDIA = "media"
    # What a vendor counts to the prompt without its being text.
    MODEL = "model"
    TOOL_CHOICE = "tool_choice"
    THINKING = "thinking"
    SETTING = "setting"
    CACHE_KEY = "cache_key"
    NAMESPACE = "namespace"
    # Marks and the contract.
    NO_MARKER = "no_marker"
    TOO_MANY_MARKERS = "too_many_markers"
    LOOKBACK = "lookback"
    MARKER_AFTER_VOLATILE = "marker_after_volatile"
    MARKER_REFUSED = "marker_refused"
    BELOW_MINIMUM = "below_minimum"
    LIFETIME_CHANGED = "lifetime_changed"
    NEVER_READ = "never_read"
    # Time and place.
    EXPIRED = "expired"
    EVICTED = "evicted"
    SCATTERED = "scattered"
    SHORT_SESSION = "short_session"
    NEVER_SEEN = "never_seen"
    BLOCK_FLOOR = "block_floor"
    TIER_DOWN = "tier_down"


@dataclass(frozen=True, slots=True)
class About:
    """One cause, for people."""

    code: str
    """Stable: `HS101`. What it stands for never changes."""
    title: str
    why: str
    """One sentence."""
    way_out: str
    """One sentence."""
    reason: Reason
    """What the cache says of a miss with this cause."""


ABOUT: dict[Cause, About] = {
    Cause.CLOCK: About(
        "HS101",
        "A time of day early in the prompt",
        "A clock differs in every request, so nothing behind it is ever read again.",
        "Move it behind everything that stays, or give it to the model through a tool.",
        Reason.DIVERGED,
    ),
    Cause.DATE: About(
        "HS102",
        "A date early in the prompt",
        "At midnight everything behind the date is computed anew, for all users at once.",
        "Move it behind everything that stays, or into the last message.",
        Reason.DIVERGED,
    ),
    Cause.IDENTIFIER: About(
        "HS103",
        "An id early in the prompt",
        "An id of the request, session or user differs where it would have to be the same.",
        "Leave it out, send it as metadata, or move it behind everything that stays.",
        Reason.DIVERGED,
    ),
    Cause.COUNTER: About(
        "HS104",
        "A counter early in the prompt",
        "A number that grows makes every request a new prefix.",
        "Move it behind everything that stays, or leave it out.",
        Reason.DIVERGED,
    ),
    Cause.NONCE: About(
        "HS105",
        "A random value early in the prompt",
        "A seed or nonce is there to differ, so nothing behind it is ever read again.",
        "Send a seed as a parameter; move what has to be in the text behind what stays.",
        Reason.DIVERGED,
    ),
    Cause.RETRIEVAL: About(
        "HS106",
        "Retrieved text before what stays",
        "What is looked up for each request stands before instructions that are always the same.",
        "Put retrieved text behind everything that stays, just before the question; where it has "
        "to come first, only an engine that reuses pieces anywhere (CacheBlend, EPIC) reads it.",
        Reason.DIVERGED,
    ),
    Cause.CLIENT_LINE: About(
        "HS107",
        "A line that the client puts in front by itself",
        "Claude Code begins its system prompt with a billing line whose hashes are new in each "
        "request or session. Anthropic, vLLM and headstart take it out; where it is read as text, "
        "nothing behind it is read again.",
        "Set CLAUDE_CODE_ATTRIBUTION_HEADER to 0 in the `env` of Claude Code's settings.json, or "
        "take the line out in a gateway before the server.",
        Reason.DIVERGED,
    ),
    Cause.WHITESPACE: About(
        "HS201",
        "The same text with other white space",
        "Spaces and blank lines are tokens: one more of them is another prefix.",
        "Make the text once, and reuse those bytes.",
        Reason.DIVERGED,
    ),
    Cause.LINE_ENDS: About(
        "HS202",
        "The same text with other line ends",
        "CRLF and LF are other bytes, so they are other tokens.",
        "Turn all text into LF where it is read.",
        Reason.DIVERGED,
    ),
    Cause.UNICODE_FORM: About(
        "HS203",
        "The same text in another Unicode form",
        "Composed and decomposed letters look alike and are other bytes.",
        "Bring all text into NFC where it is read.",
        Reason.DIVERGED,
    ),
    Cause.WIDTH: About(
        "HS204",
        "The same text with full-width and half-width signs mixed",
        "，and , look much alike and are other tokens.",
        "Settle on one form in templates, and don't normalise at some call sites only.",
        Reason.DIVERGED,
    ),
    Cause.INVISIBLE: About(
        "HS205",
        "Invisible characters",
        "A zero-width space or a byte order mark can't be seen and is a token.",
        "Remove them where text is read.",
        Reason.DIVERGED,
    ),
    Cause.JSON_ORDER: About(
        "HS206",
        "JSON in the text with its keys in another order",
        "The value is the same, its bytes aren't.",
        "Write JSON with sorted keys and fixed separators.",
        Reason.DIVERGED,
    ),
    Cause.WORDING: About(
        "HS207",
        "Other words where the same were meant",
        "A template that is edited or filled in otherwise is another prefix from there on.",
        "Keep the words that open the prompt in one place, and change them rarely.",
        Reason.DIVERGED,
    ),
    Cause.FORM: About(
        "HS208",
        "The same text in another JSON form",
        "A string here and a list of blocks there read alike for most models, but not all render "
        "them alike, and a string can't carry a marker.",
        "Send one form, the list of blocks.",
        Reason.DIVERGED,
    ),
    Cause.TOOL_ORDER: About(
        "HS301",
        "The same tools in another order",
        "Tools come first in the prompt, so another order loses all of it.",
        "Sort tools by name.",
        Reason.DIVERGED,
    ),
    Cause.TOOLS_CHANGED: About(
        "HS302",
        "A tool more or less",
        "Tools come first in the prompt, so one that comes or goes loses all behind it.",
        "Offer all tools always, and restrict them with tool_choice or allowed tools.",
        Reason.DIVERGED,
    ),
    Cause.TOOL_DEFINITION: About(
        "HS303",
        "A tool that says something else",
        "A description or schema that changes loses everything behind that tool.",
        "Keep definitions fixed for as long as the prefix is to last.",
        Reason.DIVERGED,
    ),
    Cause.KEY_ORDER: About(
        "HS304",
        "A tool's schema with its keys in another order",
        "The schema means the same, but it is rendered in the order in which it comes.",
        "Make schemas once, or write them with sorted keys.",
        Reason.DIVERGED,
    ),
    Cause.ORDER: About(
        "HS401",
        "What changes often stands before what changes rarely",
        "A prefix lasts only up to its first change.",
        "Order by stability: tools, system, memory, history, the current turn.",
        Reason.DIVERGED,
    ),
    Cause.SYSTEM_CHANGED: About(
        "HS402",
        "Another system prompt",
        "The conversation behind a system prompt that changes is computed anew.",
        "Append what is new as a later message instead of editing the system prompt.",
        Reason.DIVERGED,
    ),
    Cause.HISTORY_EDITED: About(
        "HS403",
        "An earlier message was changed",
        "Everything behind a message that is edited is computed anew.",
        "Append only; note corrections in a new message.",
        Reason.DIVERGED,
    ),
    Cause.WINDOW: About(
        "HS404",
        "The oldest messages were dropped",
        "A sliding window moves all that stays to another place, so every turn starts anew.",
        "Drop many messages at once and rarely, or summarise once.",
        Reason.DIVERGED,
    ),
    Cause.COMPACTION: About(
        "HS405",
        "The history was replaced by a summary",
        "A summary is a new prefix; it pays if the session goes on for long.",
        "Summarise rarely, and keep tools and system as they are, so that those are still read.",
        Reason.DIVERGED,
    ),
    Cause.RETRIEVAL_ORDER: About(
        "HS406",
        "The same documents in another order",
        "Documents that are ranked anew each time begin another prefix.",
        "Sort what is retrieved by a fixed id, or put it behind what stays.",
        Reason.DIVERGED,
    ),
    Cause.MEDIA: About(
        "HS407",
        "Another picture, or the same one encoded anew",
        "Bytes that differ are another picture to the cache.",
        "Encode once and reuse the bytes, or send it by reference.",
        Reason.DIVERGED,
    ),
    Cause.MODEL: About(
        "HS501",
        "Another model",
        "Models share no cache: the first request to each pays for the whole prompt.",
        "Keep one model for a session.",
        Reason.OTHER_NAMESPACE,
    ),
    Cause.TOOL_CHOICE: About(
        "HS502",
        "Another tool_choice",
        "For this vendor a change of tool_choice loses the messages.",
        "Keep it as it is within a session.",
        Reason.DIVERGED,
    ),
    Cause.THINKING: About(
        "HS503",
        "Thinking or effort changed",
        "For this vendor other thinking settings lose the messages, for some models all.",
        "Keep them as they are within a session.",
        Reason.DIVERGED,
    ),
    Cause.SETTING: About(
        "HS504",
        "A setting that counts to the prompt changed",
        "The vendor renders it into the prompt, or keeps caches apart by it.",
        "Keep it as it is within a session.",
        Reason.DIVERGED,
    ),
    Cause.CACHE_KEY: About(
        "HS505",
        "Another prompt_cache_key",
        "For this vendor caches with other keys are apart.",
        "Derive the key from what is shared, not from the request.",
        Reason.OTHER_NAMESPACE,
    ),
    Cause.NAMESPACE: About(
        "HS506",
        "Another tenant, salt, adapter or region",
        "These are walls: nothing is read across them.",
        "Nothing to do where the wall is meant; else send both with the same.",
        Reason.OTHER_NAMESPACE,
    ),
    Cause.NO_MARKER: About(
        "HS601",
        "No cache marker",
        "This vendor caches only what is marked.",
        "Mark the end of what stays, or use the automatic marker at the top level.",
        Reason.NEVER_SEEN,
    ),
    Cause.TOO_MANY_MARKERS: About(
        "HS602",
        "More cache markers than the vendor takes",
        "The request is refused, or the surplus is dropped.",
        "Keep those at the ends of tools, system, and the latest turns.",
        Reason.NEVER_SEEN,
    ),
    Cause.LOOKBACK: About(
        "HS603",
        "The last entry is too far before the marker",
        "From a marker only so many blocks back are looked at.",
        "Add a marker at least every 20 blocks, or keep the earlier one for a turn.",
        Reason.NEVER_SEEN,
    ),
    Cause.MARKER_AFTER_VOLATILE: About(
        "HS604",
        "A cache marker behind something that changes",
        "What it writes is never read: the write fee is lost each time.",
        "Move the marker to the end of what stays.",
        Reason.DIVERGED,
    ),
    Cause.MARKER_REFUSED: About(
        "HS605",
        "A cache marker that the vendor refuses",
        "The request ends in an error.",
        "Put longer lifetimes first, and no marker on thinking or empty text.",
        Reason.NEVER_SEEN,
    ),
    Cause.BELOW_MINIMUM: About(
        "HS606",
        "Shorter than the vendor's minimum",
        "A shorter prefix is neither written nor read, and nothing says so.",
        "Put more of what stays before the marker, or spare the marker.",
        Reason.BELOW_MINIMUM,
    ),
    Cause.LIFETIME_CHANGED: About(
        "HS607",
        "Another lifetime",
        "The same prefix with another lifetime is written and paid again, or not at all.",
        "Keep one lifetime for one prefix.",
        Reason.NEVER_SEEN,
    ),
    Cause.NEVER_READ: About(
        "HS608",
        "Written and never read",
        "A write costs more than plain input; nobody came back in time.",
        "Don't mark what is sent once.",
        Reason.NEVER_SEEN,
    ),
    Cause.EXPIRED: About(
        "HS701",
        "It had expired",
        "The next request came after the lifetime had ended.",
        "Take the longer lifetime, or keep it warm, where that costs less.",
        Reason.EXPIRED,
    ),
    Cause.EVICTED: About(
        "HS702",
        "It had been evicted",
        "Other requests needed the room.",
        "More memory or a tier below it, or fewer different prefixes at a time.",
        Reason.EVICTED,
    ),
    Cause.SCATTERED: About(
        "HS703",
        "Sent to another replica",
        "Each replica has its own cache.",
        "Route by prefix or session.",
        Reason.NEVER_SEEN,
    ),
    Cause.SHORT_SESSION: About(
        "HS704",
        "Short sessions",
        "A session of T turns can read at most (T-1)/(T+1) of its tokens.",
        "Share a longer beginning between sessions.",
        Reason.NEVER_SEEN,
    ),
    Cause.NEVER_SEEN: About(
        "HS705",
        "Nobody had asked this before",
        "The first request with a prefix pays for it.",
        "Warm it, if it can be known beforehand.",
        Reason.NEVER_SEEN,
    ),
    Cause.BLOCK_FLOOR: About(
        "HS706",
        "Cut to whole blocks",
        "Hits are counted in whole blocks or steps; the rest is computed.",
        "Nothing to do.",
        Reason.BLOCK_FLOOR,
    ),
    Cause.TIER_DOWN: About(
        "HS707",
        "The tier that had it did not answer",
        "It was computed instead.",
        "See the server's log and `GET /cache`.",
        Reason.TIER_DOWN,
    ),
}

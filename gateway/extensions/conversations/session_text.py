"""A session as the text of a document: a message for each turn, which the chunker `turns` splits.

The title names all who speak: so a name in a question chooses the conversation, and what is asked
chooses the turn; the name before a turn decides between two who said alike. It also has the day.

Pure.
"""

import re
from collections.abc import Collection, Iterable
from datetime import date

from gateway.extensions.conversations.conversation_schemas import DAY_CHARACTERS, TurnBody
from gateway.extensions.conversations.relative_dates import with_dates
from index.model.document_limits import TITLE_CHARACTERS_MAX
from ingest.chunkers.messages import REPLACED, is_replaced, message_spans

BETWEEN = "\n\n"

_BLANK_LINES = re.compile(r"\n\s*\n")
_REPLACED = re.compile(r"(?:\A|\n\n)~~(\*\*.*?)~~(?=\n\n|\Z)", re.DOTALL)
_REPLACES = "[replaces "
_COMMA = ", "
_STATEMENT_CHARACTERS_MAX = 500  # the turn stays within one chunk; not measured


def message(turn: TurnBody, said_on: str, replaced: str = "") -> str:
    """The turn after its head, with the dates that it tells relative to its day.

    said_on: the session's day. replaced: what an earlier turn said that this one replaces.
    """
    day = date.fromisoformat((turn.at or said_on)[:DAY_CHARACTERS])
    head = " ".join(filter(None, [f"**{turn.speaker}**", turn.at]))
    text = with_dates(_BLANK_LINES.sub("\n", turn.text.strip()), day)
    return "\n".join(filter(None, [f"{head}: {text}", replaced and f"{_REPLACES}{replaced}]"]))


def title(own: str, speakers: Iterable[str], said_on: str) -> str:
    """The day, and as many of the names as fit. own: what the caller calls the session."""
    own = own[: TITLE_CHARACTERS_MAX - DAY_CHARACTERS - len(_COMMA)]
    return title_with(_COMMA.join(filter(None, [own, said_on])), speakers)


def title_with(title: str, speakers: Iterable[str]) -> str:
    """The title with as many further names as fit."""
    for speaker in speakers:
        longer = f"{title}{_COMMA}{speaker}"
        title = longer if len(longer) <= TITLE_CHARACTERS_MAX else title
    return title


def speakers_of(turns: Iterable[TurnBody]) -> list[str]:
    """Each once, in the order in which they first speak."""
    return list(dict.fromkeys(turn.speaker for turn in turns))


def joined(messages: Iterable[str], replaced: Collection[str] = ()) -> str:
    """replaced: messages that later ones replace."""
    return BETWEEN.join(_marked(each) if each in replaced else each for each in messages)


def replaced_messages(text: str) -> set[str]:
    return set(_REPLACED.findall(text))


def message_at(text: str, start: int) -> str | None:
    """The message that begins there, whether it is replaced or not; None if none begins there."""
    end = dict(message_spans(text)).get(start)
    if end is None:
        return None
    message = text[start:end].strip()
    return (
        message.removeprefix(REPLACED).removesuffix(REPLACED) if is_replaced(message) else message
    )


def without(text: str, replaced: str) -> str | None:
    """The text with this message marked as replaced; None if it does not have it."""
    padded = f"{BETWEEN}{text}{BETWEEN}"
    for message, marked in ((replaced, _marked(replaced)), (_marked(replaced),) * 2):
        found = f"{BETWEEN}{message}{BETWEEN}"
        if found in padded:
            changed = padded.replace(found, f"{BETWEEN}{marked}{BETWEEN}", 1)
            return changed.removeprefix(BETWEEN).removesuffix(BETWEEN)
    return None


def statement_of(message: str) -> str:
    """The message in one short line, without what it replaces itself."""
    line = " ".join(message.partition(f"\n{_REPLACES}")[0].split())
    if len(line) <= _STATEMENT_CHARACTERS_MAX:
        return line
    return f"{line[: _STATEMENT_CHARACTERS_MAX - 1]}…"


def _marked(message: str) -> str:
    return f"{REPLACED}{message}{REPLACED}"

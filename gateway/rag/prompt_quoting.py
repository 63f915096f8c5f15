"""What others wrote, as data in what a model is told: it can't end where it does not end."""

import secrets
from collections.abc import Mapping, Sequence
from importlib import resources

import orjson

MARK = "{{MARK}}"  # in a prompt


def make_mark() -> str:
    """What no text that was written before can hold."""
    return secrets.token_hex(8)


def quote(name: str, text: str, mark: str, **said: str | int) -> str:
    """The text between two lines of which nobody but us knows how they look.

    said: of the text, on the first line; as JSON, so that it ends with that line.
    """
    assert mark not in text, "it was made after the text"
    told = f" {orjson.dumps(said).decode()}" if said else ""
    return f"<<<{name} {mark}{told}\n{text}\n{name} {mark}>>>"


def conversation(history: Sequence[Mapping[str, str]], mark: str) -> str:
    """A message a line, as JSON."""
    return quote("CONVERSATION", "\n".join(orjson.dumps(one).decode() for one in history), mark)


def prompt(name: str, own: str | None = None) -> str:
    """The instruction in the file of that name, or the operator's own. Blocks on the disk."""
    if own is not None:
        return own
    return (resources.files(__package__) / name).read_text(encoding="utf-8")

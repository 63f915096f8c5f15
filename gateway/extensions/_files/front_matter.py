"""The front matter of a text: YAML between lines of `---`, TOML between lines of `+++`, or JSON.

JSON is an object at the start of the text, as Hugo reads it, or the members of one before a line of
`;;;`, as Hexo does.

People write for Obsidian, Hugo or Jekyll, which differ in what they take. An entry that cannot be
parsed stays as text, with a warning. Only what concerns rights refuses a text: to read less than
its author meant could show it to more readers.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from gateway.extensions._files import coerce, safe_yaml
from index.model.relations import RelatesTo, with_relations

PARSED_CHARACTERS_MAX = 16_384  # 0.1 s: PyYAML reads 150 kB/s

ACCESS = frozenset({"readers", "owner"})
LOOKALIKES = ACCESS | {"reader", "owners", "acl", "access", "permissions"}
FIELDS = frozenset(
    {
        "title",
        "language",
        "tags",
        "readers",
        "owner",
        "uri",
        "metadata",
        "chunker",
        "summaries",
        "active",
    }
)

_ACTIVE = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_ACCESS_KEY = re.compile(
    rf"(?:^|[\s{{\[(,.])([\"']?)({'|'.join(sorted(LOOKALIKES))})\1\s*(?:[:=\]]|\.\S)",
    re.IGNORECASE | re.MULTILINE,
)


class FrontMatterError(ValueError):
    """The front matter of a text does not say clearly who may read it."""


@dataclass(frozen=True, slots=True)
class _Syntax:
    """mark: the line that closes it. entry: the key at the start of an entry, up to its value."""

    mark: str
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    load: Callable[[str], Any]
    entry: re.Pattern[str]


_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'"
_NEVER = re.compile(r"(?!)")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises `ValueError` for a name that is there twice: parsers keep the one or the other."""
    if len(members := dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return members


_JSON = json.JSONDecoder(
    object_pairs_hook=_distinct,
    parse_float=safe_yaml.number,
    parse_int=safe_yaml.number,
    parse_constant=str,
)


def _load_members(source: str) -> Any:
    """The object, which may lack its braces. Raises `ValueError`."""
    members = source.strip()
    try:
        return _JSON.decode(members if members.startswith("{") else f"{{{members}}}")
    except RecursionError:
        raise ValueError("nested too deeply") from None


_SYNTAXES = (
    _Syntax(
        "---",
        re.compile(r"---[ \t]*(?:\n|\Z)"),
        re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
        safe_yaml.load,
        re.compile(rf"^({_QUOTED}|[^\s#\-\[\]{{}}'\"][^\n]*?)[ \t]*:(?=\s|\Z)", re.MULTILINE),
    ),
    _Syntax(
        "+++",
        re.compile(r"\+\+\+[ \t]*(?:\n|\Z)"),
        re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
        lambda source: tomllib.loads(source, parse_float=safe_yaml.number),
        re.compile(rf"^({_QUOTED}|[\w.-]+)[ \t]*=", re.MULTILINE),
    ),
    _Syntax(
        ";;;",
        re.compile(r";;;[ \t]*(?:\n|\Z)|(?=\"[^\"\n]+\"[ \t]*:(?s:.*?)^;;;[ \t]*$)", re.MULTILINE),
        re.compile(r"^;;;[ \t]*(?:\n|\Z)", re.MULTILINE),
        _load_members,
        _NEVER,
    ),
)
_OBJECT = re.compile(r"\{\s*[\"}]")
_DATA = re.compile(r"\s*(?:\Z|,|\{\s*\")")  # after an object: all of the text is JSON


def front_matter(text: str, warnings: list[str]) -> tuple[dict[str, Any], str]:
    """Split a text into the fields of its front matter and the Markdown after it.

    Keys that are no field of a document go into its metadata, and so do the relations of
    `relates_to`. The values are otherwise not validated. A text that only begins with a thematic
    break has no front matter. warnings: gets what is kept in another way than it is written.

    Raises `FrontMatterError` if it may limit who may read the text, and does not do so clearly.
    """
    start = len(text) - len(text.lstrip())
    if _OBJECT.match(text, start):
        return _parse_object(text, start, warnings)
    for syntax in _SYNTAXES:
        opening = syntax.opening.match(text, start)
        if opening is not None:
            return _parse(syntax, text, opening.end(), warnings)
    return {}, text


def refuse_lookalikes(keys: Collection[Any]) -> None:
    """Raise `FrontMatterError` for a misspelt `readers`, which would not restrict the document."""
    for key in keys:
        if key not in ACCESS and str(key).casefold().strip() in LOOKALIKES:
            raise FrontMatterError(f"{key}: not a field; readers and owner define who may read")


def _parse_object(text: str, start: int, warnings: list[str]) -> tuple[dict[str, Any], str]:
    try:
        mapping, end = _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        if _ACCESS_KEY.search(text[start : start + PARSED_CHARACTERS_MAX]):
            problem = "must be JSON, since it may say who may read"
            raise FrontMatterError(f"front matter: {problem}") from None
        return {}, text
    refuse_lookalikes(mapping)
    body = text[end:]
    if _DATA.match(body) and ACCESS.isdisjoint(mapping):
        return {}, text
    return _fields(mapping, warnings), body


def _parse(
    syntax: _Syntax, text: str, start: int, warnings: list[str]
) -> tuple[dict[str, Any], str]:
    closing = syntax.closing.search(text, start)
    source = text[start : closing.start() if closing else start + PARSED_CHARACTERS_MAX]
    mapping = _mapping(syntax, source, warnings) if closing else None
    if closing is None or mapping is None:
        # As Markdown it would lose its own readers, and the folder's readers could read it.
        if _ACCESS_KEY.search(source):
            problem = (
                "must be a mapping" if closing else f"must be closed by a line of {syntax.mark}"
            )
            raise FrontMatterError(f"front matter: {problem}, since it may say who may read")
        return {}, text
    refuse_lookalikes(mapping)
    return _fields(mapping, warnings), text[closing.end() :]


def _fields(mapping: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    fields = {
        key: value
        for key in sorted(FIELDS & mapping.keys())
        if (value := mapping.pop(key)) is not None or key in ACCESS
    }
    if "active" in fields:
        fields["is_active"] = _is_active(fields.pop("active"))
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        metadata = {"metadata": metadata}
    relates_to = mapping.pop("relates_to", None)
    metadata = mapping | metadata
    return fields | {"metadata": _with_relations(metadata, relates_to, warnings)}


def _is_active(value: object) -> bool:
    """Refuses what is no answer: an inactive document is one that nobody may find."""
    try:
        return _ACTIVE[coerce.scalar_text(value).strip().lower()]
    except KeyError:
        raise FrontMatterError("active: must be true or false") from None


def _with_relations(
    metadata: dict[str, Any], relates_to: object, warnings: list[str]
) -> dict[str, Any]:
    if relates_to is None:
        return metadata
    try:
        return with_relations(metadata, RelatesTo.model_validate(relates_to))
    except ValidationError as error:
        names = {".".join(map(str, each["loc"][:1])) for each in error.errors()}
        warnings.append(
            f"relates_to: {', '.join(sorted(names)) or 'it'} must be follows, replaces, causes or "
            "part_of, with the identifier of a document or a list of them; it relates nothing"
        )
    except ValueError as error:
        warnings.append(f"relates_to: {error}; it relates nothing")
    return metadata | {"relates_to": relates_to}


def _mapping(syntax: _Syntax, source: str, warnings: list[str]) -> dict[str, Any] | None:
    """None if the source is no mapping."""
    if len(source) <= PARSED_CHARACTERS_MAX:
        try:
            value = syntax.load(source)
        except ValueError:
            pass
        else:
            return {} if value is None else value if isinstance(value, dict) else None
    return _entry_by_entry(syntax, source, warnings)


def _entry_by_entry(syntax: _Syntax, source: str, warnings: list[str]) -> dict[str, Any] | None:
    entries = list(_entries(syntax, source))
    if not entries:
        return None
    mapping: dict[str, Any] = {}
    room = PARSED_CHARACTERS_MAX
    for key, entry, written in entries:
        parsed = _load_entry(syntax, entry) if len(entry) <= room else None
        room -= len(entry) if len(entry) <= room else 0
        if parsed is None and _ACCESS_KEY.search(entry):
            raise FrontMatterError(f"front matter: {key} cannot be read, and may say who may read")
        if parsed is None:
            parsed = {key: written}
            warnings.append(f"front matter: {key} cannot be parsed and is kept as text")
        for name in mapping.keys() & parsed.keys():
            if name in ACCESS:
                raise FrontMatterError(f"front matter: {name} is there twice")
            warnings.append(f"front matter: {name} is there twice; the last one is kept")
        mapping |= parsed
    return mapping


def _entries(syntax: _Syntax, source: str) -> Iterator[tuple[str, str, str]]:
    """The key, the whole entry and its value as text; nothing if it does not begin with a key."""
    starts = list(syntax.entry.finditer(source))
    if not starts:
        return
    before = source[: starts[0].start()].splitlines()
    if any(line.strip() and not line.lstrip().startswith("#") for line in before):
        return
    for start, end in pairwise([*(start.start() for start in starts), len(source)]):
        match = syntax.entry.match(source, start)
        assert match is not None
        yield match[1].strip("\"'"), source[start:end], source[match.end() : end].strip()


def _load_entry(syntax: _Syntax, entry: str) -> dict[str, Any] | None:
    """Tabs may indent it, and stand before its value, although YAML wants spaces there."""
    for source in dict.fromkeys((entry, entry.expandtabs(2))):
        with suppress(ValueError):
            parsed = syntax.load(source)
            return parsed if isinstance(parsed, dict) else None
    return None

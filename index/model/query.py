"""One question in its canonical form: two requests that must get the same answer are equal here."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

from index.model import attributes
from index.model.attributes import Condition
from index.model.chunk_kind import Kind

_Names: TypeAlias = tuple[str, ...] | None
FusionName: TypeAlias = Literal["absolute", "relative", "rrf"]


_NOTHING = object()  # holds both of two values that nothing holds both of
_DOUBLES = 2  # of the best chunks, that are one text or overlap: more cost a second look


@dataclass(frozen=True, slots=True)
class Filter:
    """What a document must be, beside readable, and its chunk; None means that anything will do.

    The collections are sorted and without doubles. `updated_after` is inclusive, `updated_before`
    exclusive. A document meets `metadata` if it holds all of it (PostgreSQL's `@>`); `attributes`
    are conditions on the same.
    """

    sources: tuple[str, ...] | None = None
    tags_any: tuple[str, ...] | None = None
    tags_all: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    exclude_documents: tuple[str, ...] | None = None
    metadata: dict[str, Any] | None = None
    kinds: tuple[Kind, ...] = ("text",)
    attributes: Condition | None = None

    def admits(
        self,
        *,
        document_id: str,
        source: str,
        language: str,
        tags: Collection[str],
        metadata: Mapping[str, Any],
        updated_at: datetime,
        kind: Kind,
    ) -> bool:
        """Whether a chunk of this kind, of such a document, is wanted; as `sql/search.sql` says."""
        return (
            kind in self.kinds
            and (self.sources is None or source in self.sources)
            and (self.tags_any is None or not set(self.tags_any).isdisjoint(tags))
            and (self.tags_all is None or set(self.tags_all) <= set(tags))
            and (self.languages is None or language in self.languages)
            and (self.updated_after is None or updated_at >= self.updated_after)
            and (self.updated_before is None or updated_at < self.updated_before)
            and (self.exclude_documents is None or document_id not in self.exclude_documents)
            and (self.metadata is None or _holds(metadata, self.metadata))
            and (self.attributes is None or attributes.meets(metadata, self.attributes))
        )

    def narrowed(self, limits: "Filter") -> "Filter":
        """What meets both; limits: without `tags_any`, of which two can't be one."""
        assert limits.tags_any is None, "a token has none"
        if limits == _ANYTHING:
            return self
        metadata = self.metadata
        if limits.metadata is not None:
            metadata = _both(self.metadata or {}, limits.metadata)
        return replace(
            self,
            sources=_common(self.sources, limits.sources) if metadata is not _NOTHING else (),
            tags_all=_joined(self.tags_all, limits.tags_all),
            languages=_common(self.languages, limits.languages),
            updated_after=_outermost(max, self.updated_after, limits.updated_after),
            updated_before=_outermost(min, self.updated_before, limits.updated_before),
            exclude_documents=_joined(self.exclude_documents, limits.exclude_documents),
            metadata=None if metadata is _NOTHING else metadata,
            attributes=attributes.both(self.attributes, limits.attributes),
        )


_ANYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """What is made of the hits once they are found, by whoever writes the answer down.

    top_k: how many of them are shown, in the end.
    ranker: who puts them in another order: `formula`, or a service or a model with its name; None
        if they stay as they were found.
    token_budget: of the text that is made of them; None for no text.
    compressor: who shortens them for it: `extract`, or a model with its name; None if nobody does.
    """

    top_k: int
    ranker: str | None = None
    token_budget: int | None = None
    compressor: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question and all that decides its answer, beside the scope and the revision.

    alpha: the dense score's share, 0 to 1 in thousandths, if the fusion isn't `rrf`; None for the
        embedder's own.
    candidates: how many each leg contributes, if the fusion goes by legs.
    language: what the words are analysed in; None for every language that the scope holds.
    document_hits_max: of one document; None for no limit.
    expand: whether a hit's text takes in the chunk before and the one after.
    summaries: whether a hit brings those of its document and of the section that it stands in.
    metadata: whether a hit brings its document's.
    postprocessing: None if the hits are the answer; else `top_k` hits are found for it to choose
        from.
    """

    text: str
    alpha: float | None = None
    top_k: int = 5
    fusion: FusionName = "absolute"
    filter: Filter = Filter()
    min_score: float | None = None
    explain: bool = False
    candidates: int = 50
    language: str | None = None
    document_hits_max: int | None = None
    expand: bool = False
    summaries: bool = False
    metadata: bool = False
    postprocessing: Postprocessing | None = None

    @property
    def by_legs(self) -> bool:
        """Whether the answer shows anything that only the legs' candidates tell."""
        return self.fusion != "absolute" or self.explain

    @property
    def depth(self) -> int:
        """How many of the best ranked chunks may be looked at to find hits among them."""
        return 2 * self.candidates

    @property
    def likely_depth(self) -> int:
        """How many of them are enough for most answers."""
        if self.fusion != "absolute":
            return self.depth
        doubles = _DOUBLES if self.document_hits_max is None else 3 * self.top_k
        return min(self.top_k + doubles, self.depth)

    @property
    def digest(self) -> bytes:
        """16 bytes that equal queries share, and different ones don't."""
        form = orjson.dumps(self, option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(form, digest_size=16).digest()


def _common(one: _Names, other: _Names) -> _Names:
    if one is None or other is None:
        return other if one is None else one
    return tuple(sorted(set(one) & set(other)))


def _joined(one: _Names, other: _Names) -> _Names:
    if one is None or other is None:
        return other if one is None else one
    return tuple(sorted({*one, *other}))


def _outermost(
    pick: Callable[..., datetime], one: datetime | None, other: datetime | None
) -> datetime | None:
    given = [each for each in (one, other) if each is not None]
    return pick(given) if given else None


def _both(one: Any, other: Any) -> Any:
    """What holds both, by `_holds`, just if it holds this; `_NOTHING` if nothing does."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        parts = {**one, **other}
        parts |= {key: _both(one[key], other[key]) for key in one.keys() & other.keys()}
        return _NOTHING if any(part is _NOTHING for part in parts.values()) else parts
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return [*one, *other]
    return one if _holds(one, other) and _holds(other, one) else _NOTHING


def _holds(held: Any, wanted: Any) -> bool:
    """PostgreSQL's `@>`: objects and lists hold parts of themselves, a list in any order."""
    if isinstance(wanted, Mapping):
        return isinstance(held, Mapping) and all(
            key in held and _holds(held[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return isinstance(held, list | tuple) and all(
            any(_holds(one, value) for one in held) for value in wanted
        )
    return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)

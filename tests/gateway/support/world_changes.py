"""What can happen to documents and groups, as values, and what each makes of a `GatewayWorld`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from hypothesis import strategies as st

from tests.gateway.support.access_model import GatewayWorld, WorldDocument

SUBJECTS = ("ana", "ben")
GROUPS = ("sales", "people")
DOCUMENT_IDS = ("a", "b", "c")  # in every tenant: only the tenant itself tells them apart
READERS = ("tenant", "tenant", "public", "user:ana", "user:ben", "group:sales", "group:people")
SOURCES = ("api", "wiki")
TAGS = ("red", "blue")

COMMON = (
    *("annual", "budget", "card", "desk", "expense", "flight", "holiday", "invoice", "laptop"),
    *("manager", "notice", "office", "parking", "review", "salary", "travel"),
)
# In no language and far from each other, so that none is taken for a slip of another.
RARE = ("zorvexal", "quibblune", "framtorix")

_SECTION_WORDS = 3
# Without a word, but as long as many, and a chunk each: what has all of them has a summary.
PADS = [f"# Part {number}\n\n```\n{'=' * 16 * 150}\n```" for number in range(-1_003, -1_000)]

Kind: TypeAlias = Literal[
    "write",
    "prepend",
    "append",
    "replace",
    "cut",
    "copy",
    "title",
    "tags",
    "source",
    "language",
    "access",
    "long",
    "base",
]
KINDS: tuple[Kind, ...] = (
    *(kind for kind in get_args(Kind) if kind != "base"),
    *("prepend", "cut", "cut", "long"),  # what moves the others
)


@dataclass(frozen=True)
class PutMove:
    """Write a document anew, or the stored one with one thing in it changed.

    words: of a section, or of the title. place: of the section that is meant, modulo their number,
    or how many sections `base` has.
    """

    tenant: str
    document_id: str
    kind: Kind
    words: tuple[str, ...]
    place: int
    owner: str | None
    readers: frozenset[str]


@dataclass(frozen=True)
class Share:
    tenant: str
    document_id: str
    readers: frozenset[str]


@dataclass(frozen=True)
class Remove:
    tenant: str
    document_id: str


@dataclass(frozen=True)
class Membership:
    """Let the subject into the group, or out of it."""

    tenant: str
    group: str
    subject: str


@dataclass(frozen=True)
class Reception:
    """Let the tenant receive what others make public, or no longer."""

    tenant: str


@dataclass(frozen=True)
class Opening:
    """Somebody opens the document, and a worker that then dies rolls that up."""

    tenant: str
    document_id: str


Write: TypeAlias = PutMove | Share | Remove
Right: TypeAlias = Membership | Reception  # of which no revision tells
Move: TypeAlias = Write | Right | Opening


def writes(tenants: Sequence[str]) -> st.SearchStrategy[Write]:
    tenant, document_id = st.sampled_from(tenants), st.sampled_from(DOCUMENT_IDS)
    put = st.builds(
        PutMove,
        tenant=tenant,
        document_id=document_id,
        kind=st.sampled_from(KINDS),
        words=st.lists(st.sampled_from(COMMON + RARE), min_size=2, max_size=9).map(tuple),
        place=st.integers(0, 5),
        owner=st.sampled_from((*SUBJECTS, None)),
        readers=st.frozensets(st.sampled_from(READERS), min_size=1, max_size=2),
    )
    readers = st.frozensets(st.sampled_from(READERS), max_size=2)
    share = st.builds(Share, tenant=tenant, document_id=document_id, readers=readers)
    remove = st.builds(Remove, tenant=tenant, document_id=document_id)
    return st.one_of(put, put, put, share, remove)


def moves(tenants: Sequence[str]) -> st.SearchStrategy[Move]:
    membership = st.builds(
        Membership,
        tenant=st.sampled_from(tenants),
        group=st.sampled_from(GROUPS),
        subject=st.sampled_from(SUBJECTS),
    )
    reception = st.builds(Reception, tenant=st.sampled_from(tenants))
    rights = st.one_of(membership, membership, reception)
    opening = st.builds(
        Opening, tenant=st.sampled_from(tenants), document_id=st.sampled_from(DOCUMENT_IDS)
    )
    return st.one_of(writes(tenants), writes(tenants), rights, opening)


def possible(move: Move, world: GatewayWorld) -> bool:
    """Whether it has what it is about."""
    match move:
        case Share() | Remove():
            return (move.tenant, move.document_id) in world.documents
        case _:
            return True


def written(move: Write, world: GatewayWorld, number: int) -> WorldDocument | None:
    """The document as it will be; `number` tells a new section from every other."""
    stored = world.documents.get((move.tenant, move.document_id))
    if isinstance(move, Remove):
        return None
    if isinstance(move, Share):
        assert stored is not None, "it is possible"
        return replace(stored, readers=move.readers)
    if stored is None or move.kind == "write":
        text = _base(move.place) if move.kind == "base" else _several(move.words, number)
        return WorldDocument(move.tenant, move.document_id, text, move.owner, move.readers)
    return _edited(stored, move, world, number)


def base(tenant: str, reader: str, sections: int) -> PutMove:
    """A document that fills the legs of most questions."""
    return PutMove(tenant, "base", "base", (), sections, None, frozenset({reader}))


def short(tenant: str, document_id: str, reader: str) -> PutMove:
    """A document that holds what half of the questions ask for."""
    words = COMMON[::2] + RARE
    return PutMove(tenant, document_id, "write", words, 0, None, frozenset({reader}))


def section(words: Sequence[str], number: int) -> str:
    """A chunk of its own, that stands wherever it is put."""
    return f"# Part {number}\n\n{' '.join(words)}"


def sections(document: WorldDocument) -> list[str]:
    return re.split(r"\n\n(?=# )", document.text)


def _several(words: Sequence[str], number: int) -> str:
    """Sections of a few words each."""
    starts = range(0, len(words), _SECTION_WORDS)
    return "\n\n".join(
        section(words[start : start + _SECTION_WORDS], number * 100 + start) for start in starts
    )


def _base(sections: int) -> str:
    words = COMMON * 3
    return "\n\n".join(
        section(words[place % 16 : place % 16 + 2 + place % 9], -place) for place in range(sections)
    )


def _edited(stored: WorldDocument, put: PutMove, world: GatewayWorld, number: int) -> WorldDocument:
    match put.kind:
        case "title":
            return replace(stored, title=" ".join(put.words[: put.place]))
        case "tags":
            return replace(stored, tags=TAGS[: put.place % 3])
        case "source":
            return replace(stored, source=SOURCES[put.place % 2])
        case "language":
            return replace(stored, language=("en", "pt")[put.place % 2])
        case "access":
            return replace(stored, owner=put.owner, readers=put.readers)
        case _:
            return replace(stored, text="\n\n".join(_rearranged(stored, put, world, number)))


def _rearranged(stored: WorldDocument, put: PutMove, world: GatewayWorld, number: int) -> list[str]:
    parts = sections(stored)
    place = put.place % len(parts)
    new = section(put.words, number)
    match put.kind:
        case "prepend":
            return [new, *parts]
        case "append":
            return [*parts, new]
        case "replace":
            return [*parts[:place], new, *parts[place + 1 :]]
        case "long":
            short = [part for part in parts if part not in PADS]
            return [*parts, *PADS] if len(short) == len(parts) else short or [new]
        case "cut":
            return parts[:place] + parts[place + 1 :] if len(parts) > 1 else [new]
        case _:
            others = [each for each in world.documents.values() if each != stored]
            copied = sections(others[put.place % len(others)])[0] if others else new
            return [*(part for part in parts if part != copied), copied]

"""Whatever happens to documents, a check of what was held says what became of it, and no more.

A writer and a publisher of another tenant edit, delete, share, withdraw, activate and replace
documents. A reader holds passages and documents from time to time, with the revision or the time of
their document, and asks after each step what became of all that it has ever held. The model keeps
which sections each document has had since when.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from gateway.extensions.context_check.held_passages import CHANGED_MAX
from tests.gateway.support.gateways import Caller, Gateway
from tests.sampling import plays

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SIZE = plays(4, steps=20, thorough=(200, 40))
SECTIONS = ("leave", "travel", "lamps", "keys", "boats")
OWN, PUBLIC = ("a", "b", "c"), ("p", "q")
READER = dict.fromkeys(OWN, "tenant") | dict.fromkeys(PUBLIC, "public")


Action: TypeAlias = Literal["put", "share", "withdraw", "activate", "deactivate", "delete", "hold"]


class Move(NamedTuple):
    action: Action
    document: str = ""
    sections: tuple[str, ...] = ()
    replaces: str | None = None


NAMES = st.sampled_from(OWN + PUBLIC)
PUTS = st.tuples(
    NAMES,
    st.lists(st.sampled_from(SECTIONS), min_size=1, unique=True).map(tuple),
    st.sampled_from((None, None, "a", "b", "p")),
).map(lambda fields: Move("put", *fields))
ACTIONS: Sequence[Action] = ("share", "share", "withdraw", "activate", "deactivate", "delete")
CHANGES = st.tuples(st.sampled_from(ACTIONS), NAMES).map(lambda fields: Move(*fields))
MOVES = st.one_of(PUTS, PUTS, PUTS, CHANGES, st.just(Move("hold")))


@dataclass(slots=True)
class ModelDocument:
    """Of an active document, sections says at which step each was added.

    written_at: the step of the last write that changed more than readers.
    """

    sections: dict[str, int]
    written_at: int
    readers: bool
    active: bool = True
    order: tuple[str, ...] = ()
    replaces: str | None = None

    @property
    def is_visible(self) -> bool:
        return self.active and self.readers


@dataclass(frozen=True, slots=True)
class Held:
    """sent: to the check. section: None for a whole document. step: when it was held.

    added_at: the step at which the section had been added.
    """

    sent: Mapping[str, Any]
    document: str
    section: str | None
    added_at: int
    step: int


@dataclass(slots=True)
class ContextWorld:
    writers: Mapping[str, Caller]
    reader: Caller
    publisher_tenant: str
    documents: dict[str, ModelDocument] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    step: int = 0
    states: set[str] = field(default_factory=set)

    async def make(self, move: Move) -> None:
        self.step += 1
        document = self.documents.get(move.document)
        if move.action == "put":
            await self._put(move, document)
        elif move.action == "hold":
            await self._hold()
        elif document is not None:
            await self._change(move, document)
        await self.check()

    async def _put(self, move: Move, before: ModelDocument | None) -> None:
        fields: dict[str, Any] = {"chunker": "structure"}
        if move.replaces is not None:
            fields["metadata"] = {"replaces": move.replaces}
        if before is None:
            fields["readers"] = [READER[move.document]]
        text = text_of(move.document, move.sections)
        await self.writers[move.document].put(move.document, text, **fields)
        if before is None:
            before = ModelDocument({}, self.step, readers=True)
            self.documents[move.document] = before
        elif (before.order, before.replaces) != (move.sections, move.replaces):
            before.written_at = self.step
        before.order, before.replaces = move.sections, move.replaces
        if before.active:
            before.sections = {
                section: before.sections.get(section, self.step) for section in move.sections
            }

    async def _change(self, move: Move, document: ModelDocument) -> None:
        writer, path = self.writers[move.document], f"/v1/documents/{move.document}"
        match move.action:
            case "delete":
                answer = await writer.call("DELETE", path)
                del self.documents[move.document]
            case "share" | "withdraw":
                document.readers = move.action == "share"
                readers = [READER[move.document]] if document.readers else []
                answer = await writer.call("PATCH", f"{path}/access", json={"readers": readers})
            case _:
                active = move.action == "activate"
                answer = await writer.call("PATCH", f"{path}/access", json={"active": active})
                if active != document.active:
                    document.active, document.written_at = active, self.step
                    added = document.order if active else ()
                    document.sections = dict.fromkeys(added, self.step)
        assert answer.status_code < 300, answer.text

    async def _hold(self) -> None:
        """All that the reader sees now."""
        answer = await self.reader.search("all", top_k=100, updated_at=True)
        revision = answer.headers["nearhit-revision"]
        for hit in answer.json()["hits"]:
            if hit.get("tenant", self.publisher_tenant) != self.publisher_tenant:
                continue  # of another test
            name, section = hit["document_id"], hit["text"].split()[-1]
            names = {key: hit[key] for key in ("document_id", "tenant") if key in hit}
            added_at = self.documents[name].sections[section]
            passage = {"chunk_id": hit["chunk_id"], "start": hit["start"], **names}
            for sent, held_section in (
                ({**passage, "revision": revision}, section),
                (passage, section),
                ({**names, "updated_at": hit["updated_at"]}, None),
                ({**names, "revision": revision}, None),
            ):
                self.held.append(Held(sent, name, held_section, added_at, self.step))

    async def check(self) -> None:
        held = self.held[-300:]
        nothing = {"chunk_id": 2**62, "document_id": "none"}
        sent = [*(each.sent for each in held), nothing]
        answer = await self.reader.call("POST", "/v1/context/check", json={"passages": sent})
        assert answer.status_code == 200, answer.text
        *states, of_none = answer.json()["passages"]
        assert of_none == {
            "state": "gone",
            "updated_at": None,
            "replaced_by": None,
            "changed": None,
        }
        for each, state in zip(held, states, strict=True):
            self._check(each, state, of_none)

    def _check(self, held: Held, state: Mapping[str, Any], of_none: Mapping[str, Any]) -> None:
        document = self.documents.get(held.document)
        if document is None or not document.is_visible:
            assert state == of_none, held
            return
        assert state["replaced_by"] == self._replacement(held.document)
        if held.section is None:
            is_current = document.written_at <= held.step
        else:
            is_current = document.sections.get(held.section) == held.added_at
        assert state["state"] == ("current" if is_current else "edited"), held
        self.states.add(state["state"])
        if is_current or "revision" not in held.sent:
            assert state["changed"] is None
            return
        added = [each for each in document.order if document.sections[each] > held.step]
        text = text_of(held.document, document.order)
        starts = {
            words(held.document, each): text.index(words(held.document, each)) for each in added
        }
        shown = {each["text"]: each["start"] for each in state["changed"]}
        assert shown.items() <= starts.items()
        assert list(shown.values()) == sorted(shown.values())
        distances = sorted(abs(each - held.sent.get("start", 0)) for each in starts.values())
        of_shown = sorted(abs(each - held.sent.get("start", 0)) for each in shown.values())
        assert of_shown == distances[:CHANGED_MAX]

    def _replacement(self, name: str) -> str | None:
        by = (
            other
            for other, document in sorted(self.documents.items())
            if document.is_visible
            and document.replaces == name != other
            and READER[other] == READER[name]
        )
        return next(by, None)


def text_of(document: str, sections: Sequence[str]) -> str:
    return "\n\n".join(words(document, section) for section in sections)


def words(document: str, section: str) -> str:
    return f"# {section.title()}\n\nAll that {document} says of {section}"


class ContextPlay(RuleBasedStateMachine):
    gateway: ClassVar[Gateway]
    loop: ClassVar[asyncio.AbstractEventLoop]
    states: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        self.world: ContextWorld = self._do(self._begin())

    @rule(moves=st.lists(MOVES, min_size=1, max_size=4))
    def play(self, moves: Sequence[Move]) -> None:
        for move in moves:
            self._do(self.world.make(move))

    def teardown(self) -> None:
        self.states.update(self.world.states)
        self._do(self._end())

    async def _end(self) -> None:
        """Other plays are not to see what was published."""
        for name in self.world.documents.keys() & set(PUBLIC):
            await self.world.make(Move("delete", name))

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _begin(self) -> ContextWorld:
        own, other = [await self.gateway.with_new_tenant() for _ in range(2)]
        await self.gateway.receive_public(own.tenant_name, other.tenant_name)
        roles = ["reader", "writer", "publisher"]
        ana, pia = await own.caller("ana"), await other.caller("pia", roles=roles)
        writers = dict.fromkeys(OWN, ana) | dict.fromkeys(PUBLIC, pia)
        return ContextWorld(writers, await own.caller("bo"), other.tenant_name)


async def test_a_check_says_what_became_of_all_that_was_ever_held(gateway: Gateway) -> None:
    ContextPlay.gateway, ContextPlay.loop = gateway, asyncio.get_running_loop()

    await asyncio.to_thread(run_state_machine_as_test, ContextPlay, settings=SIZE)

    assert ContextPlay.states == {"current", "edited"}

"""The passages of a request as they are checked, and their states as they are answered.

Plain values: a thousand models would take longer than the search for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.extension import (
    AuthenticatedRequest,
    ShownChunks,
    address_of,
    parse_min_revision,
    shown,
)
from gateway.extensions.context_check.context_check_schemas import HeldPassageFields
from gateway.extensions.context_check.held_passages import AddedPassage, HeldPassage, PassageState
from index.tenants.principals import Principal


def held_of(
    caller: AuthenticatedRequest, passages: Sequence[HeldPassageFields]
) -> list[HeldPassage]:
    tenant, since = caller.principal.tenant, _Since(caller)
    return [
        HeldPassage(
            each.get("chunk_id"),
            each.get("tenant") or tenant,
            each.get("document_id"),
            each.get("updated_at"),
            since[revision] if (revision := each.get("revision")) is not None else None,
            each.get("start"),
        )
        for each in passages
    ]


def confirm_states(principal: Principal, states: Iterable[PassageState]) -> None:
    """Let the documents that the states tell of be confirmed before they are sent."""
    if (shows := shown.CURRENT.get()) is not None:
        told = {address for state in states for address in _told(state)}
        shows.documents.append(
            (principal, [address_of(principal.tenant, *address) for address in told])
        )


def _told(state: PassageState) -> Iterator[tuple[str, str]]:
    if state.address is not None:
        yield state.address
        if state.replaced_by is not None:
            yield state.address[0], state.replaced_by


def passages_shown(tenant: str, states: Iterable[PassageState]) -> ShownChunks:
    """The passages that the answer has the texts of, for the log of reads."""
    passages = defaultdict[str, set[int]](set)
    for state in states:
        if state.changed:
            assert state.address is not None
            address = address_of(tenant, *state.address)
            passages[address].update(each.chunk_id for each in state.changed)
    return {**passages}


class _Since(dict[str, Mapping[str, int]]):
    """By what a caller sends as `revision`, that of each partition; none of another history."""

    def __init__(self, caller: AuthenticatedRequest) -> None:
        self._tenant, self._history = caller.principal.tenant, caller.revisions.history

    def __missing__(self, sent: str) -> Mapping[str, int]:
        revision = parse_min_revision(sent.encode())
        assert revision is not None, "the body is valid"
        is_known = revision.is_of(self._tenant, self._history)
        self[sent] = numbers = revision.by_partition(self._tenant) if is_known else {}
        return numbers


def answer_of(state: PassageState) -> dict[str, Any]:
    """As `PassageStateAnswer`."""
    return {
        "state": state.state,
        "updated_at": state.updated_at,
        "replaced_by": state.replaced_by,
        "changed": None if state.changed is None else [*map(_changed, state.changed)],
    }


def _changed(passage: AddedPassage) -> dict[str, Any]:
    return {
        "chunk_id": passage.chunk_id,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
    }

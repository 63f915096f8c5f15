from collections import Counter
from itertools import islice
from typing import Any

import pytest

from loadtests.workload.history import Data, RecordedHistory
from loadtests.workload.writes import (
    DocumentState,
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    WorldState,
)


def edit(op: str, path: str, text: str = "", **more: str) -> dict[str, Any]:
    return {"op": op, "path": path, "text": text, **more}


def grant(op: str, group: str, user: str = "", **more: Any) -> dict[str, Any]:
    return {"op": op, "group": group, "user": user, **more}


DATA = Data(
    texts={"a.md": "One.", "b.md": "Two."},
    edits=[
        edit("M", "a.md", "One\r\nmore."),
        edit("R", "c.md", "Two, too.", **{"from": "b.md"}),
        edit("A", "d.md", "Three."),
        edit("M", "d.md", " "),
        edit("D", "c.md"),
    ],
    groups={"org": ["ana", "ben"], "org/Team": ["ana"]},
    grants=[
        grant("grant", "org/Team", "ben"),
        grant("create_group", "org/new", repos={"repo": "read"}),
        grant("grant", "org/new", "ben"),
        grant("revoke", "org", "ana"),
        grant("delete_group", "org/new"),
    ],
)


@pytest.fixture
def history() -> RecordedHistory:
    return RecordedHistory(DATA, subjects_max=16, seed=1)


def test_at_first_the_documents_are_there_and_the_subjects_in_their_groups(
    history: RecordedHistory,
) -> None:
    assert {
        (write.tenant, write.document_id)
        for write in history.first
        if isinstance(write, PutDocument)
    }
    assert set(history.subjects) == {("org", "ana"), ("org", "ben")}
    assert history.world.members == {
        ("org", "members", "ana"),
        ("org", "members", "ben"),
        ("org", "team", "ana"),
    }


def test_each_write_changes_something(history: RecordedHistory) -> None:
    world = WorldState()
    for write in history.first:
        assert world.apply(write) is not None

    for write in islice(history.writes(), 200):
        assert world.apply(write) is not None


def test_a_renamed_document_is_there_before_the_old_one_goes(history: RecordedHistory) -> None:
    steps = list(islice(history.writes(), 20))

    new = next(
        n
        for n, step in enumerate(steps)
        if isinstance(step, PutDocument) and step.document_id == "c.md"
    )
    old = next(
        n
        for n, step in enumerate(steps)
        if isinstance(step, RemoveDocument) and step.document_id == "b.md"
    )

    assert new + 1 == old


def test_texts_are_as_the_service_keeps_them_and_a_blank_one_is_a_removal(
    history: RecordedHistory,
) -> None:
    steps = list(islice(history.writes(), 20))

    assert "One\nmore." in [step.text for step in steps if isinstance(step, PutDocument)]
    assert RemoveDocument("org", "d.md") in steps


def test_a_right_to_a_repository_is_a_share_of_its_documents(history: RecordedHistory) -> None:
    steps = list(islice(history.writes(), 20))

    granted = [
        step for step in steps if isinstance(step, ShareDocument) and "group:new" in step.readers
    ]
    readers = {
        step.document_id: step.readers for step in history.first if isinstance(step, PutDocument)
    }

    assert granted  # the organisation has but one repository
    assert granted[0].readers == readers[granted[0].document_id] | {"group:new"}


def test_a_deleted_group_has_neither_members_nor_rights(history: RecordedHistory) -> None:
    steps = list(islice(history.writes(), 20))

    joined = steps.index(JoinGroup("org", "new", "ben"))
    left = steps.index(LeaveGroup("org", "new", "ben"))

    assert joined < left


def test_after_its_end_it_goes_back_and_then_on_again(history: RecordedHistory) -> None:
    at_first = WorldState(dict(history.world.documents), set(history.world.members))
    states: Counter[str] = Counter()

    world = WorldState(dict(at_first.documents), set(at_first.members))
    for write in islice(history.writes(), 100):
        world.apply(write)
        states["as at first"] += world == at_first

    assert states["as at first"] >= 2


def test_what_is_undone_is_as_it_was() -> None:
    was = DocumentState("One.", frozenset({"tenant"}))
    for write in (
        PutDocument("org", "a.md", "Other.", frozenset()),
        RemoveDocument("org", "a.md"),
        ShareDocument("org", "a.md", frozenset({"public"})),
        PutDocument("org", "new.md", "New.", frozenset()),
        JoinGroup("org", "team", "ben"),
        LeaveGroup("org", "team", "ana"),
    ):
        world = WorldState({("org", "a.md"): was}, {("org", "team", "ana")})

        undoes = world.apply(write)
        assert undoes is not None
        world.apply(undoes)

        assert world == WorldState({("org", "a.md"): was}, {("org", "team", "ana")})


def test_a_write_that_changes_nothing_is_none() -> None:
    world = WorldState(
        {("org", "a.md"): DocumentState("One.", frozenset())}, {("org", "team", "ana")}
    )

    for write in (
        PutDocument("org", "a.md", "One.", frozenset({"public"})),
        RemoveDocument("org", "b.md"),
        ShareDocument("org", "b.md", frozenset()),
        ShareDocument("org", "a.md", frozenset()),
        JoinGroup("org", "team", "ana"),
        LeaveGroup("org", "team", "ben"),
    ):
        assert world.apply(write) is None

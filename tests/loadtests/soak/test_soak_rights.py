import copy
from typing import Any

import pytest

from loadtests.workload.rights import Rights
from loadtests.workload.viewer import SOURCES, Viewer, source_of
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
)

TEXT = "The team gets 25 days."


def hit(text: str = TEXT, document_id: str = "a.md") -> dict[str, Any]:
    return {"document_id": document_id, "text": text, "start": 0, "end": len(text)}


class WriteClock:
    """Writes one after the other: asked for at a full second, acknowledged half a second later."""

    def __init__(self) -> None:
        self.rights = Rights()
        self.second = 0

    def write(self, write: Write) -> bool:
        is_public = self.rights.asked(write, self.second)
        self.rights.acknowledged(write, self.second + 0.5)
        self.second += 1
        return is_public

    def may_see(
        self, asked_s: float, answered_s: float, *, subject: str = "ana", **of: str
    ) -> bool:
        shown, viewer = hit(**of), Viewer("org", subject)
        versions = self.rights.seen_by(viewer, shown["document_id"], asked_s, answered_s)
        return any(version.is_shown_by(shown) for version in versions)


@pytest.fixture
def clock() -> WriteClock:
    return WriteClock()


def test_a_member_sees_from_when_it_may_have_joined_until_it_has_certainly_left(
    clock: WriteClock,
) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"group:team"})))
    clock.write(JoinGroup("org", "team", "ana"))
    clock.write(LeaveGroup("org", "team", "ana"))

    assert not clock.may_see(0.6, 0.9)
    assert clock.may_see(0.6, 1.1)
    assert clock.may_see(2.4, 9)
    assert not clock.may_see(2.6, 9)
    assert not clock.may_see(1.6, 1.9, subject="ben")


def test_a_text_is_seen_until_its_edit_is_acknowledged(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    clock.write(PutDocument("org", "a.md", "Other.", frozenset()))

    assert clock.may_see(1.4, 9)
    assert not clock.may_see(1.6, 9)
    assert clock.may_see(1.6, 9, text="Other.")
    assert not clock.may_see(0.5, 0.9, text="Other.")


def test_a_removed_document_is_not_seen_and_one_put_anew_has_new_readers(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    clock.write(RemoveDocument("org", "a.md"))
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"group:team"})))

    assert not clock.may_see(1.6, 1.9)
    assert not clock.may_see(2.6, 9)


def test_right_and_text_must_have_been_at_one_moment(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"group:team"})))
    clock.write(PutDocument("org", "a.md", "Other.", frozenset()))
    clock.write(JoinGroup("org", "team", "ana"))

    assert not clock.may_see(0, 9)
    assert clock.may_see(0, 9, text="Other.")


def test_who_reads_by_the_tenant_is_of_the_tenant_and_everybody_reads_what_is_public(
    clock: WriteClock,
) -> None:
    clock.write(PutDocument("other", "a.md", TEXT, frozenset({"tenant"})))
    clock.write(PutDocument("other", "b.md", TEXT, frozenset({"public"})))

    assert not clock.may_see(0, 9)
    assert clock.may_see(0, 9, document_id="b.md")


def test_a_share_is_public_if_it_was_or_will_be(clock: WriteClock) -> None:
    assert not clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    assert clock.write(ShareDocument("org", "a.md", frozenset({"public"})))
    assert clock.write(PutDocument("org", "a.md", "Other.", frozenset()))
    assert clock.write(ShareDocument("org", "a.md", frozenset({"tenant"})))
    assert not clock.write(RemoveDocument("org", "a.md"))
    assert not clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))


def test_groups_are_certain_while_nobody_changes_them(clock: WriteClock) -> None:
    clock.write(JoinGroup("org", "team", "ana"))
    before = clock.rights.changes("org", "ana")
    clock.rights.asked(LeaveGroup("org", "team", "ana"), 1.0)
    amid = clock.rights.changes("org", "ana")
    clock.rights.acknowledged(LeaveGroup("org", "team", "ana"), 1.5)

    assert (before % 2, amid % 2) == (0, 1)
    assert clock.rights.changes("org", "ana") not in (before, amid)
    assert clock.rights.groups("org", "ana") == frozenset()


QUEUED = PutDocument("org", "a.md", "Other.", frozenset(), "queued")


def queued(clock: WriteClock) -> None:
    """A document of everybody's, of which another text waits for a worker since second 1."""
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    clock.rights.asked(QUEUED, 1.0)
    clock.rights.queued(QUEUED, "job")
    clock.second = 2


def test_a_queued_text_may_be_seen_from_when_it_was_asked_for_and_the_old_one_until_it_is_done(
    clock: WriteClock,
) -> None:
    queued(clock)
    clock.rights.done("org", "a.md", "job", 5.0)

    assert clock.may_see(4.6, 4.9)
    assert clock.may_see(4.6, 4.9, text="Other.")
    assert not clock.may_see(5.1, 9)
    assert clock.may_see(5.1, 9, text="Other.")


def test_what_is_written_after_it_was_queued_wins(clock: WriteClock) -> None:
    queued(clock)
    clock.write(PutDocument("org", "a.md", "The latest.", frozenset()))
    clock.rights.done("org", "a.md", "job", 5.0)

    assert not clock.may_see(2.6, 9, text="Other.")
    assert clock.may_see(5.1, 9, text="The latest.")


def test_what_is_removed_after_it_was_queued_stays_away(clock: WriteClock) -> None:
    queued(clock)
    clock.write(RemoveDocument("org", "a.md"))
    clock.rights.done("org", "a.md", "job", 5.0)

    assert not clock.may_see(2.6, 9)
    assert not clock.may_see(2.6, 9, text="Other.")
    assert not clock.rights.is_certain("org", "a.md")


def test_what_a_worker_is_known_to_have_written_while_it_is_removed_need_not_be_there(
    clock: WriteClock,
) -> None:
    queued(clock)
    remove = RemoveDocument("org", "a.md")
    clock.rights.asked(remove, 2.0)
    clock.rights.done("org", "a.md", "job", 2.2)
    clock.rights.acknowledged(remove, 2.5)

    assert not clock.rights.must_read(Viewer("org", "ana"), "a.md", 2.3, 2.4)
    assert not clock.rights.must_read(Viewer("org", "ana"), "a.md", 2.6, 9)


def test_who_loses_access_after_a_text_was_queued_sees_neither(clock: WriteClock) -> None:
    queued(clock)
    clock.write(ShareDocument("org", "a.md", frozenset({"user:ben"})))
    clock.rights.done("org", "a.md", "job", 5.0)

    assert not clock.may_see(2.6, 9)
    assert not clock.may_see(2.6, 9, text="Other.")
    assert clock.may_see(2.6, 4.9, subject="ben")
    assert clock.may_see(2.6, 9, subject="ben", text="Other.")


def test_a_document_must_be_read_while_it_certainly_exists_and_its_reader_is_a_member(
    clock: WriteClock,
) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"group:team"})))
    clock.write(JoinGroup("org", "team", "ana"))
    clock.write(LeaveGroup("org", "team", "ana"))
    ana = Viewer("org", "ana")

    assert clock.rights.must_read(ana, "a.md", 1.6, 1.9)
    assert not clock.rights.must_read(ana, "a.md", 1.2, 1.9)
    assert not clock.rights.must_read(ana, "a.md", 1.6, 2.1)


def test_a_narrower_viewer_sees_by_its_groups_scopes_and_sources_alone(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"group:team", "tenant"})))
    clock.write(JoinGroup("org", "team", "ana"))
    source = source_of("a.md")

    def sees(**narrowed: Any) -> bool:
        return any(clock.rights.seen_by(Viewer("org", "ana", **narrowed), "a.md", 1.6, 9))

    assert sees(scopes=("tenant",))
    assert sees(scopes=("shared",))
    assert not sees(scopes=("public", "private"))
    assert not sees(scopes=("shared",), groups=frozenset({"other"}))
    assert sees(sources=frozenset({source}))
    assert not sees(sources=frozenset(SOURCES) - {source})


def test_what_a_lost_history_wrote_is_seen_no_more(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    before = copy.deepcopy(clock.rights)
    clock.write(PutDocument("org", "a.md", "Other.", frozenset()))

    before.void(clock.rights, 1.0, 5.0)
    clock.rights = before

    assert clock.may_see(5.1, 9)
    assert not clock.may_see(5.1, 9, text="Other.")


def test_what_was_being_written_at_the_loss_may_come_until_it_is_sent_again(
    clock: WriteClock,
) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    before = copy.deepcopy(clock.rights)
    other = PutDocument("org", "a.md", "Other.", frozenset({"tenant"}))
    clock.rights.asked(other, 2.0)

    before.void(clock.rights, 1.0, 5.0)
    clock.rights = before
    assert clock.may_see(5.1, 9)
    assert clock.may_see(5.1, 9, text="Other.")

    clock.second = 10
    clock.write(other)
    assert not clock.may_see(10.6, 12)
    assert clock.may_see(10.6, 12, text="Other.")


def test_what_was_being_removed_at_the_loss_need_not_be_there(clock: WriteClock) -> None:
    clock.write(PutDocument("org", "a.md", TEXT, frozenset({"tenant"})))
    before = copy.deepcopy(clock.rights)
    assert before.is_certain("org", "a.md")
    clock.rights.asked(RemoveDocument("org", "a.md"), 2.0)

    before.void(clock.rights, 1.0, 5.0)

    assert not before.is_certain("org", "a.md")
    assert before.is_there("org", "a.md")

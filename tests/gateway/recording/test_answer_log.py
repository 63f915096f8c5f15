"""What callers get is told to all that record it: each answer once, with how often and how long."""

from dataclasses import replace

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.recording.answer_log import BODIES_BYTES_MAX, PENDING_MAX, AnswerLog, LoggedAnswer
from index.model.query import Query
from index.tenants.principals import Principal

ANA = Principal(b"ana", "key_ana", "acme", "ana", (), ("reader",), None, "a1", 1)
BEN = replace(ANA, digest=b"ben", key_id="key_ben", subject="ben")
QUERY = Query("annual leave")


def answer(body: bytes = b"{}", key: str = "key", tier: str = "memory") -> ServedAnswer:
    return ServedAnswer(body, Revisions("h", {"acme": 1}), tier, key)


def watched() -> tuple[AnswerLog, list[LoggedAnswer]]:
    """A log whose clock shows another second each time, and what its watcher is told."""
    seconds, told = iter(range(1_000)), list[LoggedAnswer]()
    log = AnswerLog(lambda: next(seconds))
    log.watchers.append(told.append)
    return log, told


def test_equal_answers_to_a_caller_are_told_together() -> None:
    log, told = watched()
    body = b"{}"
    for duration_s in (0.1, 0.2, None):
        log.add(ANA, QUERY, answer(body), duration_s)
    log.add(BEN, QUERY, answer(body), 0.3)
    log.add(ANA, QUERY, answer(body, tier="miss"), 0.4)
    assert not told

    log.tell()
    log.tell()

    assert [(each.principal, each.served.tier, each.durations_s) for each in told] == [
        (ANA, "memory", [0.1, 0.2, None]),
        (BEN, "memory", [0.3]),
        (ANA, "miss", [0.4]),
    ]
    assert (told[0].first_s, told[0].last_s) == (0, 2)


def test_an_answer_that_changes_is_told_before_and_after() -> None:
    log, told = watched()
    for body in (b"before", b"after"):
        log.add(ANA, QUERY, answer(body), None)
    log.add(replace(ANA, records_questions=True), QUERY, answer(b"after"), None)

    log.tell()

    assert [each.served.body for each in told] == [b"before", b"after", b"after"]
    assert [each.principal.records_questions for each in told] == [False, False, True]


def test_a_query_that_is_still_typed_is_read_and_is_no_question() -> None:
    log, told = watched()
    questions = list[LoggedAnswer]()
    log.question_watchers.append(questions.append)
    body = b"{}"
    for is_question in (False, False, True):
        log.add(ANA, QUERY, answer(body), 0.1, is_question=is_question)

    log.tell()

    assert [len(each.durations_s) for each in told] == [2, 1]
    assert questions == told[1:]


def test_what_waits_is_bounded_by_number_and_by_size() -> None:
    log, told = watched()
    for number in range(PENDING_MAX + 2):
        log.add(ANA, QUERY, answer(key=f"{number}"), None)
    assert [each.served.key for each in told] == ["0", "1"]
    log.tell()
    assert len(told) == PENDING_MAX + 2
    half = b" " * (BODIES_BYTES_MAX // 2)
    for number in range(3):
        log.add(ANA, QUERY, answer(half, f"half {number}"), None)
    assert [each.served.key for each in told[PENDING_MAX + 2 :]] == ["half 0"]


def test_a_watcher_that_fails_takes_nothing_from_the_others() -> None:
    log, told = watched()

    def fail(_answer: LoggedAnswer) -> None:
        raise ValueError("this watcher fails")

    log.watchers.insert(0, fail)
    log.add(ANA, QUERY, answer(), None)
    log.add(BEN, QUERY, answer(), None)

    log.tell()

    assert len(told) == 2

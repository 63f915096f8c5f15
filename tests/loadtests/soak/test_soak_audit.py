from pathlib import Path
from random import Random
from typing import Any

import orjson

from ingest.chunkers import structure
from loadtests.load.response import HttpResponse
from loadtests.soak import reads
from loadtests.soak.audit import Audit, ObservedAnswer
from loadtests.soak.model.credentials import CredentialModel
from loadtests.soak.model.state import Floors, SoakState
from loadtests.soak.oracle import FreshAnswer
from loadtests.soak.reads import Read, ShownPassage, SoakQuestion
from loadtests.workload.questions import words
from loadtests.workload.rights import Rights
from loadtests.workload.viewer import Viewer
from loadtests.workload.writes import PutDocument

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
TEXT = "The team gets 25 days."
SEARCH = reads.search(SoakQuestion(b'{"query":"days"}'))


def seeded() -> Random:
    return Random(1)  # noqa: S311  no secret


def seen(*texts: str, revision: int = 3, **floors: int) -> ObservedAnswer:
    hits: list[dict[str, Any]] = [
        {
            "chunk_id": 1,
            "document_id": "a.md",
            "text": text,
            "start": 0,
            "end": len(text),
            "score": 1,
        }
        for text in texts
    ]
    return answered(SEARCH, {"hits": hits}, {"org": revision}, **floors)


def answered(
    read: Read, body: dict[str, Any], revisions: dict[str, int] | None = None, **floors: int
) -> ObservedAnswer:
    content = reads.shown(read, HttpResponse(200, {}, orjson.dumps(body)))
    assert content is not None
    return ObservedAnswer(
        *(Viewer("org", "ana"), read, 0, 1.0, 2.0),
        floors=floors,
        revisions=revisions or {},
        tier="redis",
        shown=content,
    )


def audit() -> Audit:
    rights = Rights()
    write = PutDocument("org", "a.md", TEXT, frozenset({"tenant"}))
    rights.asked(write, 0.0)
    rights.acknowledged(write, 0.5)
    return Audit(SoakState(rights, CredentialModel({})))


def test_an_answer_of_what_may_be_read_as_new_as_acknowledged_holds() -> None:
    correct = audit()

    correct.judge(seen(TEXT, revision=3, org=3))

    assert correct.held
    assert correct.counts["judged"] == correct.counts["judged_redis"] == correct.counts["hits"] == 1


def test_a_hit_of_a_document_that_nobody_may_read_leaks_and_is_shown_without_its_text() -> None:
    leaking = audit()
    secret = PutDocument("org", "b.md", "A secret.", frozenset({"group:board"}))
    leaking.state.rights.asked(secret, 0.6)
    leaking.state.rights.acknowledged(secret, 0.7)
    document = {"document_id": "b.md", "text": "A secret.", "readers": ["group:board"]}

    leaking.judge(answered(reads.document("b.md"), document))

    assert leaking.counts["leaked"] == leaking.by_path["document", "leaked"] == 1
    assert not leaking.held
    assert "secret" not in str(leaking.shown)
    assert leaking.shown[0]["document"] == "b.md"


def test_a_text_that_a_document_has_no_more_is_stale() -> None:
    stale = audit()

    stale.judge(seen(TEXT, "What it said before."))

    assert (stale.counts["stale"], stale.counts["leaked"]) == (1, 0)


def test_every_chunk_is_a_part_of_its_document_with_the_lines_that_it_repeats() -> None:
    repeating = 0
    for file in sorted(HANDBOOK.rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        for chunk in structure.chunks(text, words_max=24):
            for start in (chunk.start, -1):
                assert ShownPassage("a.md", chunk.text, start).is_of(text), (file.name, chunk)
            body = text[chunk.start : chunk.end]
            if chunk.text != body:
                repeating += 1
                assert not ShownPassage("a.md", f"Another line\n{body}", chunk.start).is_of(text)
    assert repeating


def test_readers_that_a_document_has_no_more_are_stale() -> None:
    stale = audit()
    document = {"document_id": "a.md", "text": TEXT, "readers": ["group:team"]}

    stale.judge(answered(reads.document("a.md"), document))

    assert stale.counts["stale"] == 1


def test_an_answer_older_than_acknowledged_is_stale() -> None:
    stale = audit()

    stale.judge(seen(TEXT, revision=3, org=4))

    assert (stale.counts["stale"], stale.held) == (1, False)


def test_a_document_that_is_not_listed_though_it_exists_is_lost() -> None:
    losing = audit()

    losing.judge(answered(reads.documents("", ""), {"documents": [], "cursor": None}))
    losing.judge(answered(reads.documents("b.md", ""), {"documents": [], "cursor": None}))

    assert losing.counts["lost"] == 1


def test_a_document_that_is_not_found_though_it_exists_is_lost() -> None:
    losing = audit()
    read = reads.document("a.md")
    missing = reads.shown(read, HttpResponse(404, {}, b"{}"))
    assert missing is not None

    losing.judge(ObservedAnswer(Viewer("org", "ana"), read, 0, 1.0, 2.0, {}, {}, "miss", missing))

    assert losing.counts["lost"] == 1


def test_bodies_are_compared_at_equal_revisions_alone() -> None:
    compared = audit()
    answer = seen(TEXT)

    compared.compare(answer, FreshAnswer({"org": 3}, answer.shown.comparable), "at_rest")
    compared.compare(answer, FreshAnswer({"org": 4}, b"other"), "at_rest")

    assert compared.held
    assert (compared.counts["at_rest"], compared.counts["at_rest_moved"]) == (1, 1)


def test_another_body_than_a_fresh_one_is_a_violation() -> None:
    compared = audit()

    compared.compare(seen(TEXT), FreshAnswer({"org": 3}, seen().shown.comparable), "at_rest")

    assert (compared.counts["other"], compared.held) == (1, False)


def test_what_was_acknowledged_is_known_for_each_moment() -> None:
    floors = Floors()

    floors.acknowledged("org", 5, 1.0)
    floors.acknowledged("org", 4, 2.0)  # overtaken
    floors.one_more("public", 1.0)
    floors.one_more("public", 3.0)

    assert [floors.at("org", moment) for moment in (0.5, 1.0, 2.5)] == [0, 5, 5]
    assert [floors.at("public", moment) for moment in (0.5, 2.0, 3.0)] == [0, 1, 2]


def test_questions_are_words_of_the_texts_and_the_same_for_the_same_seed() -> None:
    text = "Everybody gets twenty-five days of annual leave, and more with every year."

    made_questions = reads.questions_of([text], 20, seeded())

    assert made_questions == reads.questions_of([text], 20, seeded())
    for question in made_questions:
        assert set(orjson.loads(question.body)["query"].split()) <= set(words(text))


def test_a_question_that_lets_the_answer_be_older_says_so_to_both() -> None:
    (question,) = reads.questions_of(["a text of some more words than that"], 1, seeded())

    older = question.older()

    assert orjson.loads(older.body)["max_staleness_ms"] == older.staleness_ms == 1000

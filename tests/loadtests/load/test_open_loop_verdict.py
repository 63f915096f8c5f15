"""What is made of answers: stale, leaked, within a budget; and the page that shows it."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import orjson
import pytest

from loadtests.load import schedule
from loadtests.load.figures import Figures
from loadtests.load.response import HttpResponse
from loadtests.loadtest import budget, page
from loadtests.loadtest.budget import InvalidBudget, Limit
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.result import Result, junit_xml
from loadtests.workload.agents import Agents, Who
from loadtests.workload.world import GeneratedHistory, NamedHistory, OneKeyHistory
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    WorldState,
)

ANA: Who = ("run-a", "ana")
BEN: Who = ("run-a", "ben")
DOCUMENT = "run/leave"
OLD, NEW = "Everybody gets 25 days.", "Everybody gets 30 days."
QUERY = b'{"query":"days"}'


def reply(
    text: str = OLD, *, asked_s: float = 5.0, revision: int = 7, detail: str = ""
) -> HttpResponse:
    hit = {"document_id": DOCUMENT, "text": text, "start": 0, "end": len(text)}
    headers = {b"nearhit-revision": f"{revision};public=2", b"server-timing": "total;dur=1"}
    if detail:
        headers[b"cache-status"] = f"nearhit; hit; detail={detail}"
    return HttpResponse(200, headers, orjson.dumps({"hits": [hit]}), asked_s, asked_s + 0.5)


def judge() -> StalenessJudge:
    """Of a document for Ana alone, of which the text has changed at 3 s."""
    answer_judge = StalenessJudge("run")
    for write, at_s in (
        (PutDocument("run-a", DOCUMENT, OLD, frozenset({"user:ana"})), 1.0),
        (PutDocument("run-a", DOCUMENT, NEW, frozenset()), 3.0),
    ):
        answer_judge.asked(write, at_s)
        answer_judge.acknowledged(write, at_s, None)
    return answer_judge


def test_what_is_shown_as_it_is_to_who_may_read_it_is_right() -> None:
    answer_judge = judge()

    answer_judge.judge(ANA, QUERY, reply(NEW), 7)

    assert dict(answer_judge.counts) == {"judged": 1, "hits": 1}


def test_what_an_acknowledged_edit_has_replaced_is_stale() -> None:
    answer_judge = judge()

    answer_judge.judge(ANA, QUERY, reply(OLD), 7)

    assert answer_judge.counts["stale"] == 1
    assert answer_judge.shown[0]["what"] == DOCUMENT


def test_what_was_replaced_while_the_question_was_under_way_is_right() -> None:
    answer_judge = judge()

    answer_judge.judge(ANA, QUERY, reply(OLD, asked_s=2.8), 7)

    assert not answer_judge.counts["stale"]


def test_what_somebody_else_may_read_leaks() -> None:
    answer_judge = judge()

    answer_judge.judge(BEN, QUERY, reply(NEW), 7)

    assert answer_judge.counts["leaked"] == 1
    assert not answer_judge.counts["stale"]


def test_an_answer_older_than_what_was_acknowledged_is_stale() -> None:
    answer_judge = judge()
    answer_judge.acknowledged(PutDocument("run-a", DOCUMENT, NEW, frozenset()), 4.0, 8)

    answer_judge.judge(ANA, QUERY, reply(NEW, revision=7), answer_judge.floor("run-a"))

    assert answer_judge.counts["stale"] == 1


def test_an_acknowledged_text_that_is_not_found_is_stale() -> None:
    answer_judge = judge()

    answer_judge.expect(ANA, QUERY, reply(NEW), "30 days")
    answer_judge.expect(ANA, QUERY, reply(NEW), "no such mark")

    assert (answer_judge.counts["expected"], answer_judge.counts["stale"]) == (2, 1)


def test_what_was_right_once_is_judged_anew_after_a_write() -> None:
    answer_judge = judge()
    answer_judge.judge(ANA, QUERY, reply(NEW), 7)
    answer_judge.judge(ANA, QUERY, reply(NEW), 7)
    taken = ShareDocument("run-a", DOCUMENT, frozenset())
    answer_judge.asked(taken, 6.0)
    answer_judge.acknowledged(taken, 6.1, 8)

    answer_judge.judge(ANA, QUERY, reply(NEW, asked_s=7.0, revision=8), 8)

    assert (answer_judge.counts["judged"], answer_judge.counts["leaked"]) == (3, 1)


def test_documents_that_the_run_has_not_written_are_not_judged() -> None:
    answer_judge = StalenessJudge("another-run")

    answer_judge.judge(ANA, QUERY, reply(OLD), 0)

    assert answer_judge.counts == Counter(judged=1)


def figures() -> Figures:
    """A hundred answers, of 1 to 100 ms, every second one by memory; and an error."""
    figures_of_run = Figures(0.0)
    for number in range(1, 101):
        due_s = number / 20
        figures_of_run.began(due_s, due_s)
        detail = "memory" if number % 2 else '"semantic 0.97"'
        answer = reply(asked_s=due_s, detail=detail if number % 4 else "")
        figures_of_run.answered(answer.answered_s - number / 1000, "tenant", answer)
    figures_of_run.began(1.0, 1.0)
    figures_of_run.failed(1.0, "503")
    figures_of_run.wrote(2.0, 2.25)
    return figures_of_run


def test_figures_are_as_exact_as_a_thousandth() -> None:
    run_figures = figures()

    latencies = run_figures.latencies["all"]
    assert latencies.percentile_ms(50) == pytest.approx(50, rel=0.002)
    assert latencies.percentile_ms(99) == pytest.approx(99, rel=0.002)
    assert latencies.percentile_ms(100) == pytest.approx(100, rel=0.002)
    assert run_figures.latencies["write"].percentile_ms(50) == pytest.approx(250, rel=0.002)


def test_tiers_are_named_without_how_similar_the_question_was() -> None:
    run_figures = figures()

    assert run_figures.count("tier.memory") == 50
    assert run_figures.count("tier.semantic") == 25
    assert run_figures.count("tier.miss") == 25


def test_the_slowest_are_kept_in_order() -> None:
    slowest = [slow.ms for slow in figures().slowest]

    assert slowest == pytest.approx([float(ms) for ms in range(100, 80, -1)], rel=0.002)


def written(folder: Path, text: str) -> Path:
    file = folder / "budget.toml"
    file.write_text(text)
    return file


def verdicts(text: str, folder: Path) -> list[str]:
    limits = budget.read(written(folder, text))
    return [finding.verdict for finding in budget.judged(limits, figures(), judge())]


def test_a_budget_holds_or_is_missed_limit_by_limit(tmp_path: Path) -> None:
    text = """
    [all]
    p50_ms = 51
    p99_ms = 98
    errors = 0.01
    hit_rate = 0.7
    [tier.memory]
    p95_ms = 99
    [scope.tenant]
    max_ms = 99
    [write]
    p95_ms = 260
    """

    held, missed = "held", "missed"
    assert verdicts(text, tmp_path) == [held, missed, held, held, held, missed, held]


def test_what_nothing_was_measured_of_is_not_judged(tmp_path: Path) -> None:
    text = "[tier.redis]\np99_ms = 100\n[all]\nstale = 0\nleaked = 0\n"

    assert verdicts(text, tmp_path) == ["not judged"] * 3


def test_without_a_file_errors_stale_and_leaked_answers_are_limited() -> None:
    assert budget.read(None) == [
        Limit("all", "errors", 0.001),
        Limit("all", "stale", 0, is_required=False),
        Limit("all", "leaked", 0, is_required=False),
    ]


def test_answers_without_a_document_of_the_run_judge_nothing(tmp_path: Path) -> None:
    strangers_texts = StalenessJudge("another-run")
    strangers_texts.judge(ANA, QUERY, reply(OLD), 0)
    demanding = budget.read(written(tmp_path, "[all]\nstale = 0\nleaked = 0\n"))
    run_figures = Figures(0.0)
    run_figures.answered(1.0, "all", reply(asked_s=1.0))
    run_figures.requests = 1

    by_default = result(run_figures, strangers_texts)
    by_file = result(run_figures, strangers_texts, demanding)

    assert by_default.outcome_line == "PASS: not judged: all stale, all leaked"
    assert by_file.outcome_line == "NOT JUDGED: not judged: all stale, all leaked"


def test_a_run_that_ended_early_never_passes() -> None:
    right = judge()
    right.judge(ANA, QUERY, reply(NEW), 7)
    wrong = judge()
    wrong.judge(BEN, QUERY, reply(NEW), 7)
    fine = Figures(0.0)
    fine.requests = 1

    cut = replace(result(fine, right), ended_early="ended by SIGINT")
    failed = replace(result(fine, wrong), ended_early="ended by SIGINT")

    assert result(fine, right).outcome_line == "PASS"
    assert cut.outcome_line == "NOT JUDGED: ended by SIGINT after 5 s"
    assert failed.outcome_line == "FAIL: ended by SIGINT after 5 s; missed: all leaked"


def test_a_percentile_is_breached_by_enough_requests_and_a_leak_at_once(tmp_path: Path) -> None:
    limits = budget.read(written(tmp_path, "[all]\np50_ms = 1\nleaked = 0\nhit_rate = 1\n"))
    few = Figures(0.0)
    few.answered(1.0, "all", reply(asked_s=1.0))
    leaking = judge()
    leaking.judge(BEN, QUERY, reply(NEW), 7)

    by_many = budget.breach(limits, figures(), judge())
    by_leak = budget.breach(limits, few, leaking)

    assert budget.breach(limits, few, judge()) is None
    assert by_many is not None
    assert by_many.limit.name == "p50_ms"
    assert by_leak is not None
    assert by_leak.limit.name == "leaked"


def test_each_stage_has_its_rates_and_its_limits(tmp_path: Path) -> None:
    stages = (schedule.parse_stage("50:1"), schedule.parse_stage("100:4"))
    run_figures = Figures(10.0, stages)
    for due_s in (10.1, 11.2, 11.3):
        run_figures.began(due_s, due_s)
        answer = reply(asked_s=due_s)
        run_figures.answered(due_s, "all", answer)
    run_figures.began(12.0, 12.0)
    run_figures.timed_out(12.0, "all", waited_s=2.5, timeout_s=2.0)
    limits = budget.read(written(tmp_path, "[stage.1]\nmax_ms = 600\n[stage.2]\nmax_ms = 600\n"))

    staged = replace(result(run_figures, judge(), limits), stages=stages)

    assert [finding.verdict for finding in staged.findings] == ["held", "missed"]
    rates = [(rate.name, rate.offered, rate.achieved) for rate in staged.rates]
    assert rates == [("all", 0.8, 0.6), ("stage.1", 1, 1), ("stage.2", 0.75, 0.5)]


def test_junits_xml_holds_the_run_and_the_limits() -> None:
    wrong = judge()
    wrong.judge(BEN, QUERY, reply(NEW), 7)
    run = result(figures(), wrong)

    suite = ET.fromstring(junit_xml(run))  # noqa: S314  its own text

    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "0")
    assert [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ] == [
        "errors",
        "leaked",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p99_ms = 1", "outside a table"),
        ("[everything]\np99_ms = 1", "is none of"),
        ("[all]\np98_ms = 1", "p98_ms is none of"),
        ("[tier.memory]\nstale = 1", "stale is none of"),
        ("[all]\np99_ms = 'quick'", "is no number"),
        ("[all]\np99_ms = -1", "is no number"),
        ("[tier]\nmemory = 3", "is no table"),
        ("[all", "budget.toml"),
    ],
)
def test_a_budget_that_nobody_understands_says_where(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InvalidBudget, match=why):
        budget.read(written(tmp_path, text))


def result(
    run_figures: Figures, answer_judge: StalenessJudge, limits: Sequence[Limit] | None = None
) -> Result:
    findings = budget.judged(limits or budget.read(None), run_figures, answer_judge)
    return Result(
        url="http://x/<b>",
        date="today",
        command="nearhit loadtest",
        machine="a machine",
        summary="a load",
        options={},
        seconds=5.0,
        figures=run_figures,
        judge=answer_judge,
        findings=findings,
    )


class PageParser(HTMLParser):
    """What a page is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.said: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.links += [str(value) for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def read(html: str) -> PageParser:
    reader = PageParser()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_the_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    reader = read(page.html(result(figures(), judge())))

    assert reader.tags.count("svg") == 3
    assert not {"script", "link", "img", "b>"} & set(reader.tags)
    assert not [link for link in reader.links if "//" in link]
    assert any("http://x/<b>" in text for text in reader.said)
    assert "503" in reader.said
    assert "total;dur=1" in reader.said


def test_the_page_of_a_run_that_got_no_answer_is_one_too() -> None:
    nothing = result(Figures(0.0), StalenessJudge("run"))

    assert read(page.html(nothing)).tags.count("svg") == 3
    assert json.loads(nothing.as_json())["figures"]["requests"] == 0


def test_the_json_says_what_held_and_which_answers_were_wrong() -> None:
    wrong = judge()
    wrong.judge(BEN, QUERY, reply(NEW), 7)

    stored = json.loads(result(figures(), wrong).as_json())

    assert stored["outcome"] == "FAIL"
    assert [row["verdict"] for row in stored["budget"]] == ["missed", "held", "missed"]
    assert stored["faults"] == [
        {"fault": "leaked", "who": "run-a/ben", "question": QUERY.decode(), "what": DOCUMENT}
    ]
    assert stored["figures"]["latencies"]["all"]["count"] == 100


def agents(seed: int, repeats: float = 0.7) -> Iterator[bytes]:
    random = Random(seed)  # noqa: S311  no secret
    words = ["".join(random.choices("aeioubcdfg", k=8)) for _ in range(2_000)]
    texts = {"run-a": [words]}
    asking = Agents([ANA, BEN], texts, [], repeats=repeats, strangers=0.0, random=random)
    while True:
        yield asking.ask().question.body


def taken(bodies: Iterator[bytes], count: int = 2_000) -> list[bytes]:
    return [next(bodies) for _ in range(count)]


def test_agents_of_equal_seeds_ask_the_same() -> None:
    assert taken(agents(1)) == taken(agents(1))
    assert taken(agents(1)) != taken(agents(2))


def test_agents_repeat_themselves_as_often_as_they_are_told() -> None:
    bodies = [orjson.loads(body) for body in taken(agents(1, repeats=0.7))]
    again = 1 - len({orjson.dumps(body) for body in bodies}) / len(bodies)

    assert again == pytest.approx(0.7, abs=0.05)
    assert {body.get("scopes", ["all"])[0] for body in bodies} == {
        *("all", "private", "shared", "tenant", "public")
    }
    assert any(body.get("semantic") == "bounded" for body in bodies)


def test_made_up_histories_change_something_with_every_write() -> None:
    past = GeneratedHistory(documents=30, seed=1)
    world = WorldState()
    for write in past.first:
        world.apply(write)

    kinds = set()
    for _, write in zip(range(400), past.writes(), strict=False):
        assert world.apply(write) is not None
        kinds.add(type(write))

    assert kinds == {PutDocument, ShareDocument, RemoveDocument, JoinGroup, LeaveGroup}


def test_nothing_is_public_unless_it_may_be_and_all_is_the_runs_own() -> None:
    past = GeneratedHistory(documents=100, seed=1)
    hidden, with_public = (
        NamedHistory(past, "run", public=False),
        NamedHistory(past, "run", public=True),
    )

    def readers(history: NamedHistory) -> set[str]:
        return {
            reader
            for finding in history.first
            if isinstance(finding, PutDocument)
            for reader in finding.readers
        }

    assert "public" in readers(with_public)
    assert "public" not in readers(hidden)
    for write in hidden.first:
        assert write.tenant.startswith("run-")
        assert not isinstance(write, PutDocument) or write.document_id.startswith("run/")


def test_one_key_writes_what_it_alone_may_read() -> None:
    alone = OneKeyHistory(GeneratedHistory(documents=30, seed=1), ("own", "me"))

    writes = [*alone.first, *(write for _, write in zip(range(100), alone.writes(), strict=False))]

    assert {type(write) for write in writes} == {PutDocument, RemoveDocument}
    assert {write.tenant for write in writes} == {"own"}
    assert all(write.readers == {"user:me"} for write in writes if isinstance(write, PutDocument))

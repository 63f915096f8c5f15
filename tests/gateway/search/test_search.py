"""Searches over HTTP: what is found, in what form, from which tier."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.search.schemas.search_answer_schemas import HitAnswer
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from ingest.summaries.extract import extract
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
TRAVEL = "# Travel\n\nBook trains with the travel desk, two weeks ahead."
PARENTAL_LEAVE = Path("examples/handbook/people/parental-leave.md").read_text(encoding="utf-8")
RETRIEVAL = Path("docs/explanation/retrieval.md").read_text(encoding="utf-8")


async def test_a_hit_shows_where_it_stands_in_its_document(ana: Caller) -> None:
    await ana.put("leave", LEAVE, title="Annual leave", tags=["people"], uri="https://a.example/l")

    (hit,) = (await ana.search("annual leave")).json()["hits"]
    document = (await ana.call("GET", "/v1/documents/leave")).json()

    assert document["text"][hit["start"] : hit["end"]] == hit["text"] == LEAVE
    assert (hit["document_id"], hit["title"], hit["tags"]) == ("leave", "Annual leave", ["people"])
    assert (hit["source"], hit["uri"], hit["language"]) == ("api", "https://a.example/l", "en")
    assert "explain" not in hit


async def test_within_a_document_the_texts_decide_by_scores_that_the_docs_work_out(
    ana: Caller,
) -> None:
    text = PARENTAL_LEAVE.partition("\n---\n")[2]
    await ana.put("leave", text, title="Parental leave in Porto and Galway")

    hits = (await ana.search("parental leave", top_k=10, explain=True)).json()["hits"]

    assert len(hits) == 6
    assert hits[0]["text"].startswith("## Length and pay")
    assert hits[1]["text"].startswith("### Pregnancy loss")
    for hit in hits[:2]:
        dense, words = (hit["explain"][leg]["score"] for leg in ("dense", "lexical"))
        assert f"`0.25 · {dense:.3f} + 0.75 · {words:.3f} = {hit['score']:.3f}`" in RETRIEVAL


async def test_an_answer_says_nothing_about_how_it_was_made(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    miss, hit = await ana.search("leave"), await ana.search("leave")

    assert miss.content == hit.content
    assert list(miss.json()) == ["hits"]
    assert miss.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert hit.headers["cache-status"] == "nearhit; hit; detail=memory"


@pytest.mark.isolated
async def test_the_headers_tell_tier_revision_timings_and_request(ana: Caller) -> None:
    written = await ana.put("leave", LEAVE)

    answer = await ana.search("leave")

    assert answer.headers["nearhit-revision"].startswith(f"{written['revision']};of=")
    assert "total;dur=" in answer.headers["server-timing"]
    assert len(answer.headers["x-request-id"]) == 16
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.slow
async def test_a_cached_answer_is_byte_for_byte_a_fresh_one(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    for number in range(20):
        await ana.put(f"d{number}", f"# Topic {number}\n\nLeave and travel, part {number}.")
    fresh = await ana.search("travel part 7", top_k=20)

    from_redis = await other_worker.as_(ana).search("travel part 7", top_k=20)
    from_memory = await ana.search("travel part 7", top_k=20)

    assert from_redis.headers["cache-status"] == "nearhit; hit; detail=redis"
    assert from_memory.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert fresh.content == from_redis.content == from_memory.content


async def test_requests_that_mean_the_same_share_an_answer(gateway: Gateway, ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    await ana.search(
        "annual  leave ", scopes=["tenant", "private"], filter={"tags_any": ["b", "a"]}
    )
    await ana.search("annual leave", scopes=["private", "tenant"], filter={"tags_any": ["a", "b"]})

    assert await gateway.fills() == 1


async def test_a_document_is_valid_from_its_first_day_to_its_last(ana: Caller) -> None:
    days = {
        "old": {"valid_to": "2025-05-31"},
        "new": {"valid_from": "2025-06-01", "valid_to": "2025-12-31T08:00:00+01:00"},
        "always": {"valid_from": "soon", "valid_to": 2024},
    }
    for document_id, metadata in days.items():
        await ana.put(document_id, f"annual leave {document_id}", metadata=metadata)

    async def valid(day: str) -> set[str]:
        return set(await ana.found("annual leave", filter={"valid_on": day}))

    assert await valid("2025-05-31") == {"old", "always"}
    assert await valid("2025-06-01") == await valid("2025-12-31") == {"new", "always"}
    assert await valid("2026-01-01") == {"always"}
    await ana.put("old", "annual leave old", metadata={"valid_to": "2026-01-01"})
    assert await valid("2026-01-01") == {"old", "always"}


async def test_a_document_with_times_is_valid_to_the_second(ana: Caller) -> None:
    bounds = {
        "first": {"valid_to": "2025-06-01T12:00:00Z"},
        "second": {"valid_from": "2025-06-01T12:00:01+00:00", "valid_to": "2025-06-02"},
        "zoned": {"valid_from": "2025-06-01T23:00:00+09:00"},
    }
    for document_id, metadata in bounds.items():
        await ana.put(document_id, f"annual leave {document_id}", metadata=metadata)

    async def valid(instant: str) -> set[str]:
        return set(await ana.found("annual leave", filter={"as_of": instant}))

    assert await valid("2025-06-01T12:00:00.9Z") == {"first"}
    assert await valid("2025-06-01T14:00:01+02:00") == {"second"}
    assert await valid("2025-06-02T23:59:59Z") == {"second", "zoned"}
    assert await valid("2025-06-03T00:00:00Z") == {"zoned"}
    assert await valid("2025-05-31T23:59:59Z") == {"first"}


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": 3},
        {"alpha": 0.9},
        {"fusion": "relative"},
        {"fusion": "rrf"},
        {"scopes": ["private"]},
        {"min_score": 0.5},
        {"explain": True},
        {"expand": True},
        {"language": "pt"},
        {"document_hits_max": 1},
        {"filter": {"tags_any": ["a"]}},
        {"filter": {"metadata": {"team": "sales"}}},
    ],
)
async def test_requests_that_differ_do_not_share_an_answer(
    gateway: Gateway, ana: Caller, fields: dict[str, object]
) -> None:
    ben = await gateway.caller("ben")
    await ben.put("of a colleague", LEAVE, readers=["tenant"])
    await ana.search("annual leave")
    await ana.search("annual leave", **fields)

    assert await gateway.fills() == 2


async def test_each_filter_narrows(ana: Caller) -> None:
    before = datetime.now(UTC) - timedelta(minutes=1)
    await ana.put("a", "leave", tags=["x", "y"], source="wiki", metadata={"team": "sales", "n": 1})
    await ana.put("b", "leave too", tags=["y"], source="mail", language="pt")

    async def found(**wanted: object) -> set[str]:
        return set(await ana.found("leave", filter=wanted))

    assert await found(sources=["wiki"]) == {"a"}
    assert await found(tags_any=["x", "y"]) == {"a", "b"}
    assert await found(tags_all=["x", "y"]) == {"a"}
    assert await found(languages=["pt"]) == {"b"}
    assert await found(documents=["a", "none"]) == {"a"}
    assert await found(exclude_documents=["a"]) == {"b"}
    assert await found(documents=["a"], exclude_documents=["a"]) == set()
    assert await found(valid_on="2025-06-01") == {"a", "b"}
    assert await found(metadata={"team": "sales"}) == {"a"}
    assert await found(metadata={"team": "sales", "n": 2}) == set()
    assert await found(updated_after=before.isoformat()) == {"a", "b"}
    assert await found(updated_before=before.isoformat()) == set()


async def test_alpha_goes_from_pure_keywords_to_pure_meaning(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("travel", TRAVEL)

    words = (await ana.search("leave", alpha=0, explain=True)).json()["hits"]
    meaning = (await ana.search("leave", alpha=1, explain=True)).json()["hits"]

    assert [hit["document_id"] for hit in words] == ["leave"]
    assert {hit["document_id"] for hit in meaning} == {"leave", "travel"}
    assert words[0]["explain"]["lexical"]["rank"] == 1


async def test_nothing_above_min_score_is_an_empty_answer(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    assert await ana.found("leave", min_score=1.1) == []


async def test_equal_chunks_are_one_hit(ana: Caller) -> None:
    await ana.put("one", LEAVE)
    await ana.put("two", LEAVE)

    assert await ana.found("leave") == ["one"]


async def test_a_question_is_understood_in_each_language_that_the_tenant_has(ana: Caller) -> None:
    await ana.put("ferias", "Cada pessoa tem 22 dias de férias por ano.", language="pt-BR")
    await ana.put("leave", LEAVE)

    assert (await ana.found("ferias", alpha=0)) == ["ferias"]
    assert (await ana.found("leaves", alpha=0)) == ["leave"]


async def test_a_document_in_a_language_without_analyser_is_found_by_its_words(ana: Caller) -> None:
    await ana.put("loma", "Vuosiloma on 30 päivää.", language="fi")

    assert await ana.found("vuosiloma", alpha=0) == ["loma"]


@pytest.mark.slow
async def test_max_staleness_buys_an_older_answer_within_the_operators_limit(
    settings: Settings, embedder: Embedder
) -> None:
    generous = settings.model_copy(update={"staleness_s_max": 3_600.0})
    async with running(generous, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        await ana.search("leave")

        await ana.put("leave", LEAVE.replace("25", "27"))
        stale = await ana.search("leave", max_staleness_ms=3_600_000)
        computed = await ana.search("days of leave", max_staleness_ms=3_600_000)
        fresh = await ana.search("leave")

    assert "25 days" in stale.text
    assert "27 days" in computed.text
    assert "27 days" in fresh.text


async def test_max_staleness_keeps_nobody_out_whose_groups_have_just_changed(
    gateway: Gateway, ana: Caller, admin: Caller, other_worker: Gateway
) -> None:
    await ana.put("leave", LEAVE, readers=["group:sales"])
    ben = await other_worker.caller("ben")
    await ana.search("leave")  # by which this worker knows the tenant's revisions

    await other_worker.as_(admin).call("PUT", "/v1/groups/sales/members/ben")

    assert await gateway.as_(ben).found("leave", max_staleness_ms=60_000) == ["leave"]


@pytest.mark.slow
@pytest.mark.isolated
async def test_max_staleness_is_of_answers_and_never_of_rights(
    settings: Settings, embedder: Embedder, gateway: Gateway
) -> None:
    """A key, a token, a membership: who loses it reads nothing from the next request on."""
    generous = settings.model_copy(update={"staleness_s_max": 3_600.0})
    async with running(generous, embedder) as other:
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE, readers=["group:sales"])
        made = await gateway.operator.call(
            "POST",
            "/v1/keys",
            json={"tenant": gateway.tenant_name, "subject": "ben", "groups": ["sales"]},
        )
        key = Caller(other.client, made.json()["key"])
        token = await key.call("POST", "/v1/tokens", json={})
        zoe = await gateway.caller("zoe")
        ada = await gateway.caller("ada", roles=["admin"])
        await ada.call("PUT", "/v1/groups/sales/members/zoe")
        readers = [key, Caller(other.client, token.json()["token"]), other.as_(zoe)]
        stale = {"query": "leave", "max_staleness_ms": 3_600_000}
        for each in readers:
            assert await each.found("leave", max_staleness_ms=3_600_000) == ["leave"]

        await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")
        await ada.call("DELETE", "/v1/groups/sales/members/zoe")

        for each in readers[:2]:
            problem(await each.call("POST", "/v1/search", json=stale), 401)
            batch = {"searches": [stale]}
            problem(await each.call("POST", "/v1/search/batch", json=batch), 401)
        assert await readers[2].found("leave", max_staleness_ms=3_600_000) == []


async def test_a_hit_has_the_fields_that_the_description_says(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    plain = (await ana.search("leave")).json()["hits"][0]
    options = ("explain", "summaries", "highlights", "metadata", "updated_at", "rerank")
    asked = dict.fromkeys(options, True)
    full = (await ana.search("leave", **asked, expand="relations")).json()["hits"][0]

    asked_for = {*options, "relations", "rerank_score"}
    own = [name for name in HitAnswer.model_fields if name not in ("tenant", "trust")]
    assert list(plain) == [name for name in own if name not in asked_for]
    assert list(full) == own


async def test_summaries_are_hits_or_come_with_hits_for_who_asks(ana: Caller) -> None:
    text = "\n\n".join(f"Day {number} of leave counts for something." for number in range(100))
    await ana.put("long", text, summaries="extract")

    async def hits(**asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await ana.search("leave", top_k=50, **asked)).json()["hits"]
        return found

    assert (await ana.call("GET", "/v1/documents/long")).json()["summaries"] == "extract"
    assert {hit["kind"] for hit in await hits()} == {"text"}
    assert not any("summaries" in hit for hit in await hits())
    (summary,) = await hits(filter={"kinds": ["summary"]})
    assert (summary["kind"], summary["start"], summary["end"]) == ("summary", 0, len(text))
    assert summary["text"] == extract(text)
    whole = {"text": extract(text), "start": 0, "end": len(text)}
    assert all(hit["summaries"] == [whole] for hit in await hits(summaries=True))
    both = await hits(filter={"kinds": ["text", "summary"]})
    assert both == await hits(filter={"kinds": ["summary", "text", "text"]})
    assert {hit["kind"] for hit in both} == {"text", "summary"}

    await ana.put("long", text)  # says nothing of them
    assert await hits(filter={"kinds": ["summary"]}) == [summary]
    await ana.put("long", text, summaries="none")
    assert await hits(filter={"kinds": ["summary"]}) == []


async def test_a_hit_takes_its_neighbours_in_on_request(ana: Caller) -> None:
    sections = [f"## Part {number}\n\n{LEAVE} It is part {number}." for number in range(5)]
    await ana.put("long", "\n\n".join(sections))
    document = (await ana.call("GET", "/v1/documents/long")).json()

    (plain, *_) = (await ana.search("part 2", top_k=1)).json()["hits"]
    (wide, *_) = (await ana.search("part 2", top_k=1, expand=True)).json()["hits"]

    assert wide["start"] < plain["start"] < plain["end"] < wide["end"]
    assert document["text"][wide["start"] : wide["end"]] == wide["text"]
    assert wide["chunk_id"] == plain["chunk_id"]


async def test_no_document_fills_the_answer_where_so_few_hits_are_wanted(ana: Caller) -> None:
    await ana.put("long", "\n\n".join(f"## Leave {n}\n\nLeave, part {n}." for n in range(9)))
    await ana.put("short", "Leave, in short.")

    found = await ana.found("leave", top_k=10, document_hits_max=2)

    assert sorted(found) == ["long", "long", "short"]


async def test_a_new_language_in_the_scope_renews_a_cached_answer(ana: Caller) -> None:
    question = {"query": "le chat dort sur la grande table du salon", "language": "fr"}
    await ana.put("en", "The chat was friendly.", language="en")
    foreign = (await ana.search(**question)).json()

    await ana.put("fr", "Rien de tel.", language="fr", readers=["user:bob"])

    known = (await ana.search(**question)).json()
    assert [hit for hit in known["hits"] if hit["document_id"] == "en"] == foreign["hits"]
    assert known["low_confidence"]  # whose limit holds within one language
    assert "low_confidence" not in foreign


async def test_a_typo_is_taken_for_a_word_and_explained(ana: Caller) -> None:
    await ana.put("lamp", "The lighthouse keeper trims the wick.", readers=["tenant"])

    answer = (await ana.search("lihgthouse", explain=True)).json()
    plain = (await ana.search("lihgthouse", alpha=0)).json()

    assert answer["corrections"] == {"lihgthouse": ["lighthouse"]}
    assert [hit["document_id"] for hit in plain["hits"]] == ["lamp"]
    assert "corrections" not in plain


async def test_an_unknown_filter_value_finds_nothing_and_says_nothing(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    assert await ana.found("leave", filter={"sources": ["of another tenant"]}) == []


async def test_as_many_hits_come_as_are_asked_for_and_there(ana: Caller) -> None:
    lines = "\n".join(
        f'{{"document_id": "d{number}", "text": "Leave, part {number}."}}' for number in range(80)
    )
    await ana.call("POST", "/v1/documents/batch", content=lines)

    assert len(await ana.found("leave", top_k=100)) == 80


async def test_attributes_are_compared_and_shown_and_what_they_become_ends_cached_answers(
    ana: Caller,
) -> None:
    await ana.put("old", LEAVE, metadata={"year": 2024, "team": "people"})
    await ana.put("new", f"{LEAVE} Ask.", metadata={"year": 2026, "labels": ["a", "b"]})
    late = {"type": "gt", "key": "year", "value": 2025}
    either = {
        "type": "or",
        "filters": [
            {"type": "in", "key": "labels", "value": ["b", "c"]},
            {"type": "eq", "key": "team", "value": "people"},
        ],
    }

    answer = await ana.search("leave", filter={"attributes": late}, metadata=True)
    both = await ana.found("leave", filter={"attributes": either})
    await ana.put("old", LEAVE, metadata={"year": 2027})
    after = await ana.search("leave", filter={"attributes": late}, metadata=True)

    assert [hit["metadata"] for hit in answer.json()["hits"]] == [
        {"year": 2026, "labels": ["a", "b"]}
    ]
    assert set(both) == {"old", "new"}
    assert {hit["metadata"]["year"] for hit in after.json()["hits"]} == {2026, 2027}

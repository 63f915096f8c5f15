"""A body of a form that is known means what it means to a parser that knows nothing."""

from functools import partial
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.problems.problems import Problem
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_parser import SearchParser
from gateway.search.search_request import SearchRequest, build_search_request
from index.model.query import PostprocessorNames
from index.tenants.principals import Principal

ANA = Principal(b"ana", "key", "acme", "ana", ("staff",), ("reader",), None, "a1", 0)
BEN = Principal(b"ben", "key", "acme", "ben", (), ("reader",), None, "a1", 0)

QUERIES = [
    b"",
    b'"annual leave"', b'" two  spaces "', b'"a\\nline"', rb'"\u0000"', rb'"\ud800"', b'"\x7f"',
    b'""', b'" "', rb'"\u00a0"', rb'"\u001c"', rb'"leave\u001f"', b"5", b"null",
    b'"' + b"x" * 2_001 + b'"', b'"' + b"x" * 2_000 + b'"', b'" ' + b"x" * 2_000 + b'"',
    '"café"'.encode(), b'"caf\xe9"',
]  # fmt: skip
RESTS = [
    b"", b'"top_k":5', b'"top_k":5.0', b'"top_k":true', b'"top_k":101', b'"top_k":0', b'"top_k":7',
    b'"alpha":1e999', b'"alpha":null', b'"alpha":0.5', b'"alpha":0.50', b'"alpha":1',
    b'"alpha":1.0',
    b'"explain":true', b'"explain":1', b'"unknown":1', b'"query":"twice"', b'"history":[]',
    b'"gate":"chat"', b'"filter":{"tags_any":["hr"]}', b'"filter":{"tags_any":"hr"}',
    b'"scopes":["private"]', b'"scopes":["public"]', b'"max_staleness_ms":500', b'"rerank":true',
    b'"semantic":"bounded"', b'"vector":[1,2]', b'"facets":["source"]', b'"top_k":' + b"9" * 30,
]  # fmt: skip


def new_parser() -> SearchParser:
    request_of = partial(
        build_search_request,
        edition="1",
        postprocessors=PostprocessorNames(),
        compares=lambda _: True,
    )
    return SearchParser(request_of)


WARM = new_parser()


def verdict(parser: SearchParser, principal: Principal, body: bytes) -> Any:
    try:
        request = parser.parse(principal, body)
    except Problem as problem:
        return problem.response().body
    return request, request.body.model_fields_set, request.query.digest


def body_of(query: bytes, rests: list[bytes]) -> bytes:
    fields = [b'"query":' + query] if query else []
    return b"{" + b",".join([*fields, *filter(None, rests)]) + b"}"


@given(
    st.sampled_from((ANA, BEN)),
    st.sampled_from(QUERIES)
    | st.text().map(
        orjson.dumps,
    ),
    st.lists(st.sampled_from(RESTS), max_size=2),
)
@example(ANA, b'"leave"', [b'"alpha":null'])
@example(ANA, b'"leave"', [b'"alpha":1e999'])
@example(ANA, b'"pay"', [b'"alpha":1'])
@example(ANA, b'"pay"', [b'"alpha":1.0'])
def test_a_known_form_gets_the_verdict_of_a_parser_that_knows_nothing(
    principal: Principal, query: bytes, rests: list[bytes]
) -> None:
    body = body_of(query, rests)

    assert verdict(WARM, principal, body) == verdict(new_parser(), principal, body)
    assert verdict(WARM, principal, body) == verdict(new_parser(), principal, body)


def test_each_byte_that_is_cut_or_changed_gets_the_same_verdict() -> None:
    whole = body_of(b'"annual leave"', [b'"top_k":5', b'"explain":true'])
    verdict(WARM, ANA, whole)
    for at in range(len(whole)):
        for changed in (whole[:at], whole[:at] + b"\x00" + whole[at + 1 :], whole[:at] + whole):
            assert verdict(WARM, ANA, changed) == verdict(new_parser(), ANA, changed)


def test_a_form_is_validated_once_for_each_principal() -> None:
    built: list[str] = []

    def request_of(principal: Principal, body: Any) -> SearchRequest:
        built.append(body.query)
        return build_search_request(
            principal,
            body,
            edition="1",
            postprocessors=PostprocessorNames(),
            compares=None,
        )

    parser = SearchParser(request_of)
    for principal in (ANA, BEN):
        for query in (b'"one"', b'"two"', b'"three"', b'"one"'):
            assert parser.parse(principal, body_of(query, [])).principal is principal

    assert built == ["one", "one"]
    parser.parse(ANA, body_of(rb'"two\nlines"', []))
    parser.parse(ANA, body_of(rb'"two\nlines"', []))
    assert built == ["one", "one", "two\nlines"]  # repeated as it is, it is not validated again


def test_what_a_principal_may_read_by_now_is_read_anew() -> None:
    """A principal that was read again has the same credential."""
    moved = Principal(b"ana", "key", "acme", "ana", (), ("reader",), None, "a1", 1)
    parser = new_parser()
    parser.parse(ANA, body_of(b'"leave"', []))

    for query in (b'"leave"', b'"pay"'):
        now = parser.parse(moved, body_of(query, []))
        assert now == new_parser().parse(moved, body_of(query, []))


def test_bytes_that_mean_something_to_another_call_mean_nothing_to_this_one() -> None:
    parser, sent = new_parser(), b'{"query":5}'
    parser.parse_other(ANA, "mcp", sent, lambda _: SearchBody(query="5"))

    assert verdict(parser, ANA, sent) == verdict(new_parser(), ANA, sent)

"""A value that does not fit costs itself, never its document."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._files.coerce import coerce
from gateway.extensions._sources.source import Defaults, document
from index.model import document as model

BASE = {"document_id": "a/1", "source": "a", "title": "T", "uri": "", "text": "The text."}

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("title", 2024, "2024"),
        ("title", 1.5, "1.5"),
        ("title", True, "true"),
        ("title", " two\n lines ", "two lines"),
        ("title", ["a", 1], '["a",1]'),
        ("tags", "a, b", ("a", "b")),
        ("tags", "howto", ("howto",)),
        ("tags", "#howto, a/b, c#, #", ("howto", "a/b", "c#")),
        ("tags", [1, "2", None, ["x", ""]], ("1", "2", "x")),
        ("tags", True, ("true",)),
        ("tags", ["a", "a"], ("a",)),
        ("language", "no", "no"),
        ("language", "en_US", "en-US"),
        ("language", "EN", "en"),
        ("language", "", None),
        ("uri", "docs/a b.md", "docs/a b.md"),
        ("metadata", {"seo": {"meta": {"robots": "index"}}}, {"seo.meta.robots": "index"}),
        ("metadata", {"up": [["Home"]]}, {"up": ["Home"]}),
        ("metadata", {"authors": [{"name": "A"}]}, {"authors": ['{"name":"A"}']}),
        ("metadata", {1: "x", None: "y"}, {"1": "x", "None": "y"}),
        ("metadata", {"n": 2**53}, {"n": "9007199254740992"}),
        ("metadata", {"n": float("inf")}, {"n": "inf"}),
        ("metadata", {"n": Decimal("1.10")}, {"n": "1.10"}),
        ("metadata", {"n": dt.date(2024, 1, 5)}, {"n": "2024-01-05"}),
        ("metadata", {"n": dt.timedelta(hours=1, milliseconds=5)}, {"n": "3600.005 s"}),
        ("metadata", {"n": b"abc"}, {"n": "abc"}),
        ("metadata", {"n": b"\xff\x00"}, {"n": "/wA="}),
        ("metadata", {"n": "a\0"}, {"n": "a\ufffd"}),
        ("metadata", {"n": []}, {"n": []}),
        ("metadata", {"n": {}}, {"n": "{}"}),
        ("metadata", {"a\nb": 1}, {"a b": 1}),
    ],
)
def test_a_value_takes_the_form_of_its_field(field: str, value: object, expected: object) -> None:
    assert coerce({field: value}, []) == {field: expected}


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"title": "word " * 100}, "title: cut to 300"),
        ({"language": "English"}, "language: 'english'"),
        ({"tags": [str(n) for n in range(100)]}, "tags: only the first 64 of 100"),
        ({"uri": "x" * 3_000}, "uri: left out"),
        ({"chunker": "wide"}, "chunker: 'wide'"),
        ({"summaries": "all"}, "summaries: 'all'"),
        ({"metadata": {"vector": [0.5] * 384}}, "vector: left out"),
        ({"metadata": {"note": "x" * 5_000}}, "note: cut to 4,096"),
        ({"metadata": {"seo": {"a": 1}}}, "seo: a mapping"),
        ({"metadata": {"authors": [{"name": "A"}]}}, "authors: not text"),
        ({"metadata": {str(n): n for n in range(70)}}, "69: left out"),
    ],
)
def test_a_value_that_is_changed_is_named(fields: dict[str, object], warning: str) -> None:
    warnings: list[str] = []

    coerced = coerce(fields, warnings)

    assert warning in " ".join(warnings)
    document(Defaults(owner="ana").fields() | BASE | coerced)


def test_rights_are_never_coerced() -> None:
    fields = {"readers": "tenant", "owner": 5}

    assert coerce(fields, []) == fields


@given(
    st.fixed_dictionaries(
        {"metadata": st.dictionaries(st.text() | st.integers(), values)},
        optional={
            name: values.filter(lambda value: value is not None)
            for name in ("title", "language", "tags", "uri", "chunker", "summaries")
        },
    )
)
def test_any_values_make_a_document(fields: dict[str, object]) -> None:
    stored = document(Defaults(owner="ana").fields() | BASE | fields, [])

    assert len(stored.metadata) <= model.METADATA_KEYS_MAX

"""Front matter as people write it: only what concerns rights refuses a text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._files.front_matter import (
    LOOKALIKES,
    PARSED_CHARACTERS_MAX,
    FrontMatterError,
    front_matter,
)

BODY = "# Box\n\nThe blue box.\n"


def fields_of(source: str) -> dict[str, object]:
    """Of front matter with this source."""
    fields, body = front_matter(f"---\n{source}\n---\n{BODY}", [])

    assert body == BODY
    return fields


def metadata_of(source: str) -> object:
    return fields_of(source)["metadata"]


def warnings_of(source: str) -> list[str]:
    warnings: list[str] = []
    front_matter(f"---\n{source}\n---\n{BODY}", warnings)
    return warnings


@pytest.mark.parametrize("text", ["# Leave\n\n---\n", "", "text", "--- a\n---\n", "----\na: b\n"])
def test_a_text_without_front_matter_is_all_body(text: str) -> None:
    assert front_matter(text, []) == ({}, text)


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA text that begins with a rule.\n",
        "---\nOne rule.\n\n---\n\nAnd another.\n",
        "---\n- a\n- list\n---\n",
        "---\n\nNote: a colon.\n",
        "+++\nplus signs\n",
        "---",
    ],
)
def test_a_thematic_break_begins_no_front_matter(text: str) -> None:
    assert front_matter(text, []) == ({}, text)


@pytest.mark.parametrize(
    "source",
    [
        '{"title": "A", "n": 3, "readers": ["user:ana"]}\n',
        '{\n  "title": "A",\n  "n": 3,\n  "readers": ["user:ana"]\n}\n',
        '\n\n{"readers": ["user:ana"], "title": "A", "n": 3}\n\n',
        ';;;\n"title": "A", "n": 3, "readers": ["user:ana"]\n;;;\n',
        ';;;\n{"title": "A", "n": 3, "readers": ["user:ana"]}\n;;;\n',
        '"title": "A",\n"n": 3,\n"readers": ["user:ana"]\n;;;\n',
    ],
)
def test_json_is_front_matter_as_hugo_and_hexo_read_it(source: str) -> None:
    fields, body = front_matter(source + BODY, [])

    assert fields == {"title": "A", "readers": ["user:ana"], "metadata": {"n": 3}}
    assert body.lstrip() == BODY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.10", "1.10"), ("1.5", 1.5), ("9007199254740993", "9007199254740993"), ("NaN", "NaN"),
        ("1e5", "1e5"), ("true", True), ('"no"', "no"), ('{"a": [1]}', {"a": [1]}),
    ],
)  # fmt: skip
def test_values_of_json_stay_as_they_are_written(value: str, expected: object) -> None:
    fields, _ = front_matter(f'{{"value": {value}}}\n{BODY}', [])

    assert fields["metadata"] == {"value": expected}


@pytest.mark.parametrize(
    "text",
    [
        "{{< figure >}}\n\nA text.\n",
        "{.lead}\nA text.\n",
        "{% include a %}\n",
        '{"a": 1}\n',
        '{"a": 1}\n{"a": 2}\n',
        '{"a": 1,\n# A text\n',
        '{"a": }\n# A text\n',
        ";;; a comment of Lisp\n",
        ";;;\n\nA text.\n",
        '"Quoted": he said.\n\nA text.\n',
        ';;;\n"a": 1,\n;;;\nA text.\n',
    ],
)
def test_what_only_looks_like_json_is_text(text: str) -> None:
    assert front_matter(text, []) == ({}, text)


@pytest.mark.parametrize(
    "text",
    [
        '{"readers": ["user:ana"], "readers": ["tenant"]}\n',
        '{"readers": ["user:ana"],}\n',
        '{"title": "A",\n"readers": ["user:ana"\n',
        "{\"a\": 1, 'readers': []}\n",
        '{"Reader": "user:ana"}\n',
        '{"acl": [], "a": ' + "[" * 100_000 + "\n",
        '{"a": "' + "x" * PARSED_CHARACTERS_MAX + '", "owners": ["ana"]}\n',
        ';;;\n"readers": ["user:ana"],\n;;;\n',
        ';;;\n"readers": ["user:ana"]\n',
        '"readers": ["user:ana"] "title": "A"\n;;;\n',
        ';;;\n"a": \'' + "x" * PARSED_CHARACTERS_MAX + '\', "readers": []\n;;;\n',
    ],
)
def test_json_that_may_say_who_may_read_is_refused_if_it_can_not_be_read(text: str) -> None:
    with pytest.raises(FrontMatterError):
        front_matter(text + BODY, [])


@pytest.mark.parametrize("body", ["[Link](a.md)\n", "{{< figure >}}\n", "- a\n", "text"])
def test_any_text_may_follow_an_object(body: str) -> None:
    assert front_matter('{"title": "A"}\n' + body, []) == (
        {"title": "A", "metadata": {}},
        f"\n{body}",
    )


def test_readers_in_json_without_a_text_are_read() -> None:
    fields, body = front_matter('{"readers": ["user:ana"]}\n', [])

    assert fields["readers"] == ["user:ana"]
    assert body.strip() == ""


def test_front_matter_is_parted_from_the_body() -> None:
    fields, body = front_matter(
        "---\ntitle: Leave\ntags: [hr]\nreaders:\n- group:hr\n---  \n# Ask\n", []
    )

    assert fields == {"title": "Leave", "tags": ["hr"], "readers": ["group:hr"], "metadata": {}}
    assert body == "# Ask\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: A\n...\nbody", "A"),
        ("\n\n---\ntitle: A\n---\nbody", "A"),
        ('---\n{"title": "A"}\n---\nbody', "A"),
        ("---\ntitle: A\n---", "A"),
        ("+++\ntitle = 'A'\n+++\nbody", "A"),
        ('+++\n# of Hugo\ntitle = "A" # name\n[params]\nx = 1\n+++\nbody', "A"),
        ("+++\ntitle = A\ndate = 2024-01-01\n+++\nbody", "A"),
    ],
)
def test_front_matter_is_yaml_or_toml(text: str, title: str) -> None:
    fields, body = front_matter(text, [])

    assert fields["title"] == title
    assert body in ("body", "")


def test_empty_front_matter_says_nothing() -> None:
    assert front_matter("---\n---\nbody", []) == ({"metadata": {}}, "body")
    assert front_matter("---\n# a comment\n---\nbody", []) == ({"metadata": {}}, "body")
    assert fields_of("title:\nlanguage:\ntags:\nactive:") == {"metadata": {}}


@pytest.mark.parametrize(
    "written",
    [
        "1.10", "007", "0123", "12:30:45", "NO", "no", "yes", "on", "off", "Y", "0755", "1_000",
        "1e10", "1.0e+5", "0x1F", "0o17", "16:9", "+49123", "12345678901234567890", ".5", "5.",
        "-0", ".inf", ".nan", "~", "Null", "True", "FALSE", "2024-01-05", "2024-02-30",
        "190:20:30", "0b11", "1.50", "00", "=", "<<", "2024-01-05 10:00:00 +1", "9007199254740993",
    ],
)  # fmt: skip
def test_a_scalar_stays_as_it_is_written(written: str) -> None:
    assert metadata_of(f"value: {written}\nlist: [{written}]") == {
        "value": written,
        "list": [written],
    }


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("2024", 2024),
        ("1.5", 1.5),
        ("-0.25", -0.25),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("# a comment", None),
    ],
)
def test_plain_json_has_its_values(written: str, value: object) -> None:
    metadata = metadata_of(f"value: {written}")

    assert metadata == {"value": value}
    assert repr(metadata) == repr({"value": value})


@pytest.mark.parametrize(
    ("source", "metadata"),
    [
        ("template: {{ page }}", {"template": "{{ page }}"}),
        ("author: @ana", {"author": "@ana"}),
        ("cmd: `ls`", {"cmd": "`ls`"}),
        ("note: Foo: bar", {"note": "Foo: bar"}),
        ('size: "5" screen"', {"size": '"5" screen"'}),
        ("rate: % of all", {"rate": "% of all"}),
        ("a: &x [q]\nb: *x", {"a": ["q"], "b": "*x"}),
        ("a: 1\na: 2", {"a": 2}),
        ("a: x\n\tb: y", {"a": "x\n\tb: y"}),
        ("a: [1, 2\nb: 3", {"a": "[1, 2", "b": 3}),
        ("a: 'it's'", {"a": "'it's'"}),
        ("glob: *.md", {"glob": "*.md"}),
        ("note: SQL: grant access.", {"note": "SQL: grant access."}),
        ("note: Keys: who is the owner? readers.", {"note": "Keys: who is the owner? readers."}),
        ("deep: " + "[" * 20 + "]" * 20, {"deep": "[" * 20 + "]" * 20}),
    ],
)
def test_what_is_not_yaml_is_kept_as_text_with_a_warning(
    source: str, metadata: dict[str, object]
) -> None:
    assert metadata_of(f"{source}\nafter: 1") == metadata | {"after": 1}
    assert warnings_of(f"{source}\nafter: 1")


@pytest.mark.parametrize(
    ("source", "metadata"),
    [
        ("1: x", {"1": "x"}),
        ("no: x", {"no": "x"}),
        ("'a b': x", {"a b": "x"}),
        ("up: [[Home]]", {"up": [["Home"]]}),
        ("note: !!python/object:os.system x", {"note": "x"}),
        ("metadata: text", {"metadata": "text"}),
        ("layout: wide\nmetadata: {layout: narrow}", {"layout": "narrow"}),
    ],
)
def test_odd_keys_and_values_have_a_meaning(source: str, metadata: object) -> None:
    assert metadata_of(source) == metadata


def test_an_entry_that_cannot_be_parsed_costs_only_itself() -> None:
    fields = fields_of("title: Foo: bar\ntags: [a, b]\nreaders: [user:ana]\nactive: no")

    assert fields["title"] == "Foo: bar"
    assert fields["tags"] == ["a", "b"]
    assert fields["readers"] == ["user:ana"]
    assert fields["is_active"] is False


@pytest.mark.parametrize(
    ("written", "is_active"),
    [("true", True), ("Yes", True), ("on", True), ('"false"', False), ("no", False)],
)
def test_a_document_is_active_in_the_words_of_people(written: str, is_active: bool) -> None:  # noqa: FBT001
    assert fields_of(f"active: {written}")["is_active"] is is_active


@pytest.mark.parametrize(
    "text",
    [
        "---\nreaders: [group:hr]\n",
        "---\ntitle: a\nowner: ana\n\nbody",
        "---\n- readers: [user:ana]\n---\n",
        "---\nnote: a: b\nreaders: [user:ana\n---\n",
        "---\nreaders: [user:ana]\nreaders: [tenant]\n---\n",
        "---\nnote: a: b\nreaders: [user:ana]\nreaders: [tenant]\n---\n",
        "---\n{title: x: y, readers: [user:ana]}\n---\n",
        "---\nnote: *x\nAccess: [user:ana\n---\n",
        "---\nreaders: *all\n---\n",
        "---\nactive: maybe\n---\n",
        "+++\nreaders = [user\n+++\n",
        "+++\nreaders = ['user:ana']\n",
        *(
            f"---\n{key}: [user:ana]\n---\ntext"
            for key in sorted(LOOKALIKES - {"readers", "owner"})
        ),
        "---\nReaders: [user:ana]\n---\ntext",
        "---\nOWNER: ana\n---\ntext",
    ],
)
def test_rights_that_are_not_clear_refuse_the_text(text: str) -> None:
    with pytest.raises(FrontMatterError):
        front_matter(text, [])


@given(st.text(st.sampled_from("ab:-#'\"{}[]&*!|>%@`,= \n\t\\."), max_size=60))
def test_no_other_front_matter_refuses_a_text(source: str) -> None:
    _, body = front_matter(f"---\n{source}\n---\n{BODY}", [])

    assert body.endswith(BODY)


def test_relations_go_into_metadata() -> None:
    assert metadata_of(
        "team: hr\nrelates_to: {replaces: old, follows: [one, two]}\nreplaces: [old]"
    ) == {"team": "hr", "replaces": ["old"], "follows": ["one", "two"]}


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("relates_to: old", "relates_to: it must be follows"),
        ("relates_to: {likes: old}", "relates_to: likes must be follows"),
        ("relates_to: {follows: [1]}", "relates_to: follows must be"),
        ("follows: a\nrelates_to: {follows: b}", "differs from follows"),
    ],
)
def test_relations_that_are_none_are_metadata_with_a_warning(source: str, warning: str) -> None:
    assert warning in " ".join(warnings_of(source))
    assert "relates_to" in str(metadata_of(source))


@pytest.mark.parametrize(
    ("source", "metadata"),
    [
        ("a:\t1", {"a": 1}),
        ("a:\n\t- x\n\t- y", {"a": ["x", "y"]}),
        ("a:\n\tb:\n\t\tc: 1", {"a": {"b": {"c": 1}}}),
        ("a:\t[x,\ty]\t# z", {"a": ["x", "y"]}),
    ],
)
def test_tabs_indent_as_spaces_do(source: str, metadata: object) -> None:
    assert metadata_of(source) == metadata
    assert warnings_of(source) == []


@pytest.mark.parametrize("value", ["inf", "nan", "1e5", "-2.5E-3", "1_000.5"])
def test_a_number_of_toml_that_json_lacks_is_text(value: str) -> None:
    text = f"+++\nvalue = {value}\ntags = ['a']\n[params]\n  x = 1\n+++\n"

    assert front_matter(text, []) == (
        {"tags": ["a"], "metadata": {"value": value, "params": {"x": 1}}},
        "",
    )


@pytest.mark.parametrize("length", [PARSED_CHARACTERS_MAX, 10 * PARSED_CHARACTERS_MAX])
def test_a_long_value_costs_no_other(length: int) -> None:
    fields = fields_of(f"note: {'x' * length}\ntags: [a, b]\nreaders: [user:ana]")

    assert (fields["tags"], fields["readers"]) == (["a", "b"], ["user:ana"])


@pytest.mark.thorough
@pytest.mark.slow
def test_long_and_costly_front_matter_takes_little_time() -> None:
    doubling = "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))
    long = "".join(f"key{n}: [a, b: c]\n" for n in range(PARSED_CHARACTERS_MAX))
    started_s = time.monotonic()

    metadata_of(f"a0: &a0 {{x: 1}}\n{doubling}")
    metadata_of(long)

    assert time.monotonic() - started_s < 10  # for ever, if they were parsed whole
    with pytest.raises(FrontMatterError):
        metadata_of(f"{long}readers: [user:ana]")

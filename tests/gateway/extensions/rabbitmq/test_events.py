"""Events: which are understood, and what has been heard once they have come in any order."""

from functools import reduce
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.errors import EventRefused
from gateway.extensions.rabbitmq.event_schemas import PutEvent
from gateway.extensions.rabbitmq.event_versions import EventUpdate, EventVersion
from tests.gateway.extensions.rabbitmq.event_samples import access, delete, parsed, update
from tests.index.support.samples import a_document

ANAS = {"owner": "ana", "readers": ["group:people"]}

histories = st.lists(
    st.sampled_from(["update", "shared update", "access", "delete"]), min_size=1, max_size=6
)


def history(kinds: list[str]) -> list[dict[str, Any]]:
    """What happened, in its order."""
    made = {
        "update": lambda version: update(version, f"Text {version}."),
        "shared update": lambda version: update(
            version, f"Text {version}.", access={"owner": None, "readers": [f"user:u{version}"]}
        ),
        "access": lambda version: access(version, f"group:g{version}"),
        "delete": delete,
    }
    return [made[kind](version) for version, kind in enumerate(kinds, start=1)]


def heard(happened: list[dict[str, Any]]) -> EventVersion:
    return reduce(event_schemas.merge_event, map(parsed, happened), EventVersion())


class TestOrder:
    @given(st.data(), histories)
    def test_no_order_and_no_repetition_makes_a_difference(
        self, data: st.DataObject, kinds: list[str]
    ) -> None:
        happened = history(kinds)
        again = data.draw(st.lists(st.sampled_from(happened), max_size=4))
        mixed = data.draw(st.permutations(happened + again))

        assert heard(mixed) == heard(happened)

    def test_who_may_read_it_is_heard_apart_from_what_is_in_it(self) -> None:
        late = heard([access(5, "tenant"), update(4, "Text.")])

        assert (late.content, late.access, late.readers) == (4, 5, ("tenant",))

    def test_a_delete_takes_with_it_who_may_read(self) -> None:
        gone = heard([update(1, "Text.", access=ANAS), delete(2)])

        assert gone == EventVersion(content=2, access=2)

    def test_what_is_not_higher_says_nothing_new(self) -> None:
        known = heard([update(2, "Text.", access=ANAS)])

        for late in (update(2, "Other."), update(1, "Other.", access=ANAS), delete(1)):
            assert event_schemas.merge_event(known, parsed(late)) == known


class TestTheDocument:
    def test_is_nobodys_until_somebody_has_said_who_may_read_it(self) -> None:
        event = parsed(update(1, "# Leave\r\n\r\n25 days."))
        assert isinstance(event, PutEvent)

        made = event_schemas.document_of(
            event, None, EventUpdate("leave", EventVersion(), EventVersion(1)), "pt"
        )

        assert (made.owner, made.readers) == (None, ())
        assert (made.text, made.source, made.language) == ("# Leave\n\n25 days.", "events", "pt")

    def test_keeps_its_readers_if_the_event_names_none(self) -> None:
        event = parsed(update(2, "Text."))
        assert isinstance(event, PutEvent)
        stored = a_document("leave", "Old.", readers=("tenant",))

        made = event_schemas.document_of(
            event, stored, EventUpdate("leave", EventVersion(1), EventVersion(2)), "en"
        )

        assert (made.owner, made.readers) == (stored.owner, ("tenant",))


class TestBadEvents:
    @pytest.mark.parametrize(
        ("event", "reason"),
        [
            ({"type": "explode", "document_id": "a", "version": 1}, "does not match any"),
            ({"document_id": "a", "version": 1}, "Unable to extract tag"),
            (update(1, " \n"), "update.document.text: must not be blank"),
            (update(0, "Text."), "update.version: Input should be greater"),
            (update(2**63, "Text."), "update.version: Input should be less"),
            (delete(1) | {"version": "1"}, "delete.version: Input should be a valid integer"),
            (delete(1) | {"document_id": ""}, "delete.document_id: "),
            (delete(1) | {"document_id": "a\nb"}, "delete.document_id: must be one line"),
            (delete(1) | {"at": 7}, "delete.at: Extra inputs are not permitted"),
            (delete(1) | {"tenant": "other"}, "tenant: not the tenant of the queue"),
            (access(1, "everybody"), "access.access.readers.0: must be user:ID"),
            (update(1, "Text.", access={"owner": None}), "update.access.readers: Field required"),
            (update(1, "x" * 11_000), "over 10,000 bytes"),
            ([], "should be an object"),
        ],
    )
    def test_say_what_is_wrong(self, event: Any, reason: str) -> None:
        with pytest.raises(EventRefused, match=reason):
            parsed(event)

    @pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"{", b"[" * 5_000, b"null"])
    def test_may_be_no_json_at_all(self, body: bytes) -> None:
        with pytest.raises(EventRefused):
            event_schemas.parse(body, "acme", 10_000)

    def test_name_nothing_twice_and_hold_no_more_than_a_body_may(self) -> None:
        twice = b'{"type":"delete","document_id":"a","version":1,"version":2}'
        names = b",".join(b'"%d":1' % number for number in range(30_000))
        many = b'{"type":"update","document_id":"a","version":1,"document":{%b}}' % names

        for body, reason in ((twice, "duplicate name"), (many, "at most 20,000")):
            with pytest.raises(EventRefused, match=reason):
                event_schemas.parse(body, "acme", 1_000_000)

    @given(st.binary(max_size=200) | st.text().map(str.encode))
    def test_never_raise_anything_else(self, body: bytes) -> None:
        with pytest.raises(EventRefused):
            event_schemas.parse(body, "acme", 10_000)

    def test_do_not_quote_the_document(self) -> None:
        with pytest.raises(EventRefused) as refused:
            parsed(update(1, "A secret text.", document={"text": ["A secret text."]}))

        assert "secret" not in str(refused.value)


def test_the_documented_examples_are_understood() -> None:
    text = (event_schemas.__doc__ or "").split("\n\n")[1]
    bodies = "".join(line.strip() for line in text.splitlines()).replace("}{", "}\n{").splitlines()

    kinds = [event_schemas.parse(body.encode(), "acme", 10_000).type for body in bodies]

    assert kinds == ["update", "access", "delete"]
    assert orjson.loads(bodies[0])["version"] < orjson.loads(bodies[2])["version"]

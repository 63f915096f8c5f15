"""Who may see what, and which requests may share an answer."""

from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model.scope import PUBLIC, SCOPE_NAMES, Scope, ScopeName, everything, resolve
from tests.index.support.samples import subsets

printable = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])
ids = st.text(printable, min_size=1, max_size=8) | st.sampled_from(
    ["a", "b", "a,b", "user:a", "a:b", "|"]
)
groups = st.lists(ids, max_size=3)
names = st.lists(st.sampled_from(SCOPE_NAMES), max_size=4)


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    tenant: str
    subject: str
    groups: tuple[str, ...]
    names: tuple[ScopeName, ...]
    receives_public: bool

    @property
    def scope(self) -> Scope:
        receives = self.receives_public
        return resolve(self.tenant, self.subject, self.groups, self.names, receives_public=receives)

    @property
    def meaning(self) -> tuple[object, ...]:
        """What the request comes to: who asks matters only where the subject or a group is read."""
        about_subject = {"private", "shared"} & set(self.names)
        return (
            self.tenant,
            frozenset(self.names),
            self.receives_public and "public" in self.names,
            self.subject if about_subject else None,
            frozenset(self.groups) if "shared" in about_subject else None,
        )


requests = st.builds(ScopeRequest, ids, ids, groups.map(tuple), names.map(tuple), st.booleans())


# Each owner and each set of readers in a small world, where ana and ben are both in and out of it.
EVERY_DOCUMENT = list(
    product(
        [None, "ana", "ben", "eve"],
        subsets(["user:ana", "user:ben", "group:x", "group:y", "tenant", "public"]),
    )
)
EVERY_SCOPE = [
    resolve("acme", subject, held, asked, receives_public=True)
    for subject, held, asked in product(["ana", "ben"], subsets("xy"), subsets(SCOPE_NAMES))
]


def test_scopes_admit_the_same_documents_exactly_if_their_fingerprints_are_equal() -> None:
    by_fingerprint: dict[bytes, set[tuple[bool, ...]]] = {}
    for scope in EVERY_SCOPE:
        admitted = tuple(scope.admits(owner, readers) for owner, readers in EVERY_DOCUMENT)
        by_fingerprint.setdefault(scope.fingerprint, set()).add((scope.public, *admitted))

    outcomes = list(by_fingerprint.values())
    assert all(len(outcome) == 1 for outcome in outcomes)
    assert len(set.union(*outcomes)) == len(outcomes)


@given(requests, requests)
def test_fingerprints_are_equal_exactly_if_the_requests_come_to_the_same(
    one: ScopeRequest, other: ScopeRequest
) -> None:
    same = one.meaning == other.meaning

    assert (one.scope.fingerprint == other.scope.fingerprint) == same


@given(requests, st.data())
def test_the_order_and_the_doubles_of_groups_and_names_do_not_matter(
    request_: ScopeRequest, data: st.DataObject
) -> None:
    shuffled = ScopeRequest(
        request_.tenant,
        request_.subject,
        tuple(data.draw(st.permutations(request_.groups * 2))),
        tuple(data.draw(st.permutations(request_.names * 2))),
        request_.receives_public,
    )

    assert shuffled.scope == request_.scope
    assert shuffled.scope.fingerprint == request_.scope.fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a", "b"], ["a,b"]),
        (["a", "b"], ["a b"]),
        (["a", "group:b"], ["a", "b"]),
        (["ab", "c"], ["a", "bc"]),
        (["a|group:b"], ["a", "b"]),
        (["b"], ["user:b"]),
        ([], [""]),
    ],
)
def test_groups_are_not_confused_however_their_names_are_put_together(
    one: list[str], other: list[str]
) -> None:
    scopes = [resolve("acme", "ana", groups, ["shared"]) for groups in (one, other)]

    assert scopes[0].fingerprint != scopes[1].fingerprint


def test_a_subject_is_not_a_group_of_its_name() -> None:
    as_subject = resolve("acme", "b", ["a"], ["shared"])
    as_group = resolve("acme", "a", ["b"], ["shared"])

    assert as_subject.fingerprint != as_group.fingerprint


def test_a_tenant_is_not_confused_with_what_follows_it() -> None:
    one, other = resolve("a", "b", ["c"], ["shared"]), resolve("ab", "c", [], ["shared"])

    assert one.fingerprint != other.fingerprint


def test_colleagues_who_ask_for_what_the_tenant_may_read_share_a_fingerprint() -> None:
    ana = resolve("acme", "ana", ["x"], ["tenant", "public"], receives_public=True)
    ben = resolve("acme", "ben", ["y"], ["public", "tenant"], receives_public=True)

    assert ana.fingerprint == ben.fingerprint


@given(requests)
def test_only_a_scope_that_receives_public_documents_depends_on_the_public_partition(
    request_: ScopeRequest,
) -> None:
    partitions = request_.scope.partitions

    assert partitions[0] == request_.tenant
    is_received = request_.receives_public and "public" in request_.names
    assert (PUBLIC in partitions[1:]) == is_received


@pytest.mark.parametrize("held", subsets("xy"))
def test_everything_is_the_union_of_all_scopes(held: tuple[str, ...]) -> None:
    whole = everything("acme", "ana", held, receives_public=True)
    parts = [resolve("acme", "ana", held, [name]) for name in SCOPE_NAMES]

    for owner, readers in EVERY_DOCUMENT:
        assert whole.admits(owner, readers) == any(part.admits(owner, readers) for part in parts)


def test_a_document_shows_through_the_first_of_its_scopes_and_a_stranger_s_through_public() -> None:
    for subject, held, asked in product(["ana", "ben"], subsets("xy"), subsets(SCOPE_NAMES)):
        scope = resolve("acme", subject, held, asked, receives_public=True)
        by_name = {name: resolve("acme", subject, held, [name]) for name in SCOPE_NAMES}
        for owner, readers in EVERY_DOCUMENT:
            tokens = (*readers, *([] if owner is None else [f"owner:{owner}"]))
            first = next(
                (
                    name
                    for name in SCOPE_NAMES
                    if name in asked and by_name[name].admits(owner, readers)
                ),
                None,
            )
            if first is not None:
                assert scope.name_of("acme", tokens) == first
            assert scope.name_of("globex", tokens) == "public"

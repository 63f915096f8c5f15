"""Scopes with equal sights see the same, whatever tokens they hold; the others do not."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.model.sight import sight_digest
from tests.index.support.samples import subsets

Audience: TypeAlias = frozenset[str]
SightDigest: TypeAlias = Callable[[Scope, Iterable[Collection[str]], Collection[str]], bytes]

# Each owner with each set of readers, in a small world.
AUDIENCES = [
    frozenset({*readers, *owner})
    for owner, readers in product(
        [(), ("owner:ana",), ("owner:ben",), ("owner:eve",)],
        subsets(["user:ana", "user:ben", "group:x", "group:y", "tenant", "public"]),
    )
]
SCOPES = [
    resolve(tenant, subject, groups, names, receives_public=receives)
    for tenant, subject, groups, names, receives in product(
        ["acme", "beta"], ["ana", "ben"], subsets("xy"), subsets(SCOPE_NAMES), [True, False]
    )
]
scopes = st.sampled_from(SCOPES)
worlds = st.sets(st.sampled_from(AUDIENCES), max_size=6)
words = st.sets(st.sampled_from(["group:x", "group:y", "group:z"]))


def owner_of(audience: Audience) -> str | None:
    owners = [token.removeprefix("owner:") for token in audience if token.startswith("owner:")]
    return owners[0] if owners else None


def admitted(scope: Scope, audiences: Iterable[Audience]) -> list[Audience]:
    return [each for each in audiences if scope.admits(owner_of(each), each)]


def shown(scope: Scope, audiences: Iterable[Audience], words: Collection[str]) -> object:
    """All that an answer can depend on. Words of a group's documents correct its members' typos:
    those of now, and those that it gets before another audience comes.
    """
    names = {each: scope.name_of(scope.tenant, each) for each in admitted(scope, audiences)}
    may_have_words = frozenset(words).union(*names)
    groups = {token for token in {*scope.grants, *scope.shared} if token.startswith("group:")}
    return scope.tenant, scope.public, groups & may_have_words, names


def tells_apart(
    digest: SightDigest,
    one: Scope,
    other: Scope,
    world: Iterable[Audience],
    words: Collection[str] = (),
) -> bool:
    """Whether the digest is equal exactly if both see the same of this world."""
    digests = [digest(scope, admitted(scope, world), words) for scope in (one, other)]
    return (digests[0] == digests[1]) == (shown(one, world, words) == shown(other, world, words))


@given(scopes, scopes, worlds, words)
def test_sights_are_equal_exactly_if_the_scopes_see_the_same(
    one: Scope, other: Scope, world: set[Audience], words: set[str]
) -> None:
    assert tells_apart(sight_digest, one, other, world, words)


def of_others_documents(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    return sight_digest(scope, (each for each in audiences if scope.owner not in each), words)


def without_names(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    admitted = [frozenset(each) for each in audiences]
    tenant = f"{scope.tenant} {sorted(map(sorted, admitted))} {scope.public}"
    named = frozenset(words).union(*admitted)
    return sight_digest(replace(scope, tenant=tenant, public=False), (), named)


def without_strangers(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    return sight_digest(replace(scope, public=False), audiences, words)


def without_groups(
    scope: Scope, audiences: Iterable[Collection[str]], words: Collection[str]
) -> bytes:
    grants, shared = (
        tuple(token for token in tokens if not token.startswith("group:"))
        for tokens in (scope.grants, scope.shared)
    )
    return sight_digest(replace(scope, grants=grants, shared=shared), audiences, words)


@pytest.mark.parametrize(
    "mutant", [of_others_documents, without_names, without_strangers, without_groups]
)
def test_what_a_sight_leaves_out_would_be_noticed(mutant: SightDigest) -> None:
    worlds_of_one: list[list[Audience]] = [[audience] for audience in AUDIENCES]
    asking = [scope for scope in SCOPES if scope.tenant == "acme"][::3]

    assert not all(
        tells_apart(mutant, one, other, world)
        for one, other, world in product(asking[:24], asking[:24], worlds_of_one[::5])
    )


def test_colleagues_of_equal_groups_see_the_same() -> None:
    world = [frozenset({"group:x"}), frozenset({"tenant", "owner:eve"})]
    ana = resolve("acme", "ana", ["x"], SCOPE_NAMES)
    ben = resolve("acme", "ben", ["x"], SCOPE_NAMES)

    assert ana.fingerprint != ben.fingerprint
    assert sight_digest(ana, admitted(ana, world), ()) == sight_digest(
        ben, admitted(ben, world), ()
    )


def test_a_group_that_admits_nothing_and_has_no_words_changes_nothing() -> None:
    world = [frozenset({"group:x"})]
    ana = resolve("acme", "ana", ["x"], SCOPE_NAMES)
    ben = resolve("acme", "ben", ["x", "y"], SCOPE_NAMES)

    assert sight_digest(ana, world, ["group:x"]) == sight_digest(ben, world, ["group:x"])
    assert sight_digest(ana, world, ["group:y"]) != sight_digest(ben, world, ["group:y"])


def test_no_token_is_taken_for_two() -> None:
    ana = resolve("acme", "ana", ["a", 'a","group:b'], SCOPE_NAMES)

    assert sight_digest(ana, [{"group:a", "group:b"}], ()) != sight_digest(
        ana, [{'group:a","group:b'}], ()
    )


def test_no_sight_equals_a_fingerprint() -> None:
    assert len(sight_digest(SCOPES[0], [], ())) != len(SCOPES[0].fingerprint)

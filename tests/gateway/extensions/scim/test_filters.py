"""The grammar of SCIM's filters and paths, and what they mean for a user."""

from datetime import UTC, datetime

import pytest

from gateway.extensions.scim.attributes import OF_USERS, user_values
from gateway.extensions.scim.filters.filter_grammar import (
    FILTER_CHARACTERS_MAX,
    AnyValue,
    AttributeExpression,
    Path,
    parse_filter,
    parse_path,
)
from gateway.extensions.scim.filters.filter_predicates import compile_filter
from gateway.extensions.scim.scim_schemas import USER
from gateway.extensions.scim.user_provisioning import ProvisionedUser, UserAttributes, UserEmail
from gateway.problems.problems import Problem

EMAILS = (UserEmail("Ana@acme.example", "work", is_primary=True), UserEmail("a@home.example"))
ANA = ProvisionedUser(
    "u-1",
    UserAttributes("ana", "Ana@acme.example", None, 'Ana "A" (B)', is_active=True, emails=EMAILS),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    updated_at=datetime(2026, 3, 1, tzinfo=UTC),
)


def is_met(text: str) -> bool:
    return compile_filter(parse_filter(text), USER, OF_USERS)(user_values(ANA))


@pytest.mark.parametrize(
    "text",
    [
        'userName eq "ANA@acme.example"',
        "USERNAME EQ ana@acme.example",
        f'{USER}:userName sw "ana@"',
        'userName co "acme" and userName ew ".EXAMPLE"',
        'id eq "u-1" or id eq "u-2" and active eq false',
        '(id eq "x" or id eq "u-1") and active eq true',
        'not(id eq "x") and not (active eq "False")',
        "userName pr and not (externalId pr)",
        "externalId eq null and id ne null",
        'externalId ne "x"',
        r'displayName eq "ana \"a\" (b)"',
        r'displayName co "\u0041na"',
        'emails eq "a@home.example"',
        'emails.value eq "A@home.example"',
        'emails[type eq "work" and primary eq true].value eq "ana@acme.example"',
        'emails[type eq "work" or value co "nowhere"]',
        "emails pr and emails[not (type pr)]",
        'userName gt "ana" and userName le "anb"',
        'meta.lastModified gt "2026-02-01T00:00:00Z"',
        "meta.created lt 2026-01-01T01:00:00+00:30",
        'meta.resourceType eq "User"',
        'meta.resourceType eq "User" and not (name.givenName pr)',
        'name.familyName ne "Silva" and userName sw "ana"',
        'name.givenName sw "A" or id eq "u-1"',
        f'{USER}:name.familyName ne "x"',
        'title ne "Head" and not (phoneNumbers pr)',
        "nickName eq null and locale eq null",
        '  ( ( id  eq  "u-1" ) )  ',
    ],
)
def test_a_filter_that_holds(text: str) -> None:
    assert is_met(text)
    assert not is_met(f"not ({text})")


@pytest.mark.parametrize(
    "text",
    [
        'id eq "U-1"',
        'userName eq "ana"',
        'emails[type eq "work" and value sw "a@home"]',
        'emails[type eq "home"].value eq "a@home.example"',
        'externalId sw ""',
        'externalId eq "null"',
        'meta.resourceType eq "Group"',
        'meta.resourceType eq "user"',
        'name.givenName eq "Ana"',
        'name.familyName co ""',
        "name.formatted pr",
        'phoneNumbers[type eq "work"].value eq "1"',
        'title eq "Head" and id eq "u-1"',
        'active eq true and id eq "u-1" and userName eq "%"',
        "userName sw _na",
        'userName eq "\' OR true --"',
    ],
)
def test_a_filter_that_does_not_hold(text: str) -> None:
    assert not is_met(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "userName",
        "userName eq",
        'userName is "a"',
        'userName eq "a',
        r'userName eq "\x"',
        r'userName eq "\u0000"',
        'userName eq "a" and',
        'userName eq "a" userName pr',
        'not userName eq "a"',
        '(userName eq "a"',
        'emails[type eq "work"',
        'emails[type eq "work"].value',
        'userName[value eq "a"]',
        "active gt true",
        "active eq 2",
        "active co true",
        "userName gt null",
        "meta.created sw 2026",
        "meta.created gt yesterday",
        "meta.created gt 2026-01-01T00:00:00",
        "meta eq 1",
        "password pr",
        "name.password pr",
        "meta.version pr",
        "name eq 1",
        "emails.password pr",
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:userName eq "a"',
        "(" * 50 + "id pr" + ")" * 50,
        f'id eq "{"a" * FILTER_CHARACTERS_MAX}"',
    ],
)
def test_what_has_no_meaning_is_refused(text: str) -> None:
    with pytest.raises(Problem) as refused:
        is_met(text)

    assert refused.value.members == {"scimType": "invalidFilter"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("active", Path(None, "active", None, None)),
        ("Name.familyName", Path(None, "name", None, "familyname")),
        (f"{USER}:active", Path(USER.lower(), "active", None, None)),
        (
            'emails[Type eq "work"].Value',
            Path(None, "emails", AttributeExpression(None, "type", "eq", "work"), "value"),
        ),
        (
            "members[value eq a-1]",
            Path(None, "members", AttributeExpression(None, "value", "eq", "a-1"), None),
        ),
        (
            'members[value eq "]"]',
            Path(None, "members", AttributeExpression(None, "value", "eq", "]"), None),
        ),
        (
            'x[y.z eq "1"]',
            Path(None, "x", AnyValue(None, "y", AttributeExpression(None, "z", "eq", "1")), None),
        ),
    ],
)
def test_a_path_is_parsed(text: str, path: Path) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["", "a b", "members[", "members[]", "members]", "1a", "a.b.c"])
def test_a_path_without_meaning_is_refused(text: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_path(text)

    assert refused.value.members == {"scimType": "invalidPath"}

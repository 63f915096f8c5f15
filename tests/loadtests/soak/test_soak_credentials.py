from loadtests.soak.model.credentials import CredentialModel, IssuedCredential
from loadtests.workload.viewer import Viewer

ANA = Viewer("org", "ana")


def key(name: str = "key") -> IssuedCredential:
    return IssuedCredential(name, f"secret of {name}", ANA)


def test_a_rotated_key_works_until_its_overlap_may_be_over_and_not_once_it_is() -> None:
    old = key()

    old.end(10.0 + 2, 11.0 + 2, "rotated")

    assert old.standing(11.0, 11.5) == "works"
    assert old.standing(12.5, 12.6) == "may work"
    assert old.standing(13.2, 13.3) == "ended"


def test_a_token_ends_with_each_of_its_ancestors() -> None:
    old = key()
    token = IssuedCredential("token", "secret", ANA, old)
    narrower = IssuedCredential("narrower", "secret", ANA, token)

    old.end(10.0, 11.0, "rotated")

    assert narrower.standing(9.0, 9.5) == "works"
    assert narrower.standing(11.2, 11.3) == "ended"
    assert narrower.reasons(11.2) == ["key rotated"]


def test_a_holder_whose_key_is_replaced_keeps_none_of_its_tokens() -> None:
    old, new = key("old"), key("new")
    credentials = CredentialModel({("org", "ana"): old})
    token = IssuedCredential("token", "secret", ANA, old)
    credentials.add_token(("org", "ana"), token)

    credentials.replace_key(("org", "ana"), new)

    assert list(credentials.ended) == [old, token]
    assert credentials.current(new) is new
    assert credentials.current(token) is None


def test_what_a_lost_history_has_issued_is_refused() -> None:
    credentials, lost = (
        CredentialModel({("org", "ana"): key()}),
        CredentialModel({("org", "ana"): key("later")}),
    )

    credentials.void(lost, 10.0)

    (void,) = credentials.ended
    assert (void.key_id, void.standing(10.1, 10.2)) == ("later", "ended")

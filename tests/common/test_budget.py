"""Amounts that tenants share, and that are refused at once."""

from common.shares.budget import FairBudget


def test_a_tenant_takes_no_more_than_its_own_limit_and_leaves_the_rest_to_others() -> None:
    budget = FairBudget(total_max=10, tenant_max=4)

    assert budget.take("acme", 4) is None
    assert budget.take("acme") == "tenant"
    assert budget.take("beta", 4) is None


def test_all_together_take_no_more_than_there_is() -> None:
    budget = FairBudget(total_max=5, tenant_max=4)
    budget.take("acme", 4)

    assert budget.take("beta", 2) == "all"
    assert budget.take("beta") is None


def test_what_is_given_back_can_be_taken_again() -> None:
    budget = FairBudget(total_max=4, tenant_max=4)
    budget.take("acme", 4)

    budget.give_back("acme", 3)

    assert budget.take("beta", 3) is None
    assert budget.take("beta") == "all"


def test_what_has_no_tenant_is_limited_with_all_others_only() -> None:
    budget = FairBudget(total_max=5, tenant_max=1)

    assert budget.take("", 4) is None
    assert budget.take("", 2) == "all"

import pytest


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """A gateway loads its embedders before its loop runs, a test within its own."""

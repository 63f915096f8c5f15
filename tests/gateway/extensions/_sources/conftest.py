"""An index for what reads into it, the fixtures of the index's own tests."""

import pytest

from tests.index.conftest import *  # noqa: F403  the fixtures


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """These tests open folders on the event loop, as a command does."""

"""An index for what reads into it: fixtures of the index's own tests, to take by `import *`."""

import pytest

from tests.index.conftest import *  # noqa: F403  the fixtures


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """These tests open folders on the event loop, as a command does."""

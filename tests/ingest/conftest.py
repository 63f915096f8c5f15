"""An index for the write path, the fixtures of the index's own tests."""

from tests.index.conftest import *  # noqa: F403  the fixtures

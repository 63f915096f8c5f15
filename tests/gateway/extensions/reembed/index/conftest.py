"""An index for what reads into it."""

from tests.gateway.support.index_fixtures import *  # noqa: F403  the fixtures

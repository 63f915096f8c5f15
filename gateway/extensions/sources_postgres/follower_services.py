"""What following sources, and waiting for them, use."""

from dataclasses import dataclass

from gateway.extensions.sources_postgres.follower import FollowerParts
from gateway.extensions.sources_postgres.followers import Followers
from gateway.extensions.sources_postgres.position_watcher import PositionWatcher


@dataclass(frozen=True, slots=True)
class FollowerServices:
    parts: FollowerParts
    followers: Followers
    watcher: PositionWatcher

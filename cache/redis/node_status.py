"""The state of each Redis process, as `nearhit status` and the metrics show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from cache.errors import CacheUnavailable
from cache.redis import permissions
from cache.redis.node import RedisNode

_MEMORY = "+info|memory"


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """What a node says of itself; if it did not answer, the reason.

    slots: None if Redis is not a cluster. memory_bytes_max: 0 for no limit.
    missing_rules: of an ACL, without which the cache does not work.
    """

    node: str
    slots: int | None
    eviction_policy: str = ""
    memory_bytes: int = 0
    memory_bytes_max: int = 0
    failure: str = ""
    missing_rules: Sequence[str] = ()


async def node_status(
    node: RedisNode, slots: int | None, *, probed_key: str, key_pattern: str
) -> NodeStatus:
    """probed_key: which calls name that find out what the user may do."""
    try:
        missing = await node.run_apart(
            lambda client: permissions.missing_rules(
                client, probed_key, key_pattern, is_cluster=slots is not None
            )
        )
        if missing:
            needed = [rule for rule in missing if rule != _MEMORY]
            detail = permissions.describe(missing)
            return NodeStatus(node.name, slots, failure=detail, missing_rules=needed)
        memory = await node.run_apart(lambda client: client.info("memory"))
    except CacheUnavailable as failure:
        return NodeStatus(node.name, slots, failure=str(failure))
    policy, used, limit = (
        memory[name] for name in ("maxmemory_policy", "used_memory", "maxmemory")
    )
    return NodeStatus(node.name, slots, str(policy), int(used), int(limit))

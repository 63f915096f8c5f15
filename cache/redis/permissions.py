"""Which commands the user of Redis has to be allowed, and whether it is.

Redis names its process in `INFO server` alone, and no state can do without: see `scripts/run.lua`.
"""

import re
from collections.abc import Mapping, Sequence

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

# By the name in a rule of an ACL, a call that leaves nothing behind: the last ones remove what one
# writes, and most others name a value of a wrong form. Redis looks at permissions first.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "eval": ("EVAL", "return 1", "0"),
    "evalsha": ("EVALSHA", "0" * 40, "0"),
    "info|server": ("INFO", "server"),
    "info|memory": ("INFO", "memory"),
    "get": ("GET", "{key}"),
    "set": ("SET", "{key}", "", "PX", "0"),
    "getrange": ("GETRANGE", "{key}", "0", "0"),
    "exists": ("EXISTS", "{key}"),
    "object|idletime": ("OBJECT", "IDLETIME", "{key}"),
    "scan": ("SCAN", "0", "COUNT", "0"),
    "time": ("TIME",),
    "hmget": ("HMGET", "{key}", "field"),
    "hset": ("HSET", "{key}", "field", ""),
    "zadd": ("ZADD", "{key}", "none", "member"),
    "zcard": ("ZCARD", "{key}"),
    "zincrby": ("ZINCRBY", "{key}", "none", "member"),
    "zrandmember": ("ZRANDMEMBER", "{key}"),
    "zrange": ("ZRANGE", "{key}", "0", "0"),
    "zrem": ("ZREM", "{key}", "member"),
    "zscore": ("ZSCORE", "{key}", "member"),
    "pexpire": ("PEXPIRE", "{key}", "1"),
    "del": ("DEL", "{key}"),
    "unlink": ("UNLINK", "{key}"),
}
# Of a cluster only, and `SELECT` only of a URL that names a database other than 0.
CLUSTER_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "asking": ("ASKING",),
    "cluster|slots": ("CLUSTER", "SLOTS"),
}

# How scripts say it; calls outside them raise `NoPermissionError`.
_REFUSED_COMMAND = re.compile(r"to run the '([^']+)' command")
_REFUSED_IN_SCRIPT = ("ACL failure in script", "The user executing the script can't")


async def missing_rules(
    client: Redis, key: str, pattern: str, *, is_cluster: bool
) -> Sequence[str]:
    """The rules of an ACL that the client's user lacks, such as `+info|server`.

    key: that the calls name; pattern: of the keys that the user has to reach. Raises `RedisError`.
    """
    commands = {**COMMANDS, **CLUSTER_COMMANDS} if is_cluster else COMMANDS
    pipeline = client.pipeline(transaction=False)
    for words in commands.values():
        pipeline.execute_command(*(word.replace("{key}", key) for word in words))
    replies = await pipeline.execute(raise_on_error=False)
    refused = {
        rule: str(reply)
        for rule, reply in zip(commands, replies, strict=True)
        if isinstance(reply, NoPermissionError)
    }
    rules = [f"+{rule}" for rule, reason in refused.items() if " run " in reason]
    return rules if len(rules) == len(refused) else [*rules, f"~{pattern}"]


def describe(rules: Sequence[str]) -> str:
    """What a user without these rules may not do, and how it is allowed."""
    commands = dict.fromkeys(rule[1:].partition("|")[0].upper() for rule in rules if rule[0] == "+")
    lacks = [f"run {', '.join(commands)}"] if commands else []
    lacks += [f"reach the keys {rule[1:]}" for rule in rules if rule[0] == "~"]
    return f"its user may not {' or '.join(lacks)}: ACL SETUSER … {' '.join(rules)}"


def refusal(error: RedisError | OSError) -> str:
    """What Redis says if it refuses the login, or its user lacks a permission; else empty."""
    login = error if isinstance(error, AuthenticationError) else error.__cause__  # of the driver
    if isinstance(login, AuthenticationError):
        return f"authentication failed: {login}"
    text = str(error)
    is_refusal = isinstance(error, NoPermissionError) or (
        isinstance(error, ResponseError) and text.startswith(_REFUSED_IN_SCRIPT)
    )
    if not is_refusal:
        return ""
    command = _REFUSED_COMMAND.search(text)
    return f"{text}: ACL SETUSER … +{command[1]}" if command else text

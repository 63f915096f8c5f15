import pytest

from cache.redis import redis_url
from cache.redis.slot_map import Address, SlotMap, SlotRange, parse_slots
from common.circuit_breaker import REDIS, CircuitBreaker


def node_urls(url: str) -> list[str]:
    cluster = redis_url.parse_cluster_url(url)
    assert cluster is not None
    return [cluster.node_url(seed) for seed in cluster.seeds]


@pytest.mark.parametrize(
    "url", ["redis://cache:6379/0", "rediss://cache", "unix:///run/redis?db=0"]
)
def test_the_url_of_one_server_names_no_cluster(url: str) -> None:
    assert redis_url.parse_cluster_url(url) is None


def test_a_url_names_some_nodes_of_a_cluster_with_the_default_port() -> None:
    assert node_urls("redis+cluster://one:7000,two") == ["redis://one:7000", "redis://two:6379"]


def test_every_node_takes_the_credentials_the_options_and_tls() -> None:
    url = "rediss+cluster://me:a%2Fb@one:1,[::1]:2/?ssl_ca_certs=ca.pem"

    assert node_urls(url) == [
        "rediss://me:a%2Fb@one:1?ssl_ca_certs=ca.pem",
        "rediss://me:a%2Fb@[::1]:2?ssl_ca_certs=ca.pem",
    ]


@pytest.mark.parametrize("end", ["/0", "/3", "?db=1", "/?db=0"])
def test_a_cluster_has_no_numbered_databases(end: str) -> None:
    with pytest.raises(ValueError, match="no numbered databases"):
        redis_url.parse_cluster_url(f"redis+cluster://one:7000{end}")


@pytest.mark.parametrize(
    "url",
    [
        "nonsense-hush",
        "hush://one",
        "redis+cluster://",
        "redis+cluster://:hush@",
        "redis+cluster://me:hush@one,me:hush@two",
        "redis+cluster://me:hush@one:7000,,two",
        "redis+cluster://me:hush@one:port",
        "redis+cluster://me:hush@one:70000",
        "redis+cluster://me:hush@[one",
        "redis+cluster://me:hu/sh@one:7000",
        "redis+cluster://me:hush@one?socket_timeout=hush",
        "redis://me:hush@one:hush",
        "redis://me:hu/sh@one:7000",
    ],
)
@pytest.mark.anyio
async def test_another_form_is_refused_without_repeating_the_url(url: str) -> None:
    opening = redis_url.open_nodes(url, lambda: CircuitBreaker(float, REDIS), budget_s=1.0)

    with pytest.raises(ValueError) as refusal:  # noqa: PT011  its text is what is tested
        await opening.__aenter__()

    assert "hu" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_a_node_leaves_its_own_host_empty_and_may_not_know_anothers() -> None:
    reply = [
        [0, 99, [b"", 7000, b"id", []], [b"replica", 7003, b"id", []]],
        [100, 199, [None, 7001, b"id", []]],
        [200, 299, [b"?", 7002, b"id", []]],
        [300, 399, [b"other", 7002, b"id", []]],
    ]

    assert parse_slots(reply, Address("asked", 1)) == [
        SlotRange(0, 99, Address("asked", 7000)),
        SlotRange(100, 199, Address("asked", 7001)),
        SlotRange(300, 399, Address("other", 7002)),
    ]


def test_the_owner_of_a_key_is_that_of_its_hash_tag() -> None:
    one, other = Address("one", 1), Address("other", 1)
    slots = SlotMap([SlotRange(0, 8_191, one), SlotRange(8_192, 16_383, other)])

    assert slots.owner("a:{acme}:b") == slots.owner("{acme}") == slots.owner("c{acme}")
    slots.move(0, other)
    assert slots.owners == {one, other}

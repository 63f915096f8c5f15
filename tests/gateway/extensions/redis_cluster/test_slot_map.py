"""Which node owns a slot, as the nodes tell."""

from gateway.extensions.redis_cluster.slot_map import Address, SlotMap, SlotRange, parse_slots


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

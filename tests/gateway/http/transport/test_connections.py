"""Which connections give way at a limit, and which are refused."""

import pytest

from gateway.http.request.address import ClientAddresses
from gateway.http.transport.connections import RESERVE_MAX, ConnectionLimits, Connections


class FakeConnection:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.is_idle = True
        self.is_answering = False
        self.is_open = True
        self.was_used = False

    def begin_answer(self) -> None:
        self.is_idle, self.is_answering = False, True

    def end_late(self) -> None:
        self.abort()

    def abort(self) -> None:
        self.is_open = False
        self._connections.remove(self)


class Worker:
    """The connections of a worker whose limits are small."""

    def __init__(self, connections_max: int = 64, address_max: int = 1_000) -> None:
        limits = ConnectionLimits(1_000, 60.0, 60.0, connections_max, address_max, 1_000)
        addresses = ClientAddresses("10.9.9.9", "forwarded")
        self.connections = Connections(limits, addresses, lambda _: None)
        self.refused = 0

    def connect(self, tenant: str | None = None, address: str = "10.0.0.1") -> FakeConnection:
        """A new connection. tenant: of a key that it proves to have."""
        connection = FakeConnection(self.connections)
        if not self.connections.add(connection, address):
            self.refused += 1
        elif tenant is not None:
            self.connections.prove(connection, tenant)
        return connection


def count_open(connections: list[FakeConnection]) -> int:
    return sum(each.is_open for each in connections)


def test_one_tenant_with_all_connections_gives_way_to_many_new_ones_at_once() -> None:
    worker = Worker()
    greedy = [worker.connect("acme") for _ in range(64)]

    new = [worker.connect() for _ in range(8)]  # none of them has sent a byte yet
    for each in new:
        worker.connections.prove(each, "beta")

    assert worker.refused == 0
    assert count_open(new) == 8
    assert [each.is_open for each in greedy] == [False] * 8 + [True] * 56


def test_a_tenant_keeps_what_it_has_while_another_has_more() -> None:
    worker = Worker()
    small = [worker.connect("beta") for _ in range(10)]

    for _ in range(200):
        worker.connect("acme")

    assert count_open(small) == 10


def test_of_the_idle_connections_those_that_were_used_give_way_last() -> None:
    worker = Worker(connections_max=4)
    answering, used, idle, other = [worker.connect("acme") for _ in range(4)]
    answering.begin_answer()
    for each in (used, idle, other):
        each.was_used = each is used

    for open_after in ([used, other], [used], []):
        worker.connect("beta").begin_answer()

        assert answering.is_open
        assert [each for each in (used, idle, other) if each.is_open] == open_after


def test_a_used_connection_has_one_second_chance_of_each_use() -> None:
    worker = Worker(connections_max=2)
    first, second = [worker.connect("acme") for _ in range(2)]

    worker.connect("acme")
    assert (first.is_open, second.is_open) == (False, True)  # all were used: the first to come

    worker.connect("acme")
    assert not second.is_open


def test_slow_bodies_and_untaken_answers_give_way_if_no_connection_is_idle() -> None:
    worker = Worker(connections_max=4)
    neighbour = worker.connect("beta")
    slow = [worker.connect("acme") for _ in range(3)]
    for each in slow:
        each.is_idle = False

    worker.connect("gamma")

    assert count_open(slow) == 2
    assert neighbour.is_open


def test_a_connection_is_refused_only_while_all_others_answer_requests() -> None:
    worker = Worker(connections_max=4)
    connections = [worker.connect("acme") for _ in range(4)]
    for each in connections:
        each.begin_answer()

    worker.connect("beta")
    assert worker.refused == 1
    assert count_open(connections) == 4

    connections[2].is_answering = False
    worker.connect("beta")
    assert worker.refused == 1
    assert not connections[2].is_open


def test_more_unproven_connections_than_an_eighth_give_way_before_all_others() -> None:
    worker = Worker()
    proven = [worker.connect("acme") for _ in range(32)]

    unproven = [worker.connect() for _ in range(500)]

    assert count_open(proven) == 32
    assert [each.is_open for each in unproven[-32:]] == [True] * 32
    assert count_open(unproven) == 32


def test_tenants_behind_one_address_share_its_limit_in_the_same_way() -> None:
    worker = Worker(address_max=10)
    elsewhere = worker.connect("acme", "10.0.0.2")
    greedy = [worker.connect("acme") for _ in range(10)]

    new = worker.connect("beta")

    assert (new.is_open, elsewhere.is_open, worker.refused) == (True, True, 0)
    assert count_open(greedy) == 9


def test_a_trusted_proxy_has_no_limit_of_its_own() -> None:
    worker = Worker(address_max=2)

    proxied = [worker.connect("acme", "10.9.9.9") for _ in range(20)]

    assert count_open(proxied) == 20


def test_a_connection_that_ends_leaves_its_place() -> None:
    worker = Worker(connections_max=2, address_max=1)
    for _ in range(5):
        worker.connect("acme").abort()

    first, second = worker.connect("acme"), worker.connect("acme", "10.0.0.2")
    first.begin_answer()
    second.begin_answer()

    assert worker.refused == 0
    worker.connect()
    assert worker.refused == 1


def test_in_the_reserve_the_address_with_the_most_connections_gives_way() -> None:
    worker = Worker(connections_max=1)
    worker.connect("acme").begin_answer()
    probe = worker.connect(address="10.0.0.3")

    flood = [worker.connect(address="10.0.0.2") for _ in range(3 * RESERVE_MAX)]

    assert probe.is_open
    assert count_open(flood) == RESERVE_MAX - 1
    assert flood[-1].is_open


@pytest.mark.parametrize("is_released", [True, False])
def test_a_client_of_the_tenant_with_the_most_untaken_bytes_is_cut_off(
    *, is_released: bool
) -> None:
    worker = Worker()
    neighbour, *deaf = worker.connect("beta"), worker.connect("acme"), worker.connect("acme")
    worker.connections.hold_unsent(neighbour, 300)
    worker.connections.hold_unsent(deaf[0], 400)
    if is_released:
        worker.connections.release_unsent(deaf[0])

    worker.connections.hold_unsent(deaf[1], 400)

    assert [each.is_open for each in (neighbour, *deaf)] == [True, is_released, True]

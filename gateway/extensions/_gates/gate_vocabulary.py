"""The vocabulary of a query gate: the tenant's own, or the built-in one."""

import asyncio

from gateway.extensions._gates import query_gate
from gateway.extensions._gates.query_gate import GateWords
from gateway.extensions._gates.query_gate_store import QueryGateStore


async def gate_vocabulary(store: QueryGateStore, tenant: str, gate: str) -> GateWords | None:
    """None if the gate does not exist. Raises `DatabaseUnavailable`."""
    stored = await store.read(tenant, gate)
    if stored is not None:
        return query_gate.parse_stored(stored)
    return await default_gate(gate)


async def default_gate(gate: str) -> GateWords | None:
    """The vocabulary of a built-in gate; None if no built-in gate has this name."""
    if gate not in query_gate.BUILT_IN:
        return None
    return await asyncio.to_thread(query_gate.default_words, gate)

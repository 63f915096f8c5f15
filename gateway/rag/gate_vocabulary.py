"""The words of a query gate: a tenant's own, or the built-in ones."""

import asyncio

from gateway.rag import query_gate
from gateway.rag.query_gate import GateWords
from index.tenants.query_gate_store import QueryGateStore


async def gate_vocabulary(gates: QueryGateStore, tenant: str, gate: str) -> GateWords | None:
    """None if there is no such gate."""
    stored = await gates.read(tenant, gate)
    if stored is not None:
        return query_gate.parse_stored(stored)
    return await default_gate(gate)


async def default_gate(gate: str) -> GateWords | None:
    if gate not in query_gate.BUILT_IN:
        return None
    return await asyncio.to_thread(query_gate.default_words, gate)

"""What the curation of low-confidence questions, confidence thresholds and query gates uses."""

from dataclasses import dataclass

from gateway.settings import Settings
from gateway.stores import Stores
from index.search.confidence import ConfidenceStore
from index.tenants.curation import LowConfidenceStore
from index.tenants.query_gate_store import QueryGateStore
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class CurationServices:
    settings: Settings
    confidences: ConfidenceStore
    curation: LowConfidenceStore
    query_gates: QueryGateStore
    writer: Writer


def build(settings: Settings, stores: Stores, writer: Writer) -> CurationServices:
    return CurationServices(
        settings, stores.confidences, stores.low_confidence, stores.query_gates, writer
    )

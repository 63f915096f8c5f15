"""What the curation of questions, confidence thresholds and query gates uses."""

from dataclasses import dataclass

from gateway.recording.asked_question_log import AskedQuestionLog
from gateway.recording.low_confidence_log import LowConfidenceLog
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.search.confidence import ConfidenceStore
from index.tenants.asked_questions import AskedQuestionStore
from index.tenants.curation import LowConfidenceStore
from index.tenants.query_gate_store import QueryGateStore
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class CurationServices:
    settings: Settings
    confidences: ConfidenceStore
    curation: LowConfidenceStore
    low_confidence_log: LowConfidenceLog
    query_gates: QueryGateStore
    asked_questions: AskedQuestionStore
    asked_question_log: AskedQuestionLog
    writer: Writer


def build(
    settings: Settings,
    stores: Stores,
    low_confidence_log: LowConfidenceLog,
    asked_question_log: AskedQuestionLog,
    writer: Writer,
) -> CurationServices:
    return CurationServices(
        settings=settings,
        confidences=stores.confidences,
        curation=stores.low_confidence,
        low_confidence_log=low_confidence_log,
        query_gates=stores.query_gates,
        asked_questions=stores.asked_questions,
        asked_question_log=asked_question_log,
        writer=writer,
    )

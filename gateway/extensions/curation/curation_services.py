"""What the curation of questions, confidence thresholds and query gates uses."""

import time
from dataclasses import dataclass

from gateway.extension import LOW_CONFIDENCE_SUFFIX, LoggedAnswer, Services
from gateway.extensions._gates.query_gate_store import QueryGateStore
from gateway.extensions.curation.asked_questions.asked_question_log import AskedQuestionLog
from gateway.extensions.curation.asked_questions.asked_question_store import AskedQuestionStore
from gateway.extensions.curation.best_scores import BestScoreLog, BestScoreStore
from gateway.extensions.curation.low_confidence_log import LowConfidenceLog
from gateway.extensions.curation.low_confidence_store import LowConfidenceStore
from index.search.confidence import ConfidenceStore
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class CurationServices:
    """language: of documents that set none and whose text shows none."""

    language: str
    confidences: ConfidenceStore
    low_confidence: LowConfidenceStore
    low_confidence_log: LowConfidenceLog
    query_gates: QueryGateStore
    asked_questions: AskedQuestionStore
    asked_question_log: AskedQuestionLog
    best_scores: BestScoreStore
    best_score_log: BestScoreLog
    writer: Writer

    def watch(self, answer: LoggedAnswer) -> None:
        """Record the question and the best score of an answer, for a moment later."""
        query, body, count = answer.query, answer.served.body, len(answer.durations_s)
        tenant, outcome = answer.principal.tenant, answer.outcome
        if answer.principal.records_questions:
            self.asked_question_log.add(tenant, query.text, outcome, count)
        if outcome != "confident" and query.text and body.endswith(LOW_CONFIDENCE_SUFFIX):
            self.low_confidence_log.add(tenant, query.text, body, count)
        if query.fusion == "absolute":
            self.best_score_log.add(tenant, body, count)


def build(services: Services, *, items_max: int) -> CurationServices:
    stores, collect = services.stores, services.search.answer_log.tell
    low_confidence = LowConfidenceStore(stores.database)
    asked_questions = AskedQuestionStore(stores.database)
    best_scores = BestScoreStore(stores.database)
    return CurationServices(
        language=services.settings.language,
        confidences=stores.confidences,
        low_confidence=low_confidence,
        low_confidence_log=LowConfidenceLog(low_confidence, items_max=items_max, collect=collect),
        query_gates=QueryGateStore(stores.database),
        asked_questions=asked_questions,
        asked_question_log=AskedQuestionLog(asked_questions, time.time, collect=collect),
        best_scores=best_scores,
        best_score_log=BestScoreLog(best_scores, time.time, collect=collect),
        writer=services.documents.writer,
    )

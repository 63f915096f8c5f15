"""The calls around searches; see `gateway.calls`."""

from gateway import assists_wire, confidence, curation, gates, parameters, written
from gateway.exchange import Call, body_of

CALLS = (
    Call(
        "POST",
        "/v1/answer",
        written.post_answer,
        needs="reader",
        summary="An answer that a language model writes from what a search finds, with citations",
        body=assists_wire.AnswerBody,
        answer=assists_wire.WrittenAnswerAnswer,
        stream_type="text/event-stream",
        is_written=True,
    ),
    Call(
        "GET",
        "/v1/confidence",
        confidence.get_confidence,
        needs="admin",
        summary="What hits have to score for an answer to be sure, and what is said if none does",
        answer=assists_wire.ConfidenceAnswer,
    ),
    Call(
        "PUT",
        "/v1/confidence",
        confidence.put_confidence,
        needs="admin",
        summary="Set that, for all sources and for each; cached answers end",
        body=assists_wire.ConfidenceBody,
        body_bytes_max=body_of(262_144),
        answer=assists_wire.ConfidenceAnswer,
    ),
    Call(
        "GET",
        "/v1/curation",
        curation.list_curation,
        needs="admin",
        summary="Questions without a sure answer, the most frequent first; not who asked",
        answer=assists_wire.CurationAnswer,
        parameters={
            "cursor": parameters.cursor(r"^([0-9]{1,18}\.[0-9A-Za-z_]{1,64})?$"),
            "state": parameters.CURATION_STATE,
        },
    ),
    Call(
        "POST",
        "/v1/curation/{item_id}/resolve",
        curation.resolve_curation,
        needs="admin",
        summary="Answer such a question with a new document, or dismiss it",
        body=assists_wire.ResolveBody,
        body_bytes_max=body_of(262_144),
        answer=assists_wire.CurationItem,
    ),
    Call(
        "GET",
        "/v1/gates/{name}",
        gates.get_gate,
        needs="admin",
        summary="The words that decide which messages are questions for the documents",
        answer=assists_wire.GateAnswer,
    ),
    Call(
        "PUT",
        "/v1/gates/{name}",
        gates.put_gate,
        needs="admin",
        summary="Set them for the tenant; an empty body takes its own away",
        body=assists_wire.GateBody,
        body_bytes_max=body_of(262_144),
        answer=assists_wire.GateAnswer,
    ),
)

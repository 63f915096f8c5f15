"""Conversations of many sessions: the turns that answer questions, over HTTP at the defaults.

`locomo/locomo10.json` of DATA is the public set LoCoMo (CC BY-NC 4.0), or a part of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any, TypeAlias

import orjson

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index.measures import DEPTH
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, new_tenant

_RECALL = 0.72  # of the turns that answer a question
_SWAPPED = 5  # the category of questions about one speaker that another one's turns answer
_HOW = (
    "Recall@10 of the turns that answer a question, mean over the questions; a conversation a "
    "tenant. *Sessions:* written by `PUT /v1/conversations/{document_id}`. *Turns:* a document a "
    "turn, `SPEAKER: TEXT`, with the session's date as title."
)

Turns: TypeAlias = Mapping[tuple[str, int], str]  # by document and start, the set's name of a turn


def measure(run: Run) -> Section:
    conversations = orjson.loads((run.data / "locomo/locomo10.json").read_bytes())
    rows: dict[str, list[float]] = {"sessions": [], "turns": []}
    with service.nearhit() as gateway:
        recalls = {
            name: [
                recall
                for number, each in enumerate(run.sized(conversations, conversations[:1]))
                for recall in _recalls(gateway, f"{name}-{number}", each, write)
            ]
            for name, write in (("sessions", _put_sessions), ("turns", _put_turns))
        }
    for name, measured in recalls.items():
        for is_swapped in (False, True):
            rows[name].append(
                fmean(recall for swapped, recall in measured if swapped is is_swapped)
            )
    head = ("written as", "questions", "questions that swap the speakers")
    cells = [(name, *(f"{recall:.3f}" for recall in row)) for name, row in rows.items()]
    return Section("Conversations", f"{_HOW}\n\n{table(head, cells)}", {**rows}, [
        Bar("Recall@10 of sessions", rows["sessions"][0], at_least=_RECALL),
        Bar("Recall@10 of sessions, speakers swapped", rows["sessions"][1], at_least=_RECALL),
    ])  # fmt: skip


def _recalls(
    gateway: Any, name: str, conversation: dict[str, Any], write: Any
) -> Iterator[tuple[bool, float]]:
    """Of each question, whether it swaps the speakers, and the share of its turns found."""
    with new_tenant(gateway, name) as tenant:
        turns = write(tenant, conversation["conversation"])
        for question in conversation["qa"]:
            answers = set(question["evidence"])
            if answers and answers <= set(turns.values()):  # a few name no turn
                hits = tenant.search(question["question"], top_k=DEPTH)
                found = {turns[hit["document_id"], hit["start"]] for hit in hits}
                yield question["category"] == _SWAPPED, len(answers & found) / len(answers)


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[dict[str, str]]]]:
    """The time and the turns of each."""
    for number in range(1, len(conversation)):
        if turns := conversation.get(f"session_{number}"):
            yield conversation[f"session_{number}_date_time"], turns


def _put_sessions(tenant: TenantClient, conversation: Mapping[str, Any]) -> Turns:
    names: dict[tuple[str, int], str] = {}
    for number, (time, turns) in enumerate(_sessions(conversation)):
        at = datetime.strptime(time, "%I:%M %p on %d %B, %Y").isoformat()  # noqa: DTZ007  as told
        said = [{"speaker": turn["speaker"], "text": turn["text"]} for turn in turns]
        body = {"at": at, "turns": said, "language": "en"}
        tenant.client.put(f"/v1/conversations/{number}", json=body).raise_for_status()
        stored = tenant.client.get(f"/v1/documents/{number}?chunks=true").json()
        for chunk, turn in zip(stored["chunks"], turns, strict=True):
            names[str(number), chunk["start"]] = turn["dia_id"]
    return names


def _put_turns(tenant: TenantClient, conversation: Mapping[str, Any]) -> Turns:
    turns = [(time, turn) for time, turns in _sessions(conversation) for turn in turns]
    tenant.put([
        {"document_id": turn["dia_id"], "title": time, "text": f"{turn['speaker']}: {turn['text']}",
         "language": "en"} for time, turn in turns
    ])  # fmt: skip
    return {(turn["dia_id"], 0): turn["dia_id"] for _, turn in turns}

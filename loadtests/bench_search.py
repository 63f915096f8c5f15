"""How fast exact hits are, as a share of what a bare Starlette app of the same bytes can do.

    python -m loadtests.bench_search [--seconds S] [--rounds N] [--connections C] [--json FILE]

Both run as one uvicorn worker on this machine and are driven in turns, so that the ratio holds
when the machine's speed drifts. The generator is the same process for both, and counts.
"""

import argparse
import json
import os
import platform
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import uvloop
from rich.console import Console
from rich.table import Table

from loadtests import service
from loadtests.closed_loop import Outcome, Request, drive

_BAR = 0.5  # the share that exact hits have to reach
_DOCUMENTS = 200
_QUESTION = {"query": "how many days of leave does team 17 get?"}


@dataclass(frozen=True, slots=True)
class Row:
    """What one server did in one round."""

    server: str
    outcome: Outcome


def main() -> None:
    arguments = _arguments()
    console = Console()
    with ExitStack() as stack:
        admin_key = f"nh_{secrets.token_urlsafe(32)}"
        url = stack.enter_context(service.nearhit(admin_key))
        key = _prepare(url, admin_key)
        answer = _ask(url, key, _QUESTION).content
        bare_url = stack.enter_context(service.bare(answer))
        cases = {
            "bare": _request(bare_url, key, _QUESTION),
            "exact": _request(url, key, _QUESTION),
            "exact, 1 s stale": _request(url, key, _QUESTION | {"max_staleness_ms": 1000}),
        }
        rows = _rounds(cases, arguments)
    summary = _summary(rows)
    _show(console, summary, arguments)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(_report(summary, arguments), indent=2))
    ratio = summary["exact"]["ratio"]
    console.print(f"exact hits reach {ratio:.2f} of the bare app; the bar is {_BAR}")
    raise SystemExit(0 if ratio >= _BAR else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--json", help="file to write the results to")
    return parser.parse_args()


def _prepare(url: str, admin_key: str) -> str:
    """A tenant with documents; returns a key of it."""
    headers = {"Authorization": f"Bearer {admin_key}"}
    with httpx2.Client(base_url=url, timeout=60) as client:
        client.post("/v1/tenants", json={"id": "bench"}, headers=headers).raise_for_status()
        body = {"tenant": "bench", "subject": "agent"}
        key: str = client.post("/v1/keys", json=body, headers=headers).json()["key"]
        lines = "\n".join(json.dumps(_document(number)) for number in range(_DOCUMENTS))
        client.post(
            "/v1/documents/batch", content=lines, headers={"Authorization": f"Bearer {key}"}
        ).raise_for_status()
    return key


def _document(number: int) -> dict[str, Any]:
    text = (
        f"# Team {number}\n\nTeam {number} gets {number % 20 + 10} days of leave. "
        "Leave is asked for two weeks ahead, and what is left over at the end of the year is kept "
        "until March. Whoever is ill on a day of leave gets the day back."
    )
    return {"document_id": f"team-{number}", "text": text}


def _ask(url: str, key: str, question: dict[str, Any]) -> httpx2.Response:
    """The answer, cached from now on."""
    headers = {"Authorization": f"Bearer {key}"}
    for _ in range(2):
        answer = httpx2.post(f"{url}/v1/search", json=question, headers=headers, timeout=60)
        answer.raise_for_status()
    assert "; hit" in answer.headers["cache-status"]
    return answer


def _request(url: str, key: str, question: dict[str, Any]) -> Request:
    return Request(f"{url}/v1/search", json.dumps(question).encode(), key)


def _rounds(cases: dict[str, Request], arguments: argparse.Namespace) -> list[Row]:
    rows = []
    for number in range(arguments.rounds + 1):
        for server, request in cases.items():
            driving = drive(request, connections=arguments.connections, seconds=arguments.seconds)
            outcome = uvloop.run(driving)
            if number > 0:  # the first round warms up
                rows.append(Row(server, outcome))
    return rows


def _summary(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Medians over the rounds; `ratio` is to the bare app's turn of the same round."""
    by_server: dict[str, list[Outcome]] = {}
    for row in rows:
        by_server.setdefault(row.server, []).append(row.outcome)
    bare = by_server["bare"]
    return {
        server: {
            "requests_per_second": median(outcome.per_second for outcome in outcomes),
            "p50_ms": median(outcome.percentile_ms(0.5) for outcome in outcomes),
            "p99_ms": median(outcome.percentile_ms(0.99) for outcome in outcomes),
            "ratio": median(
                outcome.per_second / yardstick.per_second
                for outcome, yardstick in zip(outcomes, bare, strict=True)
            ),
        }
        for server, outcomes in by_server.items()
    }


def _show(
    console: Console, summary: dict[str, dict[str, float]], arguments: argparse.Namespace
) -> None:
    table = Table(title=f"one worker, {arguments.connections} connections, closed loop")
    for name in ("", "requests/s", "P50 ms", "P99 ms", "of bare"):
        table.add_column(name, justify="right" if name else "left")
    for server, figures in summary.items():
        table.add_row(
            server,
            f"{figures['requests_per_second']:,.0f}",
            f"{figures['p50_ms']:.2f}",
            f"{figures['p99_ms']:.2f}",
            f"{figures['ratio']:.2f}",
        )
    console.print(table)


def _report(summary: dict[str, dict[str, float]], arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "arguments": vars(arguments),
        "results": summary,
    }


if __name__ == "__main__":
    main()

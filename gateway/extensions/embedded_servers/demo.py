"""`nearhit demo`: starts a gateway and shows searches of people with different rights.

Every call goes over HTTP to a separate process, as an agent's calls would.
"""

import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from pydantic import SecretStr
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from common.command_errors import CommandError
from gateway.extension import Settings
from gateway.extensions.embedded_servers import owned_servers, servers
from gateway.extensions.embedded_servers.owned_servers import Servers

_TENANT = "ostrelume"
_START_S_MAX = 60.0
_ADMIN, _ENGINEER, _LEADER = "ada", "ines", "sofia"
_DAYS = "how many days of annual leave do I get?"
_CODE = "what does ERR_1042 mean?"
_LICENCE = "quantos dias dura a licença parental em Recife?"
_SALARY = "salary band of a senior engineer"
# Asked before the first question that is shown, so that no latency contains a start.
_WARM_UP = (
    "how do I report a broken sensor?",
    "who approves travel?",
    "what is the on-call rotation?",
    "which tide gauges does the company sell?",
)
_WARM_UP_TIMES = 10
_COLUMNS_MAX = 100  # of a table: a pipe would have 200, of which a hit's line needs half
_LEAVE_DOCUMENT = "handbook/people/annual-leave.md"
_SALARY_DOCUMENT = "handbook/finance/salary-bands.md"

_NEXT_STEPS = """
Next steps
  [bold]{nearhit} serve --example[/]
                              serve on port 8080, with a curl line to paste;
                              the console is at http://127.0.0.1:8080/console
  [bold]{nearhit} ingest FOLDER[/]
                              ingest your own files
  [bold]{nearhit} search "QUESTION"[/]
                              search from the command line
"""


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question and its best hit; ms is the latency that the caller saw."""

    subject: str
    question: str
    document: str
    line: str
    tier: str
    ms: float


class DemoGateway:
    """A client of the running gateway, with a key for each person."""

    def __init__(self, client: httpx2.Client, admin_key: str) -> None:
        self._client = client
        self._keys = {"operator": admin_key}

    def call(self, subject: str, method: str, path: str, body: Any = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self._keys[subject]}"}
        return self._client.request(method, path, json=body, headers=headers).raise_for_status()

    def add_key(self, subject: str, groups: Sequence[str], roles: Sequence[str]) -> None:
        body = {"tenant": _TENANT, "subject": subject, "groups": groups, "roles": roles}
        self._keys[subject] = self.call("operator", "POST", "/v1/keys", body).json()["key"]

    def search(self, subject: str, question: str) -> DemoQuestion:
        started_s = time.perf_counter()
        answer = self.call(subject, "POST", "/v1/search", {"query": question})
        ms = (time.perf_counter() - started_s) * 1000
        hits = answer.json()["hits"]
        best = hits[0] if hits else {"document_id": "nothing", "text": ""}
        tier = "exact" if "; hit" in answer.headers["Cache-Status"] else "miss"
        line = _best_line(best["text"], question)
        return DemoQuestion(subject, question, best["document_id"], line, tier, ms)


def run(console: Console, package: str) -> None:
    """Run the demo, clean up and print the next steps. package: what `python -m` serves by."""
    with tempfile.TemporaryDirectory(prefix="nearhit-demo-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root, PostgreSQL runs as nobody and must enter it
        with owned_servers.own_servers(folder / "data") as running:
            console.print("PostgreSQL with pgvector and Valkey are running.")
            _ingest(console, running)
            with _serving(running, package) as gateway:
                _show_steps(console, gateway)
    console.print(_NEXT_STEPS.format(nearhit=escape(_own_command())), soft_wrap=True)


def _own_command() -> str:
    """What a shell starts this command by: its name, unless only uv has it on its path."""
    is_found = shutil.which("nearhit") and "UV" not in os.environ
    return "nearhit" if is_found else shlex.quote(sys.argv[0])


def _ingest(console: Console, running: Servers) -> None:
    started_s = time.perf_counter()
    settings = Settings(
        database_url=SecretStr(running.database_url), redis_url=SecretStr(running.redis_url)
    )
    report = servers.ingest_example(settings, _TENANT)
    console.print(
        f"Ingested the handbook of an invented company: {report.documents} documents, "
        f"{report.chunks_added} chunks, {time.perf_counter() - started_s:.1f} s.\n"
    )


@contextmanager
def _serving(running: Servers, package: str) -> Iterator[DemoGateway]:
    """Run a gateway in a separate process on a free port."""
    command = [sys.executable, "-m", package, "serve", "--port", "0"]
    variables = {
        "NEARHIT_DATABASE_URL": running.database_url,
        "NEARHIT_REDIS_URL": running.redis_url,
        "NEARHIT_ADMIN_KEY": secrets.token_urlsafe(),
        "NEARHIT_LOG_LEVEL": "error",
    }
    files = {f"{name}_FILE" for name in variables}  # each would be a second value
    environment = {name: value for name, value in os.environ.items() if name not in files}
    with subprocess.Popen(  # noqa: S603  our own command
        command, env=environment | variables, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            (url,) = re.findall(r"http://[^\s\"]+", process.stdout.readline())
            with httpx2.Client(base_url=url, timeout=_START_S_MAX) as client:
                client.get("/readyz").raise_for_status()
                yield DemoGateway(client, variables["NEARHIT_ADMIN_KEY"])
        finally:
            process.terminate()


def _warm_up(console: Console, gateway: DemoGateway) -> None:
    for number in range(_WARM_UP_TIMES):
        for subject in (_ENGINEER, _LEADER):
            for question in _WARM_UP:
                gateway.search(subject, question)
                gateway.search(subject, f"{question} {number}")
    console.print(
        f"Warmed up with {4 * _WARM_UP_TIMES * len(_WARM_UP)} other searches: a gateway's first "
        "ones take longer.\n"
    )


def _show_steps(console: Console, gateway: DemoGateway) -> None:
    gateway.add_key(_ADMIN, [], ["admin"])
    gateway.add_key(_ENGINEER, ["engineering"], ["reader"])
    gateway.add_key(_LEADER, ["leadership"], ["reader"])
    _warm_up(console, gateway)
    _show(
        console,
        f"Two people search. {_LEADER} is in the group leadership, {_ENGINEER} is not.",
        [
            gateway.search(_ENGINEER, _DAYS),
            gateway.search(_ENGINEER, _DAYS),
            gateway.search(_ENGINEER, _CODE),
            gateway.search(_ENGINEER, _LICENCE),
            gateway.search(_LEADER, _SALARY),
            gateway.search(_LEADER, _SALARY),
            gateway.search(_ENGINEER, _SALARY),
        ],
    )
    _edit(gateway)
    edited = [gateway.search(_ENGINEER, _DAYS), gateway.search(_ENGINEER, _DAYS)]
    _show(console, "An edit: 25 days of leave become 27. The old answer was cached.", edited)
    _check("27 days" in edited[0].line, "the edited document was not found at once")

    _revoke(gateway)
    revoked = [gateway.search(_LEADER, _SALARY)]
    _show(console, f"A revocation: {_LEADER} may no longer read the salary bands.", revoked)
    _check(revoked[0].document != _SALARY_DOCUMENT, "a revoked document was still shown")


def _edit(gateway: DemoGateway) -> None:
    path = f"/v1/documents/{_LEAVE_DOCUMENT}"
    document = gateway.call(_ADMIN, "GET", path).json()
    del document["document_id"]
    document["text"] = document["text"].replace("25 days", "27 days")
    gateway.call(_ADMIN, "PUT", path, document)


def _revoke(gateway: DemoGateway) -> None:
    readers = {"readers": ["group:people-team"]}
    gateway.call(_ADMIN, "PATCH", f"/v1/documents/{_SALARY_DOCUMENT}/access", readers)


def _check(is_ok: bool, failure: str) -> None:  # noqa: FBT001  reads as a sentence
    if not is_ok:
        raise CommandError(f"the demo failed: {failure}")


def _show(console: Console, title: str, questions: Sequence[DemoQuestion]) -> None:
    width = min(console.width, _COLUMNS_MAX)
    table = Table(title=title, title_justify="left", title_style="bold", width=width)
    table.add_column("who")
    table.add_column("question, and best hit", no_wrap=True, ratio=1)
    table.add_column("tier")
    table.add_column("ms", justify="right")
    for question in questions:
        document = escape(question.document.rpartition("/")[2])
        cell = f"{question.question}\n[dim]→[/] [cyan]{document}[/] {escape(question.line)}"
        table.add_row(question.subject, cell, question.tier, f"{question.ms:.1f}")
    console.print(table, "")


def _best_line(text: str, question: str) -> str:
    """The line of a hit that shares the most letters, in whole words, with the question."""
    question_words = _words(question)
    lines = [line.strip(" #*|-") for line in re.split(r"\n|(?<=[.!?]) ", text)]
    return max(lines, key=lambda line: sum(map(len, question_words & _words(line))), default="")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))

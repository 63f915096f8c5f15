"""Ask a gateway all that its description allows, and what it doesn't, as each role.

    python -m tests.fuzz [--examples N] [--role ROLE] [--phases PHASES] [--only CALL]

Exits with 1 if one of Schemathesis's checks fails; `schemathesis.toml` says which calls are let off
which check, and why. The seed is fixed. As many roles at once as the machine has cores ask the one
gateway, so the order of their requests differs between runs; the reader, the writer and the admin
each have a tenant of their own. The language model is a stub that always answers.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import httpx2
from anyio.from_thread import start_blocking_portal

from loadtests.servers import service
from tests.stub_openai import Mischief, Reply, Stream, chat, stub_openai

_CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
_PHASES = "examples,coverage,fuzzing,stateful"
_TENANTS = {"admin": "acme", "writer": "beta", "reader": "gamma"}  # of each role
_ROLES = ("nobody", "operator", *_TENANTS)
_UNCOUNTED = {
    "NEARHIT_KEY_REQUESTS_PER_S": "0",
    "NEARHIT_TENANT_REQUESTS_PER_S": "0",
    "NEARHIT_ADDRESS_FAILURES_PER_S": "0",
    "NEARHIT_LOG_LEVEL": "error",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a gateway all that its description allows.")
    parser.add_argument("--examples", type=int, default=5, help="of each call, as each role")
    parser.add_argument("--role", choices=_ROLES, help="this one alone")
    parser.add_argument("--phases", default=_PHASES, help="of Schemathesis (default: %(default)s)")
    parser.add_argument("--only", default="", help='calls whose name has this, such as "POST /mcp"')
    options = parser.parse_args()
    failed = []
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(stub_openai()) as stub,
        service.nearhit(_UNCOUNTED | _model(stub.url)) as made,
    ):
        stub.chat_answer = _said
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            runs = {
                pool.submit(_fuzz, made.url, key, options): role
                for role, key in _keys(made).items()
                if options.role in (None, role)
            }
            for run in as_completed(runs):
                print(f"as {runs[run]}\n{run.result().stdout}", flush=True)
                if run.result().returncode:
                    failed.append(runs[run])
    if failed:
        raise SystemExit(f"not as described: as {', '.join(failed)}")


def _model(url: str) -> dict[str, str]:
    return {"NEARHIT_CHAT_MODEL": "stub", "NEARHIT_CHAT_BASE_URL": url}


def _said(asked: str) -> Reply | Mischief | Stream:
    """An answer from documents is streamed; others are asked for whole."""
    if asked.startswith("<<<DOCUMENT"):
        return Stream(["25 days ", "[1]."])
    return chat("How many days are there?")


def _keys(made: service.Service) -> dict[str, str]:
    """A key of each role, each in a tenant that has a document."""
    keys = {"nobody": "nh_nobodys", "operator": made.admin_key}
    operator = {"Authorization": f"Bearer {made.admin_key}"}
    with httpx2.Client(base_url=made.url, headers=operator, timeout=30) as client:
        for role, tenant in _TENANTS.items():
            client.post("/v1/tenants", json={"id": tenant}).raise_for_status()
            keys[role] = _new_key(client, tenant, role)
            writer = {"Authorization": f"Bearer {_new_key(client, tenant, 'writer')}"}
            body = {"text": "Everybody gets 25 days.", "readers": ["tenant"]}
            client.put("/v1/documents/leave", json=body, headers=writer).raise_for_status()
    return keys


def _new_key(client: httpx2.Client, tenant: str, role: str) -> str:
    body = {"tenant": tenant, "subject": role, "roles": [role]}
    return str(client.post("/v1/keys", json=body).raise_for_status().json()["key"])


def _fuzz(url: str, key: str, options: argparse.Namespace) -> subprocess.CompletedProcess[str]:
    """The run of Schemathesis, with all that it printed as its stdout."""
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(_CONFIGURATION)),
        *("run", f"{url}/openapi.json", "--include-name-regex", re.escape(options.only)),
        *("--header", f"Authorization: Bearer {key}"),
        *("--mode", "all"),  # all checks too; named here they would run where they are let off
        *("--phases", options.phases, "--max-examples", str(options.examples)),
        *("--generation-deterministic", "--seed", "1"),
        *("--warnings", "off", "--no-color"),
    ]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "tests.fuzz.hooks", "PYTHONPATH": root}
    # It remembers in the working folder what has failed, and begins with that the next time.
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(  # noqa: S603  ours
            command,
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )


if __name__ == "__main__":
    main()

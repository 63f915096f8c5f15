"""Ask a gateway all that its description allows, and what it doesn't, as each role.

    python -m tests.fuzz [--examples N]

Exits with 1 if one of Schemathesis's checks fails; `schemathesis.toml` says which calls are let off
which check, and why. The seed is fixed: a second run asks the same. Its language model is a stub
that always answers.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2
from anyio.from_thread import start_blocking_portal

from loadtests.servers import service
from tests.stub_openai import Mischief, Reply, Stream, chat, stub_openai

_CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
_PHASES = "examples,coverage,fuzzing,stateful"
_UNCOUNTED = {
    "NEARHIT_KEY_REQUESTS_PER_S": "0",
    "NEARHIT_TENANT_REQUESTS_PER_S": "0",
    "NEARHIT_ADDRESS_FAILURES_PER_S": "0",
    "NEARHIT_LOG_LEVEL": "error",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a gateway all that its description allows.")
    parser.add_argument("--examples", type=int, default=5, help="of each call, as each role")
    examples = parser.parse_args().examples
    failed = []
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(stub_openai()) as stub,
        service.nearhit(_UNCOUNTED | _model(stub.url)) as made,
    ):
        stub.chat_answer = _said
        for role, key in _keys(made).items():
            print(f"as {role}", flush=True)
            if _fuzz(made.url, key, examples):
                failed.append(role)
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
    """A key of each role in a tenant that has a document."""
    operator = {"Authorization": f"Bearer {made.admin_key}"}
    keys = {"nobody": "nh_nobodys", "operator": made.admin_key}
    with httpx2.Client(base_url=made.url) as client:
        client.post("/v1/tenants", json={"id": "acme"}, headers=operator).raise_for_status()
        for role in ("reader", "writer", "admin"):
            body = {"tenant": "acme", "subject": role, "roles": [role]}
            answer = client.post("/v1/keys", json=body, headers=operator).raise_for_status()
            keys[role] = answer.json()["key"]
        writer = {"Authorization": f"Bearer {keys['writer']}"}
        body = {"text": "Everybody gets 25 days.", "readers": ["tenant"]}
        client.put("/v1/documents/leave", json=body, headers=writer).raise_for_status()
    return keys


def _fuzz(url: str, key: str, examples: int) -> int:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(_CONFIGURATION)),
        *("run", f"{url}/openapi.json"),
        *("--header", f"Authorization: Bearer {key}"),
        *("--mode", "all"),  # all checks too; named here they would run where they are let off
        *("--phases", _PHASES, "--max-examples", str(examples)),
        *("--generation-deterministic", "--seed", "1"),
        *("--warnings", "off", "--no-color"),
    ]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "tests.fuzz.hooks", "PYTHONPATH": root}
    # It remembers in the working folder what has failed, and begins with that the next time.
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, env=environment, cwd=folder, check=False).returncode  # noqa: S603  ours


if __name__ == "__main__":
    main()

"""The packages as their users have them: `make examples` builds them, and installs them apart."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.clients]

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "clients"
INSTALLED = ROOT / ".venv" / "clients"
QUESTION = "how many days of annual leave do I get?"
LEAVE = "Everybody gets 25 days of annual leave a year."
# Without a client of its own for asyncio, and with a filter of the call.
RETRIEVERS = """
import asyncio
from nearhit_client import Client
from nearhit_client.langchain import NearhitRetriever as LangChain
from nearhit_client.llamaindex import NearhitRetriever as LlamaIndex

question, tagged = "annual leave", {"filter": {"tags_any": ["people"]}}
chain = LangChain(client=Client(), search={"top_k": 5})
index = LlamaIndex(Client(), **tagged)
found = [
    chain.invoke(question, **tagged),
    asyncio.run(chain.ainvoke(question, **tagged)),
    [each.node for each in index.retrieve(question)],
    [each.node for each in asyncio.run(index.aretrieve(question))],
]
for documents in found:
    print(*[document.metadata["document_id"] for document in documents])
print(len(chain.invoke(question)))
"""
# Each has to be one for the compiler.
MISTAKES = """
import { Client } from "nearhit-client";
const nearhit = new Client({ url: "" });
// @ts-expect-error an unknown field
void nearhit.search({ query: "leave", topk: 3 });
// @ts-expect-error not a text
void nearhit.search({ query: 3 });
// @ts-expect-error a field that the answer does not have
void nearhit.search({ query: "leave" }).then((answer) => answer.results);
"""


class Terminal(NamedTuple):
    """Of a user who has installed the packages in an empty folder, and not the repository."""

    folder: Path
    variables: dict[str, str]

    async def run(self, program: str, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            cwd=self.folder,
            env=self.variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        assert process.returncode == 0, output
        return output


@pytest.fixture
def terminal(ana: Caller, tmp_path: Path) -> Terminal:
    (tmp_path / "node_modules").symlink_to(INSTALLED / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    programs = [INSTALLED / "bin", INSTALLED / "node_modules" / ".bin", os.environ["PATH"]]
    variables = {
        "PATH": ":".join(map(str, programs)),
        "NEARHIT_URL": str(ana.client.base_url),
        "NEARHIT_KEY": ana.key or "",
    }
    return Terminal(tmp_path, variables)


async def test_the_python_package_has_types_and_runs_an_example(
    ana: Caller, terminal: Terminal
) -> None:
    await ana.put("leave", LEAVE)
    script = str(EXAMPLES / "search_plan.py")

    found = await terminal.run("python", "-W", "error", script, "annual leave", "25 days")
    files = await terminal.run("pip", "show", "--files", "nearhit-client")

    assert found == f"leave {LEAVE}\n"
    assert {"nearhit_client/py.typed", "nearhit_client/types.py"} <= {*files.split()}


async def test_retrievers_of_frameworks_take_filters(ana: Caller, terminal: Terminal) -> None:
    await ana.put("leave", LEAVE, tags=["people"])
    await ana.put("other", "Annual leave elsewhere.")

    assert await terminal.run("python", "-c", RETRIEVERS) == "leave\n" * 4 + "2\n"


@pytest.mark.parametrize("name", ["langchain_retriever.py", "llamaindex_retriever.py"])
async def test_retrievers_of_frameworks_find_it(ana: Caller, terminal: Terminal, name: str) -> None:
    await ana.put("leave", LEAVE, language="en")
    await ana.put("ferias", LEAVE, language="pt")

    assert await terminal.run("python", str(EXAMPLES / name), QUESTION) == f"leave {LEAVE}\n"


async def test_the_typescript_package_is_compiled_against_and_runs_an_example(
    terminal: Terminal,
) -> None:
    shutil.copy(EXAMPLES / "typescript_client.ts", terminal.folder)
    options = "--module nodenext --target es2022 --strict"

    await terminal.run("tsc", *options.split(), "typescript_client.ts")
    output = await terminal.run("node", "typescript_client.js")

    assert output.splitlines() == [
        "search: team/leave Everybody gets 25 days of annual leave.",
        "plan: leave: team/leave days: team/leave",
        "event: 1 team/leave",
        "problem: 404 not-found",
    ]


async def test_the_types_of_the_typescript_package_refuse_what_the_api_refuses(
    terminal: Terminal,
) -> None:
    (terminal.folder / "types.ts").write_text(MISTAKES)

    await terminal.run("tsc", "--module", "nodenext", "--strict", "--noEmit", "types.ts")


async def test_the_typescript_client_sends_again_and_reads_streams(terminal: Terminal) -> None:
    for name in ("client.test.mjs", "retries.json"):
        shutil.copy(Path(__file__).parent / name, terminal.folder)

    output = await terminal.run("node", "--test", "client.test.mjs")

    assert "\n# fail 0\n" in output

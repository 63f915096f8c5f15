"""`NEARHIT_IDENTIFIER_CASE` and `nearhit migrate --merge-spellings`, in processes of their own."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.commands import (
    WAIT_S_MAX,
    environment_of,
    fails,
    without_settings,
)

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.isolated]


async def output(environment: dict[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        env=without_settings() | environment,
        stdout=PIPE,
        stderr=PIPE,
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def subjects(environment: dict[str, str]) -> list[str]:
    keys = json.loads(await output(environment, "key", "list", "--tenant", "acme", "--json"))
    return sorted(key["subject"] for key in keys)


async def test_a_deployment_keeps_the_case_until_its_operator_merges_the_spellings(
    settings: Settings, empty_url: str
) -> None:
    folding = environment_of(settings) | {"NEARHIT_DATABASE_URL": empty_url}
    keeping = folding | {"NEARHIT_IDENTIFIER_CASE": "keep"}
    await output(keeping, "tenant", "create", "acme")
    for subject in ("Ana", "ana"):
        await output(keeping, "key", "create", "--tenant", "acme", "--subject", subject)

    kept = await subjects(keeping)
    refusal = await fails(folding, "migrate")
    merged = await output(folding, "migrate", "--merge-spellings")
    back = await fails(keeping, "key", "list", "--tenant", "acme")

    assert kept == ["Ana", "ana"]
    assert "acme: the subject 'Ana' (keys), 'ana' (keys)" in refusal
    assert "--merge-spellings" in refusal
    assert merged == "applied identifiers\n"
    assert await subjects(folding) == ["ana", "ana"]
    assert "set it back to fold" in back

"""`NEARHIT_IDENTIFIER_CASE` and `nearhit migrate --merge-spellings`, in processes of their own."""

import json

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.commands import (
    environment_of,
    fails,
    process_output,
)

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.isolated]


async def output(environment: dict[str, str], *arguments: str) -> str:
    status, out, err = await process_output(environment, *arguments)
    assert status == 0, err
    return out


async def subjects(environment: dict[str, str]) -> list[str]:
    keys = json.loads(await output(environment, "key", "list", "--tenant", "acme", "--json"))
    return sorted(key["subject"] for key in keys)


@pytest.mark.thorough
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

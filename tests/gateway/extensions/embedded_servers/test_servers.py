"""What a first `nearhit serve` on embedded servers decides."""

import pytest

from gateway.extensions.embedded_servers import servers
from gateway.settings.settings import Settings


@pytest.mark.parametrize(("said", "runs_jobs"), [(None, True), ("true", True), ("false", False)])
def test_jobs_run_unless_the_operator_says_no(
    monkeypatch: pytest.MonkeyPatch, said: str | None, *, runs_jobs: bool
) -> None:
    monkeypatch.delenv("NEARHIT_SERVE_JOBS", raising=False)
    if said is not None:
        monkeypatch.setenv("NEARHIT_SERVE_JOBS", said)

    assert servers.runs_jobs(Settings()) is runs_jobs

"""The static model's files are all that is needed of `wordllama`."""

import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from index.embedders import static_model
from tests.gateway.support.commands import without_settings
from tests.packages import link_packages

ROOT = Path(__file__).parents[3]
EMBED = """
import asyncio
from index.embedders.static_embedder import StaticEmbedder
from ingest.chunkers import tokens
vector = asyncio.run(StaticEmbedder().embed_query("annual leave"))
print(len(vector), len(tokens.chunks("a b", 1, 0)))
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    return link_packages(tmp_path / "site-packages", without={"wordllama"})


def run(packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  our own
        [sys.executable, "-S", *arguments],
        env=without_settings() | {"PYTHONPATH": f"{packages}:{ROOT}"},
        capture_output=True,
        check=False,
        text=True,
    )


def test_the_embedders_of_a_process_share_a_table_that_nobody_can_change() -> None:
    table = static_model.load_table()

    assert static_model.load_table() is table
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1


@pytest.mark.thorough
@pytest.mark.slow
def test_a_machine_without_the_model_is_told_where_the_command_stands(packages: Path) -> None:
    done = run(packages, "-m", "gateway", "serve", "--port", "0")

    assert done.returncode == 1
    assert done.stderr.startswith("nearhit: the static model is not installed")
    assert "docs/operations/embedders.md" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_two_files_and_the_name_of_the_distribution_are_enough(packages: Path) -> None:
    metadata = Path(str(distribution("wordllama").locate_file("."))).glob("wordllama-*.dist-info")
    (source,) = metadata
    (packages / source.name).mkdir()
    shutil.copyfile(source / "METADATA", packages / source.name / "METADATA")
    for file in (static_model.weights(), static_model.tokenizer()):
        target = packages / file.relative_to(source.parent)
        target.parent.mkdir(parents=True)
        target.symlink_to(file)

    done = run(packages, "-c", EMBED)

    assert done.stdout == "256 2\n", done.stderr


@pytest.mark.thorough
@pytest.mark.slow
def test_a_model_without_its_weights_is_refused_by_the_path(packages: Path) -> None:
    folder = packages / "wordllama-0.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: wordllama\nVersion: 0.0\n")

    done = run(packages, "-m", "gateway", "serve", "--port", "0")

    assert done.returncode == 1
    assert "l2_supercat_256.safetensors" in done.stderr.replace("\n", "")

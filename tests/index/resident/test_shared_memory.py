"""What a shard costs the second process of a machine that maps it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from index.resident.building.shard_folder import ShardFolder
from tests.index.support.sample_shards import a_large_shard

CHUNKS = 10_000
SCRIPT = """
import json, re, sys
from pathlib import Path
import numpy as np
from index.resident.building.shard_folder import ShardFolder

def private_bytes(text):
    return sum(1024 * int(found) for found in re.findall(r"Private_\\w+: +(\\d+) kB", text))

rollup = Path("/proc/self/smaps_rollup")
before = private_bytes(rollup.read_text())
shard = ShardFolder(Path(sys.argv[1]), "edition", 1 << 30).map("acme")
taken = private_bytes(rollup.read_text()) - before
sections = re.split(r"\\n(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
(of_file,) = [each for each in sections if ".shard" in each.partition("\\n")[0]]
rss = 1024 * int(re.search(r"Rss: +(\\d+)", of_file)[1])
pss = 1024 * int(re.search(r"Pss: +(\\d+)", of_file)[1])
print(json.dumps(dict(taken=taken, rss=rss, pss=pss, private=private_bytes(of_file))))
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_a_second_process_takes_a_fraction_of_the_memory(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "shards", "edition", 1 << 30)
    folder.path.mkdir(0o700)
    mapped = folder.store(a_large_shard(CHUNKS))
    (file,) = folder.path.glob("*.shard")
    file_bytes = file.stat().st_size
    command = (sys.executable, "-c", SCRIPT, str(folder.path))
    output = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603  ours
    second = json.loads(output)
    print({"chunks": len(mapped.segments[0]), "file": file_bytes, **second})

    assert second["rss"] > file_bytes * 0.9
    assert second["private"] == 0
    assert second["pss"] < second["rss"] * 0.6  # two processes have mapped it
    assert second["taken"] < file_bytes * 0.3  # labels, masks and pages of code

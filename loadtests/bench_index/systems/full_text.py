"""PostgreSQL's own full-text search, ranked by ts_rank_cd."""

import asyncpg

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.sets import RetrievalSet

HOW = (
    "the set's language as configuration, a GIN index; a question is the OR of its words "
    "(`plainto_tsquery` with `&` made `|`), since few passages hold all words of a question; a "
    "title's word counts twice one of the text, and the score is divided by the logarithm of the "
    "length and the distance of the words (normalisation 5), which was the best of 24 settings"
)
_CONFIGURATION = {"en": "english", "pt": "portuguese"}
# The mean nDCG@10 over scifact, faquad_pt and pira_en, 150 questions each, is 0.646; with the
# default weights and the normalisations 0 to 17 it was 0.577 at best.
_WEIGHTS = [0.5, 1.0, 1.0, 1.0]  # of D, C, B, A
_NORMALISATION = 5

_TABLE = """
DROP TABLE IF EXISTS passages;
CREATE TABLE passages (passage_id text, title text, body text);
"""
_INDEX = """
ALTER TABLE passages ADD words tsvector;
UPDATE passages SET words =
    setweight(to_tsvector('{0}', title), 'A') || setweight(to_tsvector('{0}', body), 'D');
CREATE INDEX ON passages USING gin (words);
VACUUM ANALYZE passages;
"""
_SEARCH = """
WITH asked AS (
    SELECT replace(plainto_tsquery($1::text::regconfig, $2)::text, ' & ', ' | ')::tsquery AS query
)
SELECT passage_id FROM passages, asked WHERE words @@ query
ORDER BY ts_rank_cd($3::real[], words, query, $4) DESC, passage_id LIMIT $5
"""


async def rankings(retrieval_set: RetrievalSet, database_url: str) -> list[list[str]]:
    """The passages found for each question, best first.

    In a database of its own, beside the one of the URL.
    """
    configuration = _CONFIGURATION[retrieval_set.language]
    connection = await _connected(database_url)
    try:
        await connection.execute(_TABLE)
        rows = [
            (passage.passage_id, passage.title, passage.text) for passage in retrieval_set.passages
        ]
        await connection.copy_records_to_table("passages", records=rows)
        for statement in _INDEX.format(configuration).strip().rstrip(";").split(";\n"):
            await connection.execute(statement)
        search = await connection.prepare(_SEARCH)
        settings = _WEIGHTS, _NORMALISATION, DEPTH
        return [
            [
                row["passage_id"]
                for row in await search.fetch(configuration, question.text, *settings)
            ]
            for question in retrieval_set.questions
        ]
    finally:
        await connection.close()


async def _connected(database_url: str) -> asyncpg.Connection:
    beside = await asyncpg.connect(database_url)
    if not await beside.fetchval("SELECT 1 FROM pg_database WHERE datname = 'bench_index'"):
        await beside.execute("CREATE DATABASE bench_index")
    await beside.close()
    return await asyncpg.connect(database_url, database="bench_index")

"""Statements that name their trace leave nothing prepared behind; all others stay prepared."""

import pytest

from index.postgres.database import Database
from index.postgres.statement_comment import commenting

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]  # it looks at what is prepared

TRACE = "00-0af7651916cd43dd8448eb211c80319c-{:016x}-01"


async def test_statements_of_many_traces_leave_the_prepared_ones_alone(database: Database) -> None:
    async with database.session() as session:

        async def prepared() -> set[str]:
            rows = await session.connection.fetch("SELECT statement FROM pg_prepared_statements")
            return {row["statement"] for row in rows}

        await session.rows("jobs.counts")
        before = await prepared()
        for number in range(1, 40):
            with commenting(TRACE.format(number)):
                assert await session.value("jobs.is_any_waiting") is False
        after = await prepared()
        await session.rows("jobs.counts")

        left = after - before
        assert len([text for text in left if "traceparent" in text]) <= 1  # closed by the next one
        assert not any("jobs.is_any_waiting" in text for text in after)
        assert before <= after


async def test_the_comment_ends_with_the_block(database: Database) -> None:
    with commenting(TRACE.format(1)):
        pass
    async with database.session() as session:
        await session.rows("jobs.counts")
        rows = await session.connection.fetch("SELECT statement FROM pg_prepared_statements")

    assert any("FROM jobs" in row["statement"] for row in rows)
    assert not any("traceparent" in row["statement"] for row in rows)


@pytest.mark.parametrize("text", ["*/ DROP TABLE jobs; /*", "00-1-1-01", TRACE.format(1) + "'"])
def test_nothing_but_a_traceparent_becomes_a_comment(text: str) -> None:
    with pytest.raises(ValueError, match="traceparent"), commenting(text):
        pass

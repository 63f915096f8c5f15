"""What hosts said of stored web pages, so that unchanged pages need not be sent again."""

from collections.abc import Mapping
from dataclasses import dataclass

from index.postgres.database import Database

HEADER_CHARACTERS_MAX = 1_024  # a longer validator is not stored


@dataclass(frozen=True, slots=True)
class PageState:
    """What a host said of a page at the last reading. settings: the digest of how it was stored."""

    url: str
    etag: str | None
    last_modified: str | None
    settings: bytes


class WebPageStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_source(self, tenant: str, source: str) -> dict[str, PageState]:
        """By document, the state of each stored page of the source."""
        rows = await self._database.rows("web_pages.of_source", tenant, source)
        return {
            row["document_id"]: PageState(
                row["uri"], row["etag"], row["last_modified"], row["settings"]
            )
            for row in rows
        }

    async def put(self, tenant: str, source: str, states: Mapping[str, PageState]) -> None:
        """Store the states of pages whose documents have been written, all of one reading."""
        if not states:
            return
        await self._database.rows(
            "web_pages.put",
            tenant,
            source,
            list(states),
            [_short(state.etag) for state in states.values()],
            [_short(state.last_modified) for state in states.values()],
            next(iter(states.values())).settings,
        )


def _short(header: str | None) -> str | None:
    is_kept = header is not None and len(header) <= HEADER_CHARACTERS_MAX and header.isprintable()
    return header if is_kept else None

"""Entity tags as `If-Match` and `If-None-Match` list them."""

from collections.abc import Iterable


def is_listed(etag: str | None, headers: Iterable[str], *, is_weak: bool = False) -> bool:
    """Whether the headers name the tag, or `*`. is_weak: also as a proxy weakened it."""
    tags = {tag.strip() for header in headers for tag in header.split(",")}
    if is_weak:
        tags = {tag.removeprefix("W/") for tag in tags}
    return etag is not None and ("*" in tags or etag in tags)

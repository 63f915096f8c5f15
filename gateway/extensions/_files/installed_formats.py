"""The formats of files that this gateway reads: the core's, and those of extensions."""

from functools import cache

from gateway.extension import Settings, rows
from gateway.extensions._files.formats import TEXT_FORMATS, Format, Formats


@cache
def formats(names_off: str) -> Formats:
    """By suffix; those of an extension that is off refuse its files. Raises `CommandError`.

    names_off: the setting `extensions_off`.
    """
    return rows(names_off, "formats", Format, lambda each: each.suffixes, TEXT_FORMATS)


def check(settings: Settings) -> None:
    """Raises `CommandError` if two extensions that are on read files of one suffix."""
    formats(settings.extensions_off)

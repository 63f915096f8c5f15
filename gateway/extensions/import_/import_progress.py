"""What `nearhit import --from STORE` prints: what happens to the vectors, and the result."""

from rich.console import Console

from gateway.extensions._sources.sync.report import Report
from gateway.extensions.import_.record_import import ImportOptions, VectorUse
from gateway.extensions.import_.record_source import RecordSource

_REASONS_LISTED_MAX = 10


def show_vector_use(console: Console, use: VectorUse) -> None:
    if use.lowest_cosine is None:
        _print(
            console,
            f"vectors: not used; every text is embedded in {use.space}. If the records have "
            f"vectors of that space, stop, and add --space {use.space}",
        )
    else:
        _print(
            console,
            f"vectors: used, in {use.space}; those of the first records match their texts "
            f"(least cosine {use.lowest_cosine:.4f})",
        )


def as_json(source: RecordSource, options: ImportOptions) -> dict[str, object]:
    """What scripts get beside the report of a reading; refused: how many, by the reason."""
    return {
        "tenant": options.tenant,
        "dry_run": options.dry_run,
        "readers": dict(source.readers),
        "refused": dict(source.refused.by_reason()),
    }


def show(console: Console, report: Report, source: RecordSource, options: ImportOptions) -> None:
    if options.dry_run:
        new = report.documents - report.unchanged
        _print(console, f"would write {new:,} documents; {report.unchanged:,} are there already")
    else:
        _print(
            console,
            f"{report.documents:,} documents ({report.unchanged:,} unchanged); chunks: "
            f"{report.chunks_added:,} added, {report.chunks_kept:,} unchanged, "
            f"{report.chunks_removed:,} removed, {report.embedded:,} embedded",
        )
    if options.space is not None:
        counts = source.vectors
        _print(
            console,
            f"vectors of {counts.used:,} records used; embedded: the texts of {counts.missing:,} "
            f"without a vector, and of {counts.longer:,} with more than one chunk",
        )
    readers = ", ".join(f"{kind} {number:,}" for kind, number in sorted(source.readers.items()))
    _print(console, f"documents by who may read them: {readers or 'none'}")
    _show_refused(console, source)


def _show_refused(console: Console, source: RecordSource) -> None:
    reasons = source.refused.by_reason()
    for reason, number in reasons[:_REASONS_LISTED_MAX]:
        _print(console, f"refused {number:,}: {reason}")
    if others := sum(number for _, number in reasons[_REASONS_LISTED_MAX:]):
        _print(console, f"refused {others:,}: other reasons")
    if any(reason.startswith("metadata.") for reason, _ in reasons):
        _print(console, "--drop NAME leaves a value out, without the `metadata.` in front of it")
    if source.refused.first:
        _print(console, "the first refused records:")
    for item in source.refused.first:
        _print(console, f"  {item.path}: {item.reason}")


def _print(console: Console, line: str) -> None:
    line = " ".join(line.splitlines())  # a record's name may have line breaks
    console.print(line, markup=False, soft_wrap=True)

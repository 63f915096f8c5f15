"""`nearhit evaluate`: how well a running gateway answers, beside other settings."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import AsJson, console
from gateway.extensions._commands import atomic_file

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from gateway.extensions.evaluation.evaluation import MeasuredSetting, Setting
    from gateway.extensions.evaluation.judged_questions import JudgedQuestion
    from gateway.extensions.evaluation.measures import Interval

COMMANDS = typer.Typer()

_BELOW = 1
_NEXT_FIELD = re.compile(r"\s+(?=[a-z_]+=)")  # a value in JSON may have spaces
_NOT_FIELDS = ("query", "top_k")


@COMMANDS.command(rich_help_panel="Documents and questions")
def evaluate(
    questions: Annotated[
        Path | None,
        typer.Argument(
            help='JSON Lines: {"question": …, "documents": [ID, …], "passage": …}; a right hit is '
            "of one of these documents, and has the words of the passage. One of both is enough.",
            show_default=False,
        ),
    ] = None,
    *,
    url: Annotated[
        str, typer.Option(help="URL of the gateway.", envvar="NEARHIT_URL")
    ] = "http://127.0.0.1:8080",
    key: Annotated[
        str | None, typer.Option(help="A reader's key or token.", envvar="NEARHIT_KEY")
    ] = None,
    make: Annotated[
        int | None,
        typer.Option(
            help="Without a file: the number of questions to make from headings of documents that "
            "the key may read; at most 10,000 documents are read.",
            min=1,
            max=10_000,
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the questions that were made, to edit and keep.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Fields of the search to compare with, as `alpha=0.4 rerank=true`."),
    ] = None,
    top_k: Annotated[int, typer.Option(help="Hits of each answer.", min=1, max=100)] = 10,
    worst: Annotated[int, typer.Option(help="Questions to show, the worst first.", min=0)] = 5,
    at_least: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 below it, as `ndcg=0.7`; recall, mrr or ndcg."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure answers against known ones: recall, reciprocal rank (mrr) and nDCG, from 0 to 1.

    Intervals (95 %) come from resampling the questions. A gain is the difference of nDCG, question
    by question; if its interval does not contain 0, the setting is better, or worse, here.

        nearhit evaluate questions.jsonl --against alpha=0.4 --at-least recall=0.9
        nearhit evaluate --make 200 --save questions.jsonl
    """
    on_stderr = common.progress_console(as_json=True)
    with common.errors():
        from gateway.extension import CommandError
        from gateway.extensions._commands.gateway_address import gateway_address
        from gateway.extensions.evaluation.evaluation import Setting

        address = gateway_address(url, key)
        if (questions is None) == (make is None):
            raise CommandError("give a file of questions, or --make with their number")
        if save is not None and make is None:
            raise CommandError("--save needs --make: a file of questions is saved already")

        settings = [Setting("default", {}), *(_setting(each) for each in against or [])]
        floors = dict(_floor(each) for each in at_least or [])
        judged, outcomes = asyncio.run(
            _evaluate(address, questions or make, save, settings, top_k, on_stderr)
        )
    first = outcomes[0]
    missed = [name for name, floor in floors.items() if first.means[name].mean < floor]
    if as_json:
        common.print_json(_document(judged, outcomes, worst))
    else:
        _print(judged, outcomes, top_k, worst)
    for name in missed:
        mean = first.means[name].mean
        on_stderr.print(f"{name} is {mean:.3f}, and has to be {floors[name]:g} at least")
    raise typer.Exit(_BELOW if missed else 0)


async def _evaluate(
    address: tuple[str, str],
    source: "Path | int | None",
    save: Path | None,
    settings: "Sequence[Setting]",
    depth: int,
    progress_on: "Console",
) -> "tuple[list[JudgedQuestion], list[MeasuredSetting]]":
    from gateway.extensions.evaluation import evaluation, judged_questions

    is_quiet = not progress_on.is_terminal
    async with evaluation.gateway(*address) as client:
        with Progress(console=progress_on, transient=True, disable=is_quiet) as progress:

            def begin(name: str, total: int) -> "Callable[[], None]":
                return partial(progress.advance, progress.add_task(name, total=total))

            if isinstance(source, int):
                reading = partial(begin, "documents read")
                judged = await evaluation.made_questions(client, source, reading)
                if save is not None:  # also if the gateway refuses one of them
                    _save(save, judged)
            else:
                assert source is not None
                judged = judged_questions.read(source)
            outcomes = [
                await evaluation.evaluate(
                    client, judged, setting, depth, begin(setting.name, len(judged))
                )
                for setting in settings
            ]
    return judged, outcomes


def _setting(text: str) -> "Setting":
    """`alpha=0.4 rerank=true`: each value is JSON, or else a word."""
    import orjson

    from gateway.extension import CommandError
    from gateway.extensions.evaluation.evaluation import Setting

    fields: dict[str, Any] = {}
    if not text.isprintable():
        raise CommandError("--against must be one line of UTF-8")
    for part in _NEXT_FIELD.split(text.strip()):
        name, is_given, value = part.partition("=")
        if not is_given or name in _NOT_FIELDS:
            raise CommandError(
                f"--against {text}: {part} is no NAME=VALUE of a search's other fields"
            )
        if name in fields:
            raise CommandError(f"--against {text}: {name} is given twice")
        try:
            fields[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            fields[name] = value
    return Setting(text, fields)


def _floor(text: str) -> tuple[str, float]:
    from gateway.extension import CommandError
    from gateway.extensions.evaluation import measures

    name, _, value = text.partition("=")
    try:
        floor = float(value)
    except ValueError:
        floor = -1.0
    if name not in measures.NAMES or not 0 <= floor <= 1:
        names = ", ".join(measures.NAMES)
        raise CommandError(f"--at-least {text}: give one of {names}, and a number from 0 to 1")
    return name, floor


def _save(path: Path, judged: "Sequence[JudgedQuestion]") -> None:
    from gateway.extensions.evaluation import judged_questions

    with atomic_file.writing(path) as (_, file):
        file.writelines(judged_questions.written(judged))


def _print(
    judged: "Sequence[JudgedQuestion]",
    outcomes: "Sequence[MeasuredSetting]",
    depth: int,
    worst: int,
) -> None:
    first = outcomes[0]
    table = Table("setting", f"recall@{depth}", "mrr", f"ndcg@{depth}", "gain")
    for outcome in outcomes:
        gain = "" if outcome is first else _text(outcome.gain_over(first), sign="+")
        means = (_text(each) for each in outcome.means.values())
        table.add_row(escape(outcome.setting.name), *means, gain)
    console.print(f"{len(judged):,} questions")
    common.print_table(table)
    for place in first.worst(worst):
        values = first.values[place]
        question = escape(judged[place].question)
        console.print(f"ndcg {values[-1]:.2f}  {question}", soft_wrap=True)
        wanted = ", ".join(judged[place].documents) or judged[place].passage or ""
        console.print(
            f"[dim]  first: {escape(first.best[place])}; right: {escape(wanted)}[/]", soft_wrap=True
        )


def _text(interval: "Interval", sign: str = "") -> str:
    return f"{interval.mean:{sign}.3f} ({interval.low:{sign}.3f} to {interval.high:{sign}.3f})"


def _document(
    judged: "Sequence[JudgedQuestion]", outcomes: "Sequence[MeasuredSetting]", worst: int
) -> dict[str, object]:
    first = outcomes[0]
    return {
        "questions": len(judged),
        "settings": [
            {
                "fields": outcome.setting.fields,
                **outcome.means,
                "gain": None if outcome is first else outcome.gain_over(first),
            }
            for outcome in outcomes
        ],
        "worst": [
            {
                **judged[place].model_dump(exclude_defaults=True),
                "first": first.best[place],
                "ndcg": float(first.values[place][-1]),
            }
            for place in first.worst(worst)
        ],
    }

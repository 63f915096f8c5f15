"""`nearhit loadtest`: load on any deployment, and a verdict."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from gateway.cli.common import console

if TYPE_CHECKING:
    from loadtests.loadtest.result import Result

_MISSED, _NOT_RUN = 1, 2
_SECRETS = ("--key", "--admin-key")


class Arrivals(StrEnum):
    POISSON = "poisson"
    CONSTANT = "constant"


def loadtest(
    url: Annotated[str, typer.Argument(help="Of the deployment: http://host:8080.")],
    *,
    key: Annotated[
        str | None,
        typer.Option(
            envvar="NEARHIT_LOADTEST_KEY",
            help="A key, reader and writer: the run writes some documents that only its subject "
            "can read, asks about them and removes them.",
        ),
    ] = None,
    admin_key: Annotated[
        str | None,
        typer.Option(
            envvar="NEARHIT_LOADTEST_ADMIN_KEY",
            help="The operator's key instead: the run makes tenants, groups and keys of its own, "
            "shares and revokes, and deletes the tenants at the end.",
        ),
    ] = None,
    budget: Annotated[
        Path | None,
        typer.Option(
            help="TOML file of limits. Without: no answer stale or leaked, 0.1 % errors.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    rate: Annotated[float, typer.Option(help="Searches a second.", min=0.1, max=20_000)] = 50.0,
    seconds: Annotated[float, typer.Option(help="That are counted.", min=1, max=604_800)] = 30.0,
    warm_up: Annotated[float, typer.Option(help="Seconds before that.", min=0, max=3_600)] = 5.0,
    writes: Annotated[
        float,
        typer.Option(help="Writes a second: edits, removals, shares, groups.", min=0, max=1_000),
    ] = 2.0,
    repeats: Annotated[
        float, typer.Option(help="Share of the searches asked before.", min=0, max=1)
    ] = 0.7,
    strangers: Annotated[
        float, typer.Option(help="Share of the searches with a wrong key.", min=0, max=1)
    ] = 0.01,
    arrivals: Annotated[
        Arrivals, typer.Option(help="At random moments, or evenly.")
    ] = Arrivals.POISSON,
    connections: Annotated[
        int, typer.Option(help="At most so many; who finds none free waits.", min=1, max=20_000)
    ] = 64,
    timeout: Annotated[float, typer.Option(help="Seconds for an answer.", min=0.01)] = 10.0,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of real histories to write instead of made-up ones.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            help="File of questions to ask, one a line, instead of made-up ones; with --key and "
            "--writes 0 nothing is written.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="Let some documents be public, to be seen by all tenants."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Equal seeds send equal requests.")] = 1,
    report: Annotated[
        Path, typer.Option(help="The report; the same as JSON goes beside it.", dir_okay=False)
    ] = Path("report.html"),
) -> None:
    r"""Send requests as agents do, each when it is due, and say whether a budget holds.

    Exits with 0 if it does, 1 if not, 2 if nothing could be measured.
    Arrivals don't wait for answers, and a request's time counts from when it
    was due: a stall shows. Every answer is held against what the run has
    written and shared. Needs pip install 'nearhit\[load]'.

    A budget has tables \[all], \[write], \[tier.memory], \[scope.private]
    and so on, with p50_ms, p90_ms, p95_ms, p99_ms, p999_ms and max_ms;
    \[all] also with errors, stale, leaked and, as the least, hit_rate:

        \[all]
        p99_ms = 20
        errors = 0.001
        stale = 0
        leaked = 0
    """
    try:
        import uvloop

        from loadtests.loadtest import budget as budgets
        from loadtests.loadtest import page
        from loadtests.loadtest.driver import Load
        from loadtests.loadtest.environment import Deployment
        from loadtests.loadtest.run import NotRun, run
    except ModuleNotFoundError as error:
        _fail(f"{error.name} is missing: pip install 'nearhit[load]'")
    if key is None and admin_key is None:
        _fail("give --key, or the operator's --admin-key")
    lines = tuple(filter(None, questions.read_text().splitlines())) if questions else ()
    target = Deployment(url.rstrip("/"), key, admin_key, data, lines, public)
    load = Load(
        rate=rate,
        seconds=seconds,
        warm_up_s=warm_up,
        writes=writes,
        repeats=repeats,
        strangers=strangers,
        pattern=arrivals.value,
        connections=connections,
        timeout_s=timeout,
        seed=seed,
    )
    try:
        limits = budgets.read(budget)
        result = uvloop.run(run(target, load, limits, console, command=_command(sys.argv)))
    except (NotRun, budgets.InvalidBudget) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    report.write_text(page.html(result))
    report.with_suffix(".json").write_text(result.as_json())
    _say(result, report)
    raise typer.Exit(0 if result.held else _MISSED)


def _say(result: "Result", report: Path) -> None:
    for finding in result.findings:
        limit = finding.limit
        measured = "nothing" if finding.measured is None else f"{finding.measured:g}"
        state = "[green]held[/]" if finding.held else "[red]missed[/]"
        bound = "at least" if limit.is_least else "at most"
        console.print(f"{state} {limit.group} {limit.name}: {measured}, {bound} {limit.value:g}")
    for warning in result.warnings:
        console.print(f"[yellow]{warning}[/]")
    console.print(f"{report} shows more", markup=False)


def _command(arguments: list[str]) -> str:
    """As it was typed, less the keys."""
    shown = ["nearhit"]
    hidden = False
    for argument in arguments[1:]:
        name, is_there, _ = argument.partition("=")
        shown.append("…" if hidden else f"{name}=…" if is_there and name in _SECRETS else argument)
        hidden = argument in _SECRETS
    return " ".join(shown)


def _fail(message: str) -> NoReturn:
    Console(stderr=True, highlight=False).print(
        f"[red]nearhit:[/] {escape(message)}", soft_wrap=True
    )
    raise typer.Exit(_NOT_RUN)

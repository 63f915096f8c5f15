"""`nearhit loadtest`: loads a deployment and checks the results against a budget."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from gateway.cli import common
from gateway.extensions._commands import atomic_file

if TYPE_CHECKING:
    from loadtests.loadtest.result import Result

COMMANDS = typer.Typer()

_NOT_JUDGED = 2
_EXIT_CODES = {"PASS": 0, "FAIL": 1, "NOT JUDGED": _NOT_JUDGED}  # by outcome
_COLOURS = {"held": "green", "missed": "red", "not judged": "yellow"}  # by verdict
_SHOWN = (50, 95, 99)  # percentiles of the latencies, beside those of the budget
_SECRETS = ("--key", "--admin-key")


class Arrivals(StrEnum):
    POISSON = "poisson"
    CONSTANT = "constant"


@COMMANDS.command(rich_help_panel="Operation")
def loadtest(
    url: Annotated[str, typer.Argument(help="URL of the deployment, such as http://host:8080.")],
    *,
    key: Annotated[
        str | None,
        typer.Option(
            envvar="NEARHIT_LOADTEST_KEY",
            help="A key with the roles reader and writer: the run writes documents that only the "
            "key's subject can read, searches them and removes them.",
        ),
    ] = None,
    admin_key: Annotated[
        str | None,
        typer.Option(
            envvar="NEARHIT_LOADTEST_ADMIN_KEY",
            help="The operator's key instead: the run creates tenants, groups and keys, shares and "
            "revokes documents, and deletes the tenants at the end.",
        ),
    ] = None,
    budget: Annotated[
        Path | None,
        typer.Option(
            help="TOML file of limits. Default: no stale or leaked answer, at most 0.1 % errors.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    rate: Annotated[float, typer.Option(help="Searches per second.", min=0.1, max=20_000)] = 50.0,
    seconds: Annotated[float, typer.Option(help="Measured seconds.", min=1, max=604_800)] = 30.0,
    warm_up: Annotated[
        float, typer.Option(help="Seconds of warm-up, not measured.", min=0, max=3_600)
    ] = 5.0,
    writes: Annotated[
        float,
        typer.Option(help="Writes per second: edits, removals, shares, groups.", min=0, max=1_000),
    ] = 2.0,
    repeats: Annotated[
        float, typer.Option(help="Share of searches that repeat an earlier one.", min=0, max=1)
    ] = 0.7,
    unauthorized: Annotated[
        float, typer.Option(help="Share of searches with an invalid key.", min=0, max=1)
    ] = 0.01,
    arrivals: Annotated[
        Arrivals, typer.Option(help="Random (Poisson) or constant arrivals.")
    ] = Arrivals.POISSON,
    connections: Annotated[
        int,
        typer.Option(
            help="Maximum number of connections; further requests wait.", min=1, max=20_000
        ),
    ] = 64,
    timeout: Annotated[
        float, typer.Option(help="Timeout of a request in seconds.", min=0.01)
    ] = 10.0,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of real document histories to write instead of generated ones.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            help="File of questions, one per line, instead of generated ones; with --key and "
            "--writes 0 the run writes nothing.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public", help="Make some documents public, and let the run's tenants receive them."
        ),
    ] = False,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            help="Searches per second, then seconds, instead of --rate and --seconds: 100:30, or "
            "50-200:60 for a ramp. Give it several times for stages that follow each other.",
            metavar="RATE:SECONDS",
        ),
    ] = None,
    abort_on_breach: Annotated[
        bool,
        typer.Option(
            "--abort-on-breach", help="End the run as soon as a limit of the budget is missed."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the generated requests.")] = 1,
    report: Annotated[
        Path,
        typer.Option(help="The report file; a JSON copy is written beside it.", dir_okay=False),
    ] = Path("report.html"),
    junit: Annotated[
        Path | None,
        typer.Option(help="Also write the budget as JUnit's XML, for CI.", dir_okay=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the report as JSON, and all else to stderr.")
    ] = False,
) -> None:
    r"""Send searches and writes at a fixed rate and check the results against a budget.

    The last line says PASS, FAIL or NOT JUDGED, and why. Exits with 0 if the
    budget holds, 1 if not, 2 if there is no verdict: nothing was measured, or
    nothing that a limit of the budget file is about. A run that a signal ends
    exits with 128 plus its number, and still removes its documents.
    Requests start at their scheduled time, whether or not earlier ones have
    ended, and latency counts from that time, so a stall is visible. Every
    answer is checked against what the run has written and shared.
    Needs pip install '.\[load]' in a checkout.

    A budget has the tables \[all], \[write], \[tier.memory], \[scope.private],
    \[stage.2] and so on, with p50_ms, p90_ms, p95_ms, p99_ms, p999_ms and max_ms;
    \[all] also has errors, stale, leaked and a minimum hit_rate:

        \[all]
        p99_ms = 20
        errors = 0.001
        stale = 0
        leaked = 0

    nearhit loadtest http://127.0.0.1:8080 --rate 100 --budget budget.toml
    """
    shown = common.progress_console(as_json=as_json)
    try:
        import uvloop

        from loadtests.load import schedule
        from loadtests.loadtest import budget as budgets
        from loadtests.loadtest import page
        from loadtests.loadtest import result as results
        from loadtests.loadtest.driver import Load
        from loadtests.loadtest.environment import Deployment
        from loadtests.loadtest.run import NotRun, run
    except ModuleNotFoundError as error:
        _fail(f"{error.name} is missing: pip install '.[load]' in a checkout")
    if key is None and admin_key is None:
        _fail("no key: give --key, or the operator's key as --admin-key")
    lines = tuple(filter(None, questions.read_text().splitlines())) if questions else ()
    target = Deployment(url.rstrip("/"), key, admin_key, data, lines, public)
    try:
        stages = tuple(map(schedule.parse_stage, stage or ()))
    except ValueError as error:
        _fail(str(error))
    load = Load(
        rate=rate,
        seconds=seconds,
        warm_up_s=warm_up,
        writes=writes,
        repeats=repeats,
        strangers=unauthorized,
        pattern=arrivals.value,
        connections=connections,
        timeout_s=timeout,
        seed=seed,
        stages=stages,
    )
    try:
        limits = budgets.read(budget)
        running = run(
            target,
            load,
            limits,
            shown,
            command=_command(sys.argv),
            abort_on_breach=abort_on_breach,
        )
        result, ending = uvloop.run(running)
    except budgets.InvalidBudget as error:
        _fail(str(error))
    except NotRun as error:
        _fail(str(error), error.exit_code)
    with common.errors():
        atomic_file.write(report, page.html(result))
        atomic_file.write(report.with_suffix(".json"), result.as_json())
        if junit is not None:
            atomic_file.write(junit, results.junit_xml(result))
    _print_result(result, report, shown)
    if as_json:
        sys.stdout.write(result.as_json())
    raise typer.Exit(ending.exit_code or _EXIT_CODES[result.outcome])


def _print_result(result: "Result", report: Path, console: Console) -> None:
    for finding in result.findings:
        limit = finding.limit
        measured = "nothing" if finding.measured is None else f"{finding.measured:g}"
        bound = "at least" if limit.is_least else "at most"
        state = f"[{_COLOURS[finding.verdict]}]{finding.verdict}[/]"
        console.print(f"{state} {limit.group} {limit.name}: {measured}, {bound} {limit.value:g}")
    for rates in result.rates:
        line = (
            f"{rates.name}: {rates.offered:.1f} searches/s offered, {rates.achieved:.1f} achieved"
        )
        latencies = result.figures.latencies[rates.name]
        shown = [f"P{point} {latencies.percentile_ms(point):.1f} ms" for point in _SHOWN]
        console.print(", ".join([line, *(shown if latencies.count else [])]), markup=False)
    for warning in result.warnings:
        console.print(f"[yellow]{escape(warning)}[/]")
    console.print(f"see {report} for details", markup=False)
    console.print(result.outcome_line, markup=False)


def _command(arguments: list[str]) -> str:
    """The command line with its keys replaced by …."""
    masked = ["nearhit"]
    is_secret = False
    for argument in arguments[1:]:
        name, equals, _ = argument.partition("=")
        if is_secret:
            masked.append("…")
        else:
            masked.append(f"{name}=…" if equals and name in _SECRETS else argument)
        is_secret = argument in _SECRETS
    return " ".join(masked)


def _fail(message: str, exit_code: int = _NOT_JUDGED) -> NoReturn:
    common.show_error(message)
    raise typer.Exit(exit_code)

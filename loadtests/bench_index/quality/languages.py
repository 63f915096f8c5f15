"""The quality of passages whose language is declared, undeclared, or wrong, over HTTP."""

from dataclasses import replace
from statistics import fmean

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service

_SETS = ("faquad_pt", "pira_pt")
_QUESTIONS = 300
_DECLARATIONS = {"declared": "pt", "undeclared": "", "declared as English": "en"}
_UNDECLARED_LAG_MAX = 0.005
_HOW = (
    "nDCG@10 of Portuguese questions over Portuguese passages, by the `language` that the writer "
    "declares for the passages. A write with a wrong one is answered with a warning."
)


def measure(run: IndexRun) -> Section:
    reached: dict[str, dict[str, float]] = {}
    with service.nearhit() as gateway, run.progress() as progress:
        for name in progress.track(_SETS, description="languages"):
            asked = sets.read(run.data, name, _QUESTIONS)
            reached[name] = {
                declaration: fmean(
                    measures.of(ranked, question.relevant).ndcg
                    for question, ranked in zip(
                        asked.questions,
                        nearhit.rankings(
                            replace(asked, language=language),
                            gateway,
                            lambda _: None,
                            variant=declaration.replace(" ", "-").lower(),
                        ),
                        strict=True,
                    )
                )
                for declaration, language in _DECLARATIONS.items()
            }
    rows = [(name, *(f"{value:.3f}" for value in by.values())) for name, by in reached.items()]
    return Section(
        title="Languages",
        text=f"{_HOW}\n\n{table(('set', *_DECLARATIONS), rows)}",
        figures={"ndcg": reached},
        bars=[
            Bar(
                f"{name}: undeclared above declared",
                by["undeclared"] - by["declared"],
                at_least=-_UNDECLARED_LAG_MAX,
            )
            for name, by in reached.items()
        ],
    )

"""How often the answer of a similar question is right, and how well the semantic tier predicts it.

    python -m loadtests.bench_semantic DATA [--only SET]… [--seed S] [--json FILE]

Real questions go to a gateway with real passages, each once and uncached; then the similarity and
the guards of the semantic tier judge pairs of them. Exits with 1 if more than 1 % of what it would
have served was wrong, or if it would have served traps.

`make bench-cache DATA=FOLDER ONLY=streams` sends whole streams of questions through the tier.
"""

import argparse
import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from loadtests.bench_semantic import judge, pairs, replay, tables
from loadtests.bench_semantic.pairs import Corpus
from loadtests.bench_semantic.replay import Judged, Replayed
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import TenantClient, new_tenant

_ORDERS = 20  # in which the pairs come; which of them open the tier is chance
_TRAPS_MAX = 0.01  # some of what is made by rule is no trap: the other name of a thing


def main() -> None:
    arguments = _arguments()
    console = Console(width=160)
    corpora = pairs.read(
        arguments.data, arguments.only or pairs.NAMES, arguments.traffic, arguments.seed
    )
    with (
        service.nearhit(service.COMPARE_ALL) as service_under_test,
        Progress(console=console) as progress,
    ):
        gateway = _Gateway(service_under_test, progress)
        judged = [pair_result for corpus in corpora for pair_result in gateway.judged(corpus)]
    outcome = _outcome(console, judged)
    console.print(
        f"served {outcome.share:.1%} of what is no trap, {outcome.error:.2%} of that wrong (the "
        f"limit is {judge.LIMIT:.0%}), and {outcome.traps_served:,} of {outcome.traps:,} traps"
    )
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(outcome), indent=2))
    raise SystemExit(0 if outcome.held else 1)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """share: of the pairs that are no traps, so much was served. error: of that, wrong."""

    share: float
    error: float
    traps: int
    traps_served: int
    figures: tables.Figures

    @property
    def held(self) -> bool:
        return self.error <= judge.LIMIT and self.traps_served <= _TRAPS_MAX * self.traps


@dataclass(frozen=True, slots=True)
class _Gateway:
    service: Service
    progress: Progress

    def tenant(self, corpus: Corpus) -> AbstractContextManager[TenantClient]:
        return new_tenant(self.service, corpus.name.replace("_", "-"))

    def judged(self, corpus: Corpus) -> list[Judged]:
        """The set's pairs, with what the gateway says to every question, each asked once."""
        pair_texts = (text for pair in corpus.pairs for text in (pair.cached, pair.asked))
        texts = dict.fromkeys([*corpus.traffic, *pair_texts])
        with self.tenant(corpus) as tenant:
            tenant.put(corpus.passages, lambda _: None)
            answers = {
                text: [hit["chunk_id"] for hit in tenant.search(text)]
                for text in self.progress.track(texts, description=corpus.name)
            }
        return replay.judged(corpus, answers)


def _outcome(console: Console, judged: list[Judged]) -> _Outcome:
    figures = tables.figures(judged)
    for table in tables.shown(figures):
        console.print(table)
    usual = [result for result in judged if result.pair.family in tables.FAMILIES]
    traps = [result for result in judged if result.pair.family in tables.TRAPS]
    orders = (replay.replayed(usual, judge.LIMIT, seed) for seed in range(_ORDERS))
    done = sum(orders, start=Replayed())
    return _Outcome(
        share=done.served / done.asked,
        error=done.wrong / max(done.served, 1),
        traps=len(traps),
        traps_served=sum(result.may_be_served for result in traps),
        figures=figures,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", choices=pairs.NAMES)
    parser.add_argument("--traffic", type=int, default=1000, help="questions of each set, at most")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    return parser.parse_args()


if __name__ == "__main__":
    main()

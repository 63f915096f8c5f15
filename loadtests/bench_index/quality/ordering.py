"""What boosts and diversity do to a handbook in which each page stands in several versions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.options import IndexRun
from loadtests.servers import service
from loadtests.workload import handbook
from loadtests.workload.handbook import Handbook
from loadtests.workload.tenant_client import TenantClient, new_tenant

_VERSIONS_MAX = 4  # of a page, the newest ones
_COMMITS = 1_000  # of the history
_SEARCHES: Mapping[str, dict[str, Any]] = {
    "as they are": {},
    "newer ones first": {
        "boost": {"importance": {"key": "commit", "full": _COMMITS, "weight": 0.3}}
    },
    "replaced ones last": {"boost": {"replaced": {"weight": 0.5}}},
    "diversity 0.3": {"diversity": 0.3},
    "diversity 0.5": {"diversity": 0.5},
    "diversity 0.7": {"diversity": 0.7},
    "replaced ones last, diversity 0.5": {
        "boost": {"replaced": {"weight": 0.5}},
        "diversity": 0.5,
    },
}
_HOW = (
    "A real handbook and its history: each page that was edited stands there in its last four "
    "versions, near-duplicates of each other; a version names those before it in `replaces`, and "
    "has the number of its commit. Each page is asked for by its title, with `top_k` 10 and "
    "`document_hits_max` 1. *Newest first*: the share of questions whose first hit of the page is "
    "its newest version. *Pages*: how many different ones are among the ten hits. nDCG@10 takes "
    "the newest version alone for relevant. `newer ones first` boosts by the number of the "
    "commit, as `recency` does by the time of the write."
)


@dataclass(frozen=True, slots=True)
class Page:
    """versions: the commit and the text of each, oldest first."""

    path: str
    title: str
    versions: Sequence[tuple[int, str]]

    @property
    def newest(self) -> str:
        return f"{self.path}@{len(self.versions)}"

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [
            {
                **handbook.document(text),
                "document_id": f"{self.path}@{number}",
                "metadata": {"commit": commit, "page": self.path},
                **({"relates_to": {"replaces": replaced}} if replaced else {}),
            }
            for number, (commit, text) in enumerate(self.versions, start=1)
            for replaced in ([f"{self.path}@{earlier}" for earlier in range(1, number)],)
        ]


@dataclass(frozen=True, slots=True)
class Ordering:
    """Means over all questions."""

    newest_first: float
    pages: float
    ndcg: float


def measure(run: IndexRun) -> Section:
    pages = edited_pages(handbook.read(run.data))
    with (
        service.nearhit() as gateway,
        new_tenant(gateway, "ordering") as tenant,
        run.progress() as progress,
    ):
        tenant.put([document for page in pages for document in page.documents])
        reached = {
            name: _ordering(tenant, pages, options)
            for name, options in progress.track(_SEARCHES.items(), description="ordering")
        }
    rows = [
        (name, f"{one.newest_first:.3f}", f"{one.pages:.2f}", f"{one.ndcg:.3f}")
        for name, one in reached.items()
    ]
    head = ("search", "newest first", "pages", "nDCG@10")
    plain, replaced = reached["as they are"], reached["replaced ones last"]
    return Section(
        title="Ordering",
        text=f"{len(pages)} pages. {_HOW}\n\n{table(head, rows)}",
        figures={"ordering": reached},
        bars=[
            Bar("newest first, with replaced ones last", replaced.newest_first, at_least=0.95),
            Bar(
                "pages with diversity 0.5, to those as they are",
                reached["diversity 0.5"].pages / plain.pages,
                at_least=1.4,
            ),
        ],
    )


def edited_pages(book: Handbook) -> list[Page]:
    """The pages with a title of their own and several versions; a moved page is the same one."""
    histories = {path: [(0, text)] for path, text in book.texts.items()}
    for edit in book.edits:
        history = histories.pop(edit.gone, []) if edit.gone is not None else []
        if edit.path is not None:
            history = history or histories.get(edit.path, [])
            if not history or history[-1][1] != edit.text:
                history = [*history, (edit.commit + 1, edit.text)]
            histories[edit.path] = history
    pages = [
        Page(path, str(handbook.document(history[-1][1])["title"]), history[-_VERSIONS_MAX:])
        for path, history in sorted(histories.items())
        if len(history) > 1
    ]
    titles = Counter(page.title for page in pages)
    return [page for page in pages if page.title and titles[page.title] == 1]


def _ordering(tenant: TenantClient, pages: Sequence[Page], options: Mapping[str, Any]) -> Ordering:
    each = []
    for page in pages:
        hits = tenant.search(page.title, top_k=DEPTH, document_hits_max=1, metadata=True, **options)
        found = [hit["document_id"] for hit in hits]
        of_page = [hit["document_id"] for hit in hits if hit["metadata"]["page"] == page.path]
        each.append(
            Ordering(
                newest_first=float(of_page[:1] == [page.newest]),
                pages=len({hit["metadata"]["page"] for hit in hits}),
                ndcg=measures.of(found, {page.newest: 1.0}).ndcg,
            )
        )
    return Ordering(
        fmean(one.newest_first for one in each),
        fmean(one.pages for one in each),
        fmean(one.ndcg for one in each),
    )

"""Which answers have low confidence by default, of questions with and without an answer."""

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, new_tenant

# By set, another one in its language, whose questions no passage answers.
_UNANSWERED = {
    "xquad_en": "pira_en",
    "pira_en": "xquad_en",
    "scifact": "xquad_en",
    "squad_sent_dev": "pira_en",
    "faquad_pt": "pira_pt",
    "pira_pt": "faquad_pt",
}
_QUESTIONS = 300
_ANSWERED_MAX = 0.03  # of any set
_HOW = (
    "The share of questions whose answer says `low_confidence` where nobody has set a threshold: "
    "those of the set, and those of another set in the same language, which its passages do not "
    "answer. Passages as under Quality."
)


def measure(run: IndexRun) -> Section:
    shares: dict[str, tuple[float, float]] = {}
    with service.nearhit() as gateway, run.progress() as progress:
        for name, other in progress.track(_UNANSWERED.items(), description="confidence"):
            answered = sets.read(run.data, name, _QUESTIONS)
            unanswered = sets.read(run.data, other, _QUESTIONS)
            with new_tenant(gateway, name.replace("_", "-")) as tenant:
                tenant.put(nearhit.documents(answered), lambda _: None)
                shares[name] = _low_share(tenant, answered), _low_share(tenant, unanswered)
    rows = [(name, *(f"{share:.3f}" for share in both)) for name, both in shares.items()]
    return Section(
        title="Confidence",
        text=f"{_HOW}\n\n{table(('set', 'its questions', 'others'), rows)}",
        figures={"low": shares},
        bars=[
            Bar(f"{name}: share of its questions", own, at_most=_ANSWERED_MAX)
            for name, (own, _) in shares.items()
        ],
    )


def _low_share(tenant: TenantClient, asked: RetrievalSet) -> float:
    low = [tenant.has_low_confidence(question.text) for question in asked.questions]
    return sum(low) / len(low)

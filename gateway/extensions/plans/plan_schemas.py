"""The request and response bodies of search plans."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Discriminator, Field, StringConstraints

from gateway.extension import (
    SEARCH_BYTES_MAX,
    Body,
    FilterBody,
    SearchAnswer,
    SearchBody,
    schemas,
)
from index.model.conditions.condition import HitProperty
from index.model.conditions.names import Values
from index.model.document import MetadataValue
from index.model.query import CONDITIONS

PLAN_STEPS_MAX = 16
PLAN_BYTES_MAX = PLAN_STEPS_MAX * SEARCH_BYTES_MAX
PARAMETERS_MAX = 32
TIME_MS_MAX = 3_600_000
TOKENS_MAX = 200_000
_NAME = "[a-z][a-z0-9_]{0,31}"

Operation: TypeAlias = Literal["union", "intersection", "difference"]
StepName = Annotated[str, StringConstraints(pattern=f"^{_NAME}$")]
_Tokens = Annotated[int, Field(ge=1, le=TOKENS_MAX)]


class ReferenceBody(Body):
    """The values that the hits of an earlier step have."""

    path: Annotated[
        str, StringConstraints(pattern=rf"^{_NAME}\.({'|'.join(get_args(HitProperty))})$")
    ] = Field(alias="from", description="the step and what its hits have: `STEP.document_ids`")

    @property
    def step(self) -> str:
        return self.path.partition(".")[0]

    @property
    def property_name(self) -> str:
        return self.path.partition(".")[2]


def _values_or_reference(value: object) -> str:
    is_reference = isinstance(value, dict | ReferenceBody)
    return schemas.branch("reference").tag if is_reference else schemas.branch("values").tag


_ValuesOrReference: TypeAlias = (
    Annotated[
        Annotated[Values, schemas.branch("values")]
        | Annotated[ReferenceBody, schemas.branch("reference")],
        Discriminator(_values_or_reference),
    ]
    | None
)


# Each holds values alone by the time that a filter is used: `references.resolved_search`.
_REFERENCES = {
    name: (_ValuesOrReference, Field(None, description=condition.description))
    for name, condition in CONDITIONS.items()
    if condition.takes is not None
}


class StepFilterBody(schemas.with_fields(FilterBody, _REFERENCES)):  # type: ignore[misc]  # as `FilterBody`
    """The filter of a step, which can take values from earlier steps."""

    @property
    def references(self) -> Mapping[str, ReferenceBody]:
        """By the field that takes the values."""
        values = {name: getattr(self, name) for name in CONDITIONS}
        return {name: one for name, one in values.items() if isinstance(one, ReferenceBody)}


class SearchStepBody(SearchBody):
    """A search as in `POST /v1/search`, without `history`, `gate` and `context`."""

    name: StepName
    filter: StepFilterBody = StepFilterBody()
    tokens: _Tokens | None = Field(
        None,
        description="maximum estimated tokens of the texts of this step in the answer; later steps "
        "use its other hits too",
    )

    @property
    def needs(self) -> set[str]:
        """The names of the steps that this one uses."""
        return {reference.step for reference in self.filter.references.values()}


class SetStepBody(Body):
    """A set operation on the hits of earlier steps."""

    name: StepName
    operation: Operation = Field(
        description="`union`: the hits of all steps, by their summed reciprocal ranks; "
        "`intersection`: the hits of the first step in documents that all the others found; "
        "`difference`: those in documents that no other found"
    )
    of: Annotated[tuple[StepName, ...], Field(min_length=2, max_length=PLAN_STEPS_MAX)] = Field(
        description="the steps"
    )
    top_k: schemas.Count | None = Field(None, description="maximum number of hits; absent: all")
    tokens: _Tokens | None = Field(None, description="as of a search")

    @property
    def needs(self) -> set[str]:
        """The names of the steps that this one uses."""
        return set(self.of)


def _search_or_set(value: object) -> str:
    is_set = isinstance(value, SetStepBody) or (
        isinstance(value, dict) and not value.keys().isdisjoint(("operation", "of"))
    )
    return schemas.branch("set").tag if is_set else schemas.branch("search").tag


StepBody: TypeAlias = SearchStepBody | SetStepBody
_Step = Annotated[
    Annotated[SearchStepBody, schemas.branch("search")]
    | Annotated[SetStepBody, schemas.branch("set")],
    Discriminator(_search_or_set),
]
_Steps = Annotated[tuple[_Step, ...], Field(min_length=1, max_length=PLAN_STEPS_MAX)]
_Output = Annotated[tuple[StepName, ...], Field(min_length=1, max_length=PLAN_STEPS_MAX)]
_STEPS = "a step refers to steps before it alone; steps that use none of each other run at once"
_OUTPUT = "the steps that the answer shows, in this order; absent: all"


class PlanBudgetBody(Body):
    """What the whole plan may take; the answer says what it lacks because of that."""

    time_ms: int | None = Field(
        None,
        ge=1,
        le=TIME_MS_MAX,
        description="time after which unfinished steps are given up, from the request's arrival",
    )
    tokens: _Tokens | None = Field(
        None, description="maximum estimated tokens of the texts in the answer"
    )

    def narrowed(self, other: "PlanBudgetBody") -> "PlanBudgetBody":
        return PlanBudgetBody(
            time_ms=_least(self.time_ms, other.time_ms), tokens=_least(self.tokens, other.tokens)
        )


class PlanBody(Body):
    """The steps, of which later ones can use what earlier ones found."""

    steps: _Steps = Field(description=_STEPS)
    output: _Output | None = Field(None, description=_OUTPUT)
    budget: PlanBudgetBody = PlanBudgetBody()

    @property
    def searches(self) -> Mapping[int, SearchStepBody]:
        """By their numbers among the steps."""
        return {
            number: step
            for number, step in enumerate(self.steps)
            if isinstance(step, SearchStepBody)
        }


class SearchPlanBody(Body):
    """A plan, or the name of a strategy of the tenant, which is a stored plan."""

    steps: _Steps | None = Field(None, description=_STEPS)
    output: _Output | None = Field(None, description=_OUTPUT)
    budget: PlanBudgetBody = Field(
        PlanBudgetBody(),
        description="with a strategy, the smaller of its budget and this one counts",
    )
    strategy: schemas.GateName | None = Field(
        None, description="name of a strategy, instead of `steps` and `output`"
    )
    parameters: Annotated[dict[str, MetadataValue], Field(max_length=PARAMETERS_MAX)] | None = (
        Field(None, description="values of the strategy's parameters by name")
    )


class StepAnswer(Body):
    name: str
    answer: SearchAnswer
    left_out: int = Field(description="number of hits that a budget of tokens leaves out")
    resolved: dict[str, tuple[str, ...]] | None = Field(
        None,
        description="values that the step's filter has from earlier steps; only with `explain`",
    )


class SearchPlanAnswer(Body):
    steps: tuple[StepAnswer, ...] = Field(description="the finished steps of `output`")
    unfinished: tuple[str, ...] = Field(
        description="names of the steps that the budget of time has ended"
    )


def _least(*optional_limits: int | None) -> int | None:
    limits = [limit for limit in optional_limits if limit is not None]
    return min(limits, default=None)

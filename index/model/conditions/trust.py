"""Documents that are trusted at least so much; see `index.model.provenance`."""

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition
from index.model.conditions.names import Names
from index.model.provenance import TRUSTS, Trust


def _at_least(least: Trust) -> Names | None:
    return None if least == TRUSTS[0] else tuple(sorted(TRUSTS[TRUSTS.index(least) :]))


TRUST: FilterCondition[Names] = FilterCondition(
    field=Trust,
    description="least trust: `vouched` (a person wrote or ratified it), `source` (or a source "
    "has it), `web` (or it is from the web); `claim` leaves nothing out",
    canonical=_at_least,
    sql="coalesce(:value ? (provenance ->> 'trust'), false)",
    argument=list,
    admits=lambda wanted, chunk: chunk.trust in wanted,
    mask=None,
    both=names.intersection,
)

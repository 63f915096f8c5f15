"""Documents in one of these languages."""

from collections.abc import Iterable, Iterator

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition, ToolArgument
from index.model.conditions.names import Names, Values

_SUBTAG_CASES = {2: str.upper, 4: str.title}  # regions and scripts, by their length


def _forms(tags: Iterable[str]) -> Iterator[str]:
    """Two spellings of each tag: with its language in small letters, the rest as given; and as RFC
    5646, section 2.1.1, writes it, such as `zh-Hant-TW`.
    """
    for tag in tags:
        language, *subtags = tag.replace("_", "-").split("-")
        language = language.lower()
        cased = (_SUBTAG_CASES.get(len(subtag), str.lower)(subtag) for subtag in subtags)
        yield "-".join((language, *subtags))
        yield "-".join((language, *cased))


LANGUAGES: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="a document passes if its language is in the list",
    sql="language = ANY (:value)",
    parameter="text[]",
    admits=lambda wanted, chunk: chunk.language in wanted,
    mask=lambda wanted, columns: columns.where("languages", lambda language: language in wanted),
    both=names.intersection,
    tool=ToolArgument(
        "languages",
        "Search only documents in one of these languages, such as en.",
        fields=lambda tags: {"languages": list(dict.fromkeys(_forms(tags)))},
    ),
    takes="languages",
)

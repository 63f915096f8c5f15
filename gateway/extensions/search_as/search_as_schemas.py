"""The request body of a search as somebody else."""

from pydantic import Field, model_validator

from gateway.extension import Body, SearchBody, with_example
from index.model.identifiers import Groups, SubjectId


class SearchAsBody(Body):
    """Whom to search as, and the search; a subject, groups, or both must be set."""

    model_config = with_example(subject="ben", search={"query": "annual leave"})

    subject: SubjectId | None = Field(
        None, description="whose documents and memberships count; null: nobody's"
    )
    groups: Groups = Field((), description="groups besides those that the subject is a member of")
    search: SearchBody = Field(description="the search")

    @model_validator(mode="after")
    def _names_somebody(self) -> "SearchAsBody":
        if self.subject is None and not self.groups:
            raise ValueError("`subject` or `groups` must be set")
        return self

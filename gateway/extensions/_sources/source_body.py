"""The configuration of a source of any kind that is contributed."""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import Field, RootModel, create_model

from gateway.extension import CommandError, with_example
from gateway.extensions._sources.kinds import FOLDER, PathKind
from gateway.extensions._sources.source_kind import SourceKind
from gateway.extensions._sources.source_schemas import PathSourceBody, SourceConfiguration


def body_of(contributions: Sequence[object]) -> type[RootModel[Any]]:
    """The model of a folder's configuration, or of a kind's that is contributed.

    Raises `CommandError` if two kinds have one name.
    """
    path_kinds = [each.name for each in contributions if isinstance(each, PathKind)]
    bodies = [each.body for each in contributions if isinstance(each, SourceKind)]
    kinds = [FOLDER, *path_kinds, *chain.from_iterable(map(kinds_of, bodies))]
    if len(set(kinds)) < len(kinds):
        raise CommandError(f"two extensions read sources of one kind: {', '.join(kinds)}")
    return _body(tuple(path_kinds), *bodies)


def kinds_of(body: type[SourceConfiguration]) -> tuple[str, ...]:
    """The names of the kinds whose configuration this is."""
    return get_args(body.model_fields["kind"].annotation)


@cache
def _body(path_kinds: tuple[str, ...], *further: type[SourceConfiguration]) -> type[RootModel[Any]]:
    names: Any = Literal[(FOLDER, *path_kinds)]
    kind = PathSourceBody.model_fields["kind"]
    of_path = create_model("PathSourceBody", __base__=PathSourceBody, kind=(names, kind))
    kinds: Any = of_path
    if further:
        kinds = Annotated[Union[(of_path, *further)], Field(discriminator="kind")]

    class SourceBody(RootModel[kinds]):
        """The configuration of a source, by its kind."""

        model_config = with_example(
            kind="folder",
            settings={"path": "wiki", "readers": ["tenant"]},
            schedule="0 * * * *",
        )

    return SourceBody

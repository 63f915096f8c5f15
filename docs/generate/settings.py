"""docs/reference/settings.md: every setting with its default."""

import json

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.generate.markdown import NOTE, code, join, table
from gateway.configured.installed_extensions import switched_on
from gateway.settings.setting_sources import variable
from gateway.settings.settings import Settings


def page() -> str:
    return join(
        "# Settings",
        "Every command reads its settings when it starts: from the environment, "
        "[files of secrets and a TOML file](../operations/run.md#settings).\n"
        "A setting without a default is unset unless the operator sets it.",
        NOTE.format(source="`gateway/settings/groups`"),
        *(part for group in Settings.__bases__ for part in _section(group)),
        *(
            part
            for name, extension in switched_on("").items()
            if extension.settings.model_fields
            for part in _section(extension.settings, f"{name}_")
        ),
    )


def _section(group: type, prefix: str = "") -> tuple[str, str]:
    """A heading and a table; the group's docstring is the heading."""
    assert issubclass(group, BaseModel)
    rows = (
        (code(variable(prefix + name)), _default(field), field.description or "")
        for name, field in group.model_fields.items()
    )
    title = (group.__doc__ or "").rstrip(".")
    return f"## {title}", table(("setting", "default", "description"), rows)


def _default(field: FieldInfo) -> str:
    default = field.get_default()
    match default:
        case None | {}:
            return ""
        case bool() | tuple():
            return code(json.dumps(default))
        case _:
            return code(default)

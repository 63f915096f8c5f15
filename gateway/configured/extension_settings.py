"""The settings of extensions, which stand beside those of the core under the extension's name.

The field `subject` of the extension `scim` is the variable `NEARHIT_SCIM_SUBJECT`, and `subject` in
the table `[extensions.scim]` of the TOML file. What is switched off is not imported, so nobody
knows its settings; they are not used, and refuse nothing.
"""

import os
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from common.command_errors import CommandError
from gateway.configured.installed_extensions import switched_on
from gateway.problems import field_errors
from gateway.settings import setting_report, setting_sources
from gateway.settings.found_extensions import found
from gateway.settings.setting_report import SettingReport
from gateway.settings.settings import Settings


def fields(names_off: str = "") -> dict[str, FieldInfo]:
    """All settings of the core and of the extensions that are on, by name.

    Raises `CommandError` if two are named alike.
    """
    known = dict(Settings.model_fields)
    for extension in switched_on(names_off):
        for name, field in fields_of(extension, names_off).items():
            if name in known:
                raise CommandError(
                    f"extension {extension}: the setting {setting_sources.variable(name)} is taken"
                )
            known[name] = field
    return known


def fields_of(extension: str, names_off: str = "") -> dict[str, FieldInfo]:
    model = switched_on(names_off)[extension].settings
    return {f"{extension}_{name}": field for name, field in model.model_fields.items()}


def read(names_off: str) -> dict[str, BaseModel]:
    """The settings of each extension that is on, from the sources of the core's.

    names_off: the setting `extensions_off`. Raises `CommandError` if one is invalid, or if the TOML
    file has a table of an extension that is not installed.
    """
    fields(names_off)
    for name in setting_sources.extension_tables(os.environ):
        if name not in found():
            raise CommandError(
                f"{os.environ[setting_sources.CONFIG]}: extensions.{name} is no extension; "
                f"there are {', '.join(found())}"
            )
    return {name: _read(name, names_off) for name in switched_on(names_off)}


def report(settings: Settings, own: Mapping[str, BaseModel]) -> SettingReport:
    """own: what `read` has given."""
    known, environ = fields(settings.extensions_off), os.environ
    off = found().keys() - own.keys()
    differing = setting_report.differing(settings)
    origins = setting_sources.origins(Settings.model_fields, environ)
    for name, values in own.items():
        differing |= setting_report.differing(values, f"{name}_")
        its_fields = fields_of(name, settings.extensions_off)
        origins |= setting_sources.origins(its_fields, environ, name)
    unknown = setting_sources.unknown_variables(known, environ, off)
    unused = [*_unused(known, off), *_unrecorded(settings)]
    return SettingReport(differing, origins, unknown, unused)


def _read(name: str, names_off: str) -> BaseModel:
    model, prefix = switched_on(names_off)[name].settings, f"{name}_"
    known = fields_of(name, names_off)
    values = setting_sources.config_of(known, os.environ, name)
    values |= setting_sources.secrets_of(known, os.environ)
    values |= setting_sources.variables_of(known, os.environ)
    try:
        return model.model_validate(
            {field.removeprefix(prefix): value for field, value in values.items()}
        )
    except ValidationError as error:
        complaints = field_errors.of_settings(error, setting_sources.variable(prefix), model)
        raise CommandError("; ".join(complaints)) from None


def _unused(known: Mapping[str, FieldInfo], off: set[str]) -> Iterator[str]:
    for name, extension in setting_sources.unused_variables(known, os.environ, off).items():
        yield f"{name} is not used: the extension {extension} is off"
    for extension in sorted(off.intersection(setting_sources.extension_tables(os.environ))):
        yield f"the table extensions.{extension} is not used: the extension is off"


def _unrecorded(settings: Settings) -> Iterator[str]:
    extensions = switched_on(settings.extensions_off).values()
    if settings.audit_log != "off" and not any(each.access_log for each in extensions):
        recorded = f"NEARHIT_AUDIT_LOG={settings.audit_log} records changes alone"
        yield f"{recorded}: no extension is on that records reads and refused requests"

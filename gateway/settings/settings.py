"""All settings, from the environment, files of secrets, and a TOML file."""

import os

from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from gateway.settings import setting_sources
from gateway.settings.groups.cache import CacheSettings
from gateway.settings.groups.jobs import JobSettings
from gateway.settings.groups.limits import LimitSettings
from gateway.settings.groups.models import ModelSettings
from gateway.settings.groups.monitoring import MonitoringSettings
from gateway.settings.groups.servers import ServerSettings
from gateway.settings.groups.web_tokens import WebTokenSettings


class Settings(
    ServerSettings,
    ModelSettings,
    JobSettings,
    CacheSettings,
    LimitSettings,
    WebTokenSettings,
    MonitoringSettings,
):
    """Each field is an environment variable: `NEARHIT_` and its name in capitals.

    A new value reads the files again. Raises `CommandError` if one can't be read, and pydantic's
    `ValidationError`.
    """

    model_config = SettingsConfigDict(
        env_prefix=setting_sources.PREFIX, env_ignore_empty=True, frozen=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  pydantic's, unused
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        fields = cls.model_fields
        secrets = setting_sources.secrets_of(fields, os.environ)
        config = setting_sources.config_of(fields, os.environ)
        return (
            init_settings,
            env_settings,
            InitSettingsSource(settings_cls, secrets),
            InitSettingsSource(settings_cls, config),
        )

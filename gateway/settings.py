"""All settings, from environment variables with the prefix `NEARHIT_`."""

from pydantic_settings import SettingsConfigDict

from gateway.setting_groups.cache import CacheSettings
from gateway.setting_groups.jobs import JobSettings
from gateway.setting_groups.limits import LimitSettings
from gateway.setting_groups.models import ModelSettings
from gateway.setting_groups.monitoring import MonitoringSettings
from gateway.setting_groups.servers import ServerSettings
from gateway.setting_groups.web_tokens import WebTokenSettings


class Settings(
    ServerSettings,
    ModelSettings,
    JobSettings,
    CacheSettings,
    LimitSettings,
    WebTokenSettings,
    MonitoringSettings,
):
    """Each field is an environment variable: `NEARHIT_` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="NEARHIT_", env_ignore_empty=True, frozen=True)

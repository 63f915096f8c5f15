"""What extensions bring to the services of a process, as the settings name it."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from gateway.caching.question_tier import ConfiguredQuestionTier
from gateway.configured import (
    configured_region,
    configured_reranker,
    configured_tracing,
    configured_web_tokens,
    of_one_extension,
)
from gateway.configured.installed_extensions import contributions, search_fields_off, switched_on
from gateway.documents.document_services import MakePreprocessor
from gateway.extension import Extension
from gateway.monitoring.tracing import Service
from gateway.recording.usage_meter import OpenUsageMeter, no_usage_meter
from gateway.search.search_steps import OpenSearchSteps
from gateway.services import Brought
from gateway.settings.settings import Settings


def find(settings: Settings, own: Mapping[str, BaseModel], service: Service) -> Brought:
    """It may load a model. Raises `CommandError` if the settings name what nothing brings.

    own: the settings of each extension that is on.
    """
    return Brought(
        reranker=configured_reranker.find(settings, own),
        open_steps=search_steps(settings),
        fields_off=search_fields_off(settings.extensions_off),
        make_preprocessor=preprocessor(settings),
        make_tracing=configured_tracing.find(settings, service),
        web_tokens=configured_web_tokens.find(settings),
        open_access_log=of_one_extension.find(
            settings, lambda each: each.access_log, "record reads and refused requests"
        ),
        open_usage_meter=usage_meter(settings),
        question_tier=question_tier(settings, own),
        open_region=configured_region.find(settings),
        contributions=contributions(switched_on(settings.extensions_off), own),
    )


def usage_meter(settings: Settings) -> OpenUsageMeter:
    """What counts the use of models. Raises `CommandError` if prices or a budget need one."""
    do = "meter what tenants use of models"
    if settings.budget_month is None and not settings.prices:
        return of_one_extension.find(settings, _usage_meter_of, do) or no_usage_meter
    needed_by = "prices" if settings.budget_month is None else "budget_month"
    return of_one_extension.require(settings, _usage_meter_of, do, needed_by)


def _usage_meter_of(extension: Extension[Any]) -> OpenUsageMeter | None:
    return extension.usage_meter


def preprocessor(settings: Settings) -> MakePreprocessor | None:
    """What chunks and summarises documents with a language model. Raises `CommandError`."""
    return of_one_extension.find(settings, lambda each: each.preprocessor, "preprocess documents")


def search_steps(settings: Settings) -> OpenSearchSteps | None:
    """What serves the fields of searches that need an extension. Raises `CommandError`."""
    return of_one_extension.find(
        settings, lambda each: each.search_steps, "bring steps of searches"
    )


def question_tier(
    settings: Settings, own: Mapping[str, BaseModel]
) -> ConfiguredQuestionTier | None:
    """What answers a search with what another question was answered. Raises `CommandError`.

    own: the settings of each extension that is on.
    """
    kinds = of_one_extension.by_name(settings, lambda each: each.question_tier, "compare questions")
    tiers = (ConfiguredQuestionTier(kind, own[name]) for name, kind in kinds.items())
    return next(tiers, None)

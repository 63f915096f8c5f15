"""What the configuration and the synchronization of sources use."""

from dataclasses import dataclass

from gateway.settings.settings import Settings
from gateway.sources.source_kinds import SourceKinds
from gateway.stores import Stores
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class SourceServices:
    settings: Settings
    stores: Stores
    writer: Writer
    kinds: SourceKinds


def build(settings: Settings, stores: Stores, writer: Writer) -> SourceServices:
    return SourceServices(settings, stores, writer, SourceKinds(settings))

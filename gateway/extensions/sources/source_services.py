"""What the configuration and the reading of sources use."""

from dataclasses import dataclass

from gateway.extension import Stores
from gateway.extensions._sources.source_store import SourceStore
from gateway.extensions.sources.source_kinds import SourceKinds
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class SourceServices:
    stores: Stores
    sources: SourceStore
    writer: Writer
    kinds: SourceKinds

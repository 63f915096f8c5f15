"""What the configuration and the synchronization of sources use."""

from dataclasses import dataclass

from gateway.sources.source_kinds import SourceKinds
from gateway.stores import Stores
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class SourceServices:
    stores: Stores
    writer: Writer
    kinds: SourceKinds

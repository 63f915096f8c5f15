"""What follows the stores of OpenFGA uses."""

from dataclasses import dataclass

from gateway.extensions.openfga.openfga_metrics import OpenfgaMetrics
from gateway.extensions.openfga.openfga_settings import OpenfgaSettings
from gateway.extensions.openfga.rights_as_of import RightsAsOf
from gateway.extensions.openfga.tuple_store import TupleStore
from index.postgres.database import Database
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class OpenfgaServices:
    settings: OpenfgaSettings
    database: Database
    tuples: TupleStore
    writer: Writer
    metrics: OpenfgaMetrics
    rights_as_of: RightsAsOf

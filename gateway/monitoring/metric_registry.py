"""The metric families of one process, and their exposition.

The processes of one `nearhit serve --workers N` share a folder of files, from which each of them
can report the sum of all. The package reads its name, `PROMETHEUS_MULTIPROC_DIR`, when it is
imported.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

# How the values of several processes become one: their sum, or the one that was set last.
Joined: TypeAlias = Literal["livesum", "livemostrecent"]

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


class MetricRegistry:
    """Makes families whose names begin with `nearhit_`."""

    def __init__(self) -> None:
        # A series for each other one, of no use while processes last.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the package has no annotation
        self.collected = CollectorRegistry()

    @property
    def collectors(self) -> Sequence[object]:
        """The families in the order in which they were made, for the reference."""
        # The package offers no public way to a family that has counted nothing yet.
        return list(self.collected._collector_to_names)  # noqa: SLF001

    def counter(self, name: str, help_text: str, *labels: str) -> Counter:
        """`_total` is added to the name."""
        return Counter(f"nearhit_{name}", help_text, labels, registry=self.collected)

    def histogram(
        self, name: str, help_text: str, *labels: str, buckets: Sequence[float]
    ) -> Histogram:
        return Histogram(
            f"nearhit_{name}", help_text, labels, buckets=buckets, registry=self.collected
        )

    def gauge(self, name: str, help_text: str, *labels: str, joined: Joined) -> Gauge:
        return Gauge(
            f"nearhit_{name}",
            help_text,
            labels,
            multiprocess_mode=joined,
            registry=self.collected,
        )

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """The metrics of all processes that share the folder, and their media type.

        accept: the header of the request; OpenMetrics if it asks for that, else Prometheus's text.
        """
        encode, media_type = choose_encoder(accept)
        folder = os.environ.get(_FOLDER)
        if folder is None:
            return encode(self.collected), media_type
        _forget_ended_processes(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the package has no annotation
        return encode(registry), media_type


def _forget_ended_processes(folder: Path) -> None:
    """Drop the gauges of workers that have ended; what they counted remains."""
    numbers = {file.stem.rpartition("_")[2] for file in folder.glob("gauge_live*.db")}
    for number in filter(str.isdecimal, numbers):
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            mark_process_dead(int(number), str(folder))  # type: ignore[no-untyped-call]
        except PermissionError:
            pass  # it lives

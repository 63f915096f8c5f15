"""A process that reads files of all formats."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from gateway import installed_extensions
from ingest.parse.extract import Extractor


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with closing(Extractor(installed_extensions.formats(""))) as extractor:
        yield extractor

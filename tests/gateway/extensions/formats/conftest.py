"""A process that reads files of all formats."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from gateway.extensions._files import installed_formats
from gateway.extensions._files.extract import Extractor


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with closing(Extractor(installed_formats.formats(""))) as extractor:
        yield extractor

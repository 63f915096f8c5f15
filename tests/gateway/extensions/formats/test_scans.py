"""Scanned pages of a PDF are read where that is asked for."""

from io import BytesIO
from unittest.mock import patch

import pytest
from PIL import Image, ImageDraw, ImageFont

from gateway.extensions._files.extracted import ReadOptions
from gateway.extensions.formats.pdf import scans
from gateway.extensions.formats.readers import pdf
from tests.gateway.extensions._sources.files import pdf_of

READ = ReadOptions(reads_scans=True)
FIRST = ["Annual leave", "", "Everybody gets 25 days of leave,", "and 5 more for long service."]
SECOND = ["Travel", "", "Trains are first class."]


def scan(*pages: list[str]) -> bytes:
    images = []
    for lines in pages:
        image = Image.new("RGB", (800, 480), "white")
        for number, line in enumerate(lines):
            place = (60, 60 + 60 * number)
            ImageDraw.Draw(image).text(place, line, "black", ImageFont.load_default(40))
        images.append(image)
    made = BytesIO()
    images[0].save(made, "PDF", save_all=True, append_images=images[1:])
    return made.getvalue()


@pytest.mark.thorough
@pytest.mark.slow
def test_the_lines_and_paragraphs_of_scans_are_read() -> None:
    found = pdf.read(scan(FIRST, []), READ)

    assert found.text.split("\n\n") == [FIRST[0], "\n".join(FIRST[2:])]
    assert list(found.losses) == [
        "on page 2 an image seems to hold the text, and is not read",
        "on page 1 the text is read from an image, and may have errors",
    ]


def test_scans_are_read_as_far_as_there_is_time() -> None:
    with (
        patch.object(scans, "SECONDS_MAX", 0.0),
        patch.object(scans, "read_image", lambda image: f"{image.width} pixels"),
    ):
        found = pdf.read(scan(FIRST, SECOND), READ)

    assert found.text.strip() == "800 pixels"  # of one page
    assert list(found.losses) == [
        "on page 2 an image seems to hold the text, and is not read",
        "on page 1 the text is read from an image, and may have errors",
    ]


def test_an_image_that_cannot_be_read_costs_its_page_alone() -> None:
    text = b"BT /F1 12 Tf 72 720 Td (Some text) Tj ET"
    found = pdf.read(pdf_of([text, b"q 600 0 0 780 0 0 cm /X1 Do Q "]), READ)

    assert found.text.strip() == "Some text"
    assert list(found.losses) == ["on page 2 an image seems to hold the text, and is not read"]

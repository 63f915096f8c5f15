"""How files are read, as the settings say."""

from importlib.util import find_spec

from gateway.extension import CommandError, Settings
from gateway.extensions._files.extracted import ReadOptions


def of(settings: Settings) -> ReadOptions:
    """Raises `CommandError` if scans are to be read without the extra."""
    if settings.ocr and find_spec("rapidocr") is None:
        raise CommandError("NEARHIT_OCR needs the extra `ocr`: pip install '.[ocr]' in a checkout")
    return ReadOptions(marks_hidden=settings.hidden_text == "mark", reads_scans=settings.ocr)

"""What chunks and summarises documents with a language model: of one of the extensions."""

from gateway.documents.document_services import MakePreprocessor
from gateway.errors import CommandError
from gateway.installed_extensions import switched_on
from gateway.settings.settings import Settings


def find(settings: Settings) -> MakePreprocessor | None:
    """None if no extension that is on brings one. Raises `CommandError` if two do."""
    brought = {
        name: extension.preprocessor
        for name, extension in switched_on(settings.extensions_off).items()
        if extension.preprocessor is not None
    }
    if len(brought) > 1:
        names = " and ".join(brought)
        raise CommandError(f"{names} preprocess documents: add one to NEARHIT_EXTENSIONS_OFF")
    return next(iter(brought.values()), None)

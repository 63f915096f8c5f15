"""Import and export: the operator writes a tenant to a file, reads one, or another store."""

from gateway.extension import Extension
from gateway.extensions.import_.import_settings import ImportSettings

EXTENSION: Extension[None] = Extension(
    "commands write a tenant to a file, and read such a file or the records of another store",
    settings=ImportSettings,
)

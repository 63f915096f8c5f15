"""The version of Nearhit that this process runs."""

from importlib import metadata

VERSION = metadata.version("nearhit")

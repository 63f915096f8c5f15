from tests.gateway.extensions.rag.conftest import served, settings, stub

__all__ = ["served", "settings", "stub"]

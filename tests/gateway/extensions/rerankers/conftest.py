from tests.gateway.rag.conftest import served, settings, stub

__all__ = ["served", "settings", "stub"]

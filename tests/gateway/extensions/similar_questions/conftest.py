from tests.cache.conftest import new_store, redis, store, truth

__all__ = ["new_store", "redis", "store", "truth"]  # fixtures

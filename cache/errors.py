"""The errors of this package.

CacheError
├── CacheUnavailable         Redis is away, too slow, or skipped by the open circuit breaker
└── ChangeFeedUnavailable    the changes can't be read; the next reader drains them
"""


class CacheError(Exception):
    """The caller continues without the cache."""


class CacheUnavailable(CacheError):
    """Redis can't be used now."""


class ChangeFeedUnavailable(CacheError):
    """The changes can't be read from PostgreSQL now."""

"""What goes wrong in this package.

CacheError
├── CacheUnavailable    Redis is away, too slow, or not being asked for a while
└── TruthUnavailable    what has changed can't be read; whoever asked leaves it to the next reader
"""


class CacheError(Exception):
    """The caller goes on without the cache."""


class CacheUnavailable(CacheError):
    """Redis can't be asked now."""


class ChangeFeedUnavailable(CacheError):
    """PostgreSQL can't be asked now what has changed."""

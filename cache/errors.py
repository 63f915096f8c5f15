"""What goes wrong in this package.

CacheUnavailable    Redis is away, too slow, or not being asked for a while
"""


class CacheUnavailable(Exception):
    """Redis can't be asked now: the caller goes on without it."""

"""An event can't be applied, now or later."""


class EventRefused(Exception):
    """A retry is useless. The message quotes no document."""

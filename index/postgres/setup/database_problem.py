"""What is wrong with a database, and what mends it."""

from typing import NamedTuple


class DatabaseProblem(NamedTuple):
    """remedy: the SQL that an administrator runs in the database, if there is any."""

    text: str
    remedy: str = ""

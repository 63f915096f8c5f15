"""What goes wrong in this package.

DocumentContended   others kept changing the document while we prepared its next version
"""


class DocumentContended(Exception):
    """Try again: nothing was stored."""

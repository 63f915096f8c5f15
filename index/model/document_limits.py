"""Limits of a document's text and head, for processes that read files and need no models.

`index.model.document` has those of the other fields.
"""

import re

# Starting values, not measured, unless a source is given.
TITLE_CHARACTERS_MAX = 300
TEXT_CHARACTERS_MAX = 2_000_000
URI_CHARACTERS_MAX = 2_048

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")  # RFC 5646, without its rarer forms
LANGUAGE_CHARACTERS_MAX = 35  # RFC 5646, section 4.4.1

"""Which servers outgoing connections trust."""

import ssl
from functools import cache


@cache
def verifying() -> ssl.SSLContext:
    """Verifies hosts by the system's authorities, which take 50 ms to load.

    `SSL_CERT_FILE` or `SSL_CERT_DIR` names others.
    """
    from httpx2 import create_ssl_context

    return create_ssl_context()

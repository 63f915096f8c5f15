"""The bytes of the answers of one response."""

from gateway.problems import problems

# Of the answers of one response; 100 hits with neighbours have about 4 MB, as Pinecone returns.
ANSWER_BYTES_MAX = 16_777_216


def require_short(body: bytes) -> bytes:
    """The body of an answer; a 422 `Problem` if it is too large."""
    if len(body) > ANSWER_BYTES_MAX:
        raise problems.answer_too_large(ANSWER_BYTES_MAX)
    return body

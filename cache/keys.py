"""Keys of cached answers: equal only if the answers must be equal at equal revisions."""

import hashlib


def answer_key(*, tenant: str, scope: bytes, query: bytes, edition: str) -> str:
    """32 hexadecimal digits from the tenant, what is seen, the query, and the edition.

    scope:   the fingerprint of a scope, or the digest of its sight; never equal.
    query:   equal only for equal queries.
    edition: names the model, analyser, schema and program, so that a change of any of them never
        meets an old answer.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in (tenant.encode(), scope, query, edition.encode()):
        digest.update(len(part).to_bytes(4))
        digest.update(part)
    return digest.hexdigest()

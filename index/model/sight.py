"""What a scope sees of a tenant, as a value: scopes that see the same may share cached answers.

Pure. An answer at one revision is a function of the query, of the visible documents, and of the
name of the scope through which each shows. A document's audience, the set of its allowed tokens,
decides both alone (`Scope.admits`, `Scope.name_of`). So two scopes of a tenant get equal answers to
all queries if they admit the same ones of the tenant's audiences, by the same names, and if both or
none of them receive other tenants' public documents.

One thing is read by grants beyond these: typos are corrected by words of documents that a group of
the caller may read, or once could (`index/vocabulary`). So the sight names the groups that
have such words, and those of the audiences, whose documents may get words at any time. Another
group's first word changes the audience revision, as a new audience does.
Whatever else a search comes to read by its scope, the sight has to name as well.
"""

import hashlib
from collections.abc import Collection, Iterable

import orjson

from index.model.scope import Scope

_DIGEST_BYTES = 32
# No fingerprint of a scope equals the digest of a sight, which is longer.


def sight_digest(
    scope: Scope, audiences: Iterable[Collection[str]], tokens_with_words: Collection[str]
) -> bytes:
    """Equal for two scopes of a tenant exactly if they see the same documents by the same names,
    and have the same of the groups that may have words.

    audiences: the sets of allowed tokens that the scope admits, of all that the tenant has, in any
    order. One that has no document makes digests differ where they could be equal, and never equal
    where they have to differ; so does a token of `tokens_with_words` whose words are deleted.
    """
    admitted = [frozenset(tokens) for tokens in audiences]
    shown = {(scope.name_of(scope.tenant, tokens), *sorted(tokens)) for tokens in admitted}
    worded = frozenset(tokens_with_words).union(*admitted)
    groups = {
        token
        for token in (*scope.grants, *scope.shared)
        if token.startswith("group:") and token in worded
    }
    form = orjson.dumps([scope.tenant, scope.public, sorted(groups), sorted(shown)])
    return hashlib.blake2b(form, digest_size=_DIGEST_BYTES).digest()

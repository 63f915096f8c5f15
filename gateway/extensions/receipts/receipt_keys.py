"""The keys of receipts: one signs, and all are published."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from jwt.algorithms import OKPAlgorithm

from gateway.extension import CommandError
from gateway.extensions._jwk.jwk import thumbprint

ALGORITHM = "EdDSA"
_KEYS_MAX = 16
_FILE_BYTES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class ReceiptKeys:
    """signing: the key of new receipts, and key_id its identifier.

    published: all public keys as a JSON Web Key Set, the signing one first.
    """

    signing: Ed25519PrivateKey
    key_id: str
    published: dict[str, Any]


def load(paths: Sequence[str]) -> ReceiptKeys:
    """The keys of these PEM files; only the first has to be private. Raises `CommandError`."""
    if len(paths) > _KEYS_MAX:
        raise CommandError(f"NEARHIT_RECEIPTS_KEYS names more than {_KEYS_MAX} files")
    keys = [_load(path) for path in paths]
    signing = keys[0]
    if not isinstance(signing, Ed25519PrivateKey):
        raise CommandError(f"NEARHIT_RECEIPTS_KEYS: the first file, {paths[0]}, has no private key")
    published = [_jwk(key) for key in keys]
    return ReceiptKeys(signing, published[0]["kid"], {"keys": published})


def _load(path: str) -> Ed25519PrivateKey | Ed25519PublicKey:
    try:
        with Path(path).open("rb") as file:
            pem = file.read(_FILE_BYTES_MAX)
        is_private = b"PRIVATE KEY" in pem
        key = load_pem_private_key(pem, None) if is_private else load_pem_public_key(pem)
    except OSError as error:
        raise CommandError(f"NEARHIT_RECEIPTS_KEYS: {path}: {error.strerror}") from None
    except (TypeError, UnsupportedAlgorithm, ValueError):
        raise CommandError(f"NEARHIT_RECEIPTS_KEYS: {path} is no PEM without a password") from None
    if not isinstance(key, Ed25519PrivateKey | Ed25519PublicKey):
        raise CommandError(f"NEARHIT_RECEIPTS_KEYS: {path} is no Ed25519 key")
    return key


def _jwk(key: Ed25519PrivateKey | Ed25519PublicKey) -> dict[str, Any]:
    public = key.public_key() if isinstance(key, Ed25519PrivateKey) else key
    members = OKPAlgorithm.to_jwk(public, as_dict=True)
    return {**members, "kid": thumbprint(members), "use": "sig", "alg": ALGORITHM}

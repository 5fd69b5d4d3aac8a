"""Keys: everything secret is derived from the one master key, each use with its own name."""

import hashlib
import hmac

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derive(secret: bytes, use: str) -> bytes:
    """Derive the 32-byte key for one use."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=use.encode()).derive(secret)


def fingerprint(key: bytes, *parts: bytes) -> bytes:
    """Return a keyed digest of the parts; their boundaries count."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()

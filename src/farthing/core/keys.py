"""Keys: everything secret is derived from the one master key, each use with its own name."""

import hashlib

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derive(secret: bytes, use: str) -> bytes:
    """Derive the 32-byte key for one use."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=use.encode()).derive(secret)


def fingerprint(key: bytes, *parts: bytes) -> bytes:
    """Return a keyed digest of the parts; their boundaries count."""
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.blake2b(framed, key=key, digest_size=32).digest()

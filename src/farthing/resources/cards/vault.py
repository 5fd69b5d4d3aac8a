"""The vault: the only file that sees a card number.

A number is encrypted under a data key, with the tenant and the card as associated data, so that a
row that is moved to another card cannot be opened. The data keys are kept wrapped by the master
key. A number's fingerprint is an HMAC over the number alone, kept apart from the rest of the card.
"""

import os
import re
import time
from datetime import datetime
from typing import Final, Literal, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from msgspec import Struct
from stdnum import luhn

from farthing.config import SettingsError
from farthing.core import ids, keys
from farthing.core.actors import Grant, Principal
from farthing.core.ids import new_id
from farthing.core.rows import VersionedRow
from farthing.db.commands import Command, Context, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.pool import Pool
from farthing.db.tables import AppendTable, Table
from farthing.rails.base import Hidden

ROLE: Final = "farthing_vault"
Scheme = Literal["VISA", "MASTERCARD"]
Purpose = Literal["numbers", "fingerprints"]

_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
# A process learns within this time that another one made a new key.
REFRESH_SECONDS: Final = 10.0

# VISA begins with 4; MASTERCARD with 51 to 55 or 2221 to 2720.
_SCHEMES: Final[dict[Scheme, re.Pattern[str]]] = {
    "VISA": re.compile(r"4(\d{12}|\d{15}|\d{18})", re.ASCII),
    "MASTERCARD": re.compile(
        r"(5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}", re.ASCII
    ),
}


# The first key of each purpose has a fixed id, so that it cannot be made twice.
_FIRST: Final[dict[Purpose, UUID]] = {"numbers": UUID(int=1), "fingerprints": UUID(int=2)}


class KeyRow(VersionedRow, frozen=True):
    """A data key, wrapped by the master key."""

    purpose: str
    wrapped: bytes
    created_at: datetime


class NumberRow(VersionedRow, frozen=True):
    """An encrypted card number; the row has the card's id."""

    key_id: UUID
    sealed: bytes


class Sighting(Struct, frozen=True):
    """A number was seen with this card of this customer; nothing here tells which number."""

    tenant_id: UUID
    fingerprint: bytes
    card_id: UUID
    owner_id: UUID
    created_at: datetime


KEYS: Final = Table("vault.keys", KeyRow, ROLE, rank=95)
NUMBERS: Final = Table("vault.numbers", NumberRow, ROLE, rank=15)
# Next to the numbers, so that the vault's role is taken once for both.
SIGHTINGS: Final = AppendTable("vault.sightings", Sighting, ROLE, rank=14)


class MasterKey(Protocol):
    """What wraps data keys: a local secret, or a key service behind the same two calls."""

    def wrap(self, key: bytes, purpose: str) -> bytes:
        """Encrypt a data key."""

    def unwrap(self, wrapped: bytes, purpose: str) -> bytes:
        """Decrypt a data key; raise InvalidTag if it was wrapped by another master key."""


class LocalMasterKey:
    """A master key in the memory of this process."""

    def __init__(self, master_key: bytes) -> None:
        self._cipher = AESGCM(keys.derive(master_key, "vault"))

    def wrap(self, key: bytes, purpose: str) -> bytes:
        """Encrypt a data key."""
        return _encrypt(self._cipher, Hidden(key.hex()), purpose.encode())

    def unwrap(self, wrapped: bytes, purpose: str) -> bytes:
        """Decrypt a data key."""
        return bytes.fromhex(_decrypt(self._cipher, wrapped, purpose.encode()).reveal())


def scheme_of(number: str) -> Scheme | None:
    """Tell the scheme from the number's range and length."""
    return next((name for name, form in _SCHEMES.items() if form.fullmatch(number)), None)


def fault_of(number: str) -> str | None:
    """Return the code of what is wrong with a number, if anything is."""
    if scheme_of(number) is None:
        return "unsupported_scheme"
    return None if luhn.is_valid(number) else "invalid_check_digit"


def suffix_of(number: Hidden) -> str:
    """Return the four digits that may be shown."""
    return number.reveal()[-4:]


class Vault:
    """Seals and opens numbers with the data keys of this deployment."""

    def __init__(self, pool: Pool, committer: Committer, master_key: MasterKey) -> None:
        self._pool, self._committer, self._master_key = pool, committer, master_key
        self._ciphers: dict[UUID, AESGCM] = {}
        self._current: UUID | None = None
        self._fingerprints = HMAC(b"", SHA256())
        self._read_at = 0.0

    async def open(self) -> None:
        """Read the keys, made at the first start; a wrong master key is noticed here."""
        for purpose in _FIRST:
            if not any(row.purpose == purpose for row in await self._key_rows()):
                await self._add_key(_FIRST[purpose], purpose)
        await self.refresh(at_once=True)

    async def refresh(self, *, at_once: bool = False) -> None:
        """Read the keys again, now and then, because another process may have made one."""
        if not at_once and time.monotonic() - self._read_at < REFRESH_SECONDS:
            return
        for row in await self._key_rows():
            key = self._unwrap(row)
            if row.purpose == "fingerprints":
                self._fingerprints = HMAC(key, SHA256())
            else:
                self._ciphers[row.id] = AESGCM(key)
                self._current = row.id
        self._read_at = time.monotonic()

    async def make_key(self, purpose: Purpose) -> None:
        """Make a data key; of two processes that do so for the first time, one wins."""
        await self._add_key(new_id(), purpose)

    async def _add_key(self, key_id: UUID, purpose: Purpose) -> None:
        wrapped = self._master_key.wrap(os.urandom(_KEY_BYTES), purpose)

        def decide(draft: Draft) -> None:
            if draft.find(KEYS, key_id) is None:
                draft.insert(KEYS, KeyRow(ids.HOUSE, key_id, 1, purpose, wrapped, draft.now))

        context = Context(Principal(ids.HOUSE, Grant.PLATFORM), f"vault-{new_id()}")
        await self._committer.submit(context, Command(decide, needs=[Need(KEYS, key_id)]))

    def seal(self, tenant_id: UUID, card_id: UUID, number: Hidden) -> NumberRow:
        """Encrypt a number for one card of one tenant."""
        if self._current is None:
            raise LookupError("the vault is not open")
        bound_to = tenant_id.bytes + card_id.bytes
        sealed = _encrypt(self._ciphers[self._current], number, bound_to)
        return NumberRow(tenant_id, card_id, 1, self._current, sealed)

    def reveal(self, row: NumberRow) -> Hidden:
        """Decrypt the number of a card."""
        bound_to = row.tenant_id.bytes + row.id.bytes
        return _decrypt(self._ciphers[row.key_id], row.sealed, bound_to)

    async def find_number(self, tenant_id: UUID, card_id: UUID) -> Hidden | None:
        """Return the number of a card, if there is one."""
        async with self._pool.acquire() as connection, connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL ROLE {ROLE}")
            record = await connection.fetchrow(
                f"{NUMBERS.select_sql} WHERE tenant_id = $1 AND id = $2", tenant_id, card_id
            )
        if record is None:
            return None
        row = NUMBERS.read(record)
        # Another process may have made a key since this one has looked.
        await self.refresh(at_once=row.key_id not in self._ciphers)
        return self.reveal(row)

    def reseal(self, row: NumberRow) -> NumberRow:
        """Encrypt a number anew under the current key."""
        fresh = self.seal(row.tenant_id, row.id, self.reveal(row))
        return NumberRow(row.tenant_id, row.id, row.version, fresh.key_id, fresh.sealed)

    def fingerprint(self, number: Hidden) -> bytes:
        """Return what is the same for the same number, and tells nothing else."""
        # A copy, because to begin with the key costs more than all the rest.
        digest = self._fingerprints.copy()
        digest.update(number.reveal().encode())
        return digest.finalize()

    @property
    def current_key(self) -> UUID | None:
        """The key under which numbers are sealed now."""
        return self._current

    @property
    def older_keys(self) -> set[UUID]:
        """The keys that this process knows, and under which no number is sealed any more."""
        return set(self._ciphers) - {self._current}

    def _unwrap(self, row: KeyRow) -> bytes:
        try:
            return self._master_key.unwrap(row.wrapped, row.purpose)
        except InvalidTag:
            raise SettingsError(
                "The master key is not the one under which this database's card numbers were "
                "stored. Restore the right FARTHING_MASTER_KEY or FARTHING_MASTER_KEY_FILE."
            ) from None

    async def _key_rows(self) -> list[KeyRow]:
        async with self._pool.acquire() as connection, connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL ROLE {ROLE}")
            records = await connection.fetch(f"{KEYS.select_sql} ORDER BY created_at, id")
        return [KEYS.read(record) for record in records]


# What is hidden is revealed only within the call that needs it, never in a variable: an exception
# shows variables to whoever asks for them.


def _encrypt(cipher: AESGCM, plain: Hidden, bound_to: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plain.reveal().encode(), bound_to)


def _decrypt(cipher: AESGCM, sealed: bytes, bound_to: bytes) -> Hidden:
    return Hidden(cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound_to).decode())

"""Every setting once: its name, its default and one sentence."""

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import msgspec
from msgspec import Meta, Struct

PREFIX: Final = "FARTHING_"
MASTER_KEY_BYTES: Final = 32
# The first bytes of every key that `farthing up` makes, so that live knows it wherever it turns up.
SANDBOX_KEY_MARK: Final = b"SANDBOX:"

_LIVE_RATE_LIMIT: Final = "1000/second"
_OFF: Final = "off"
# Of 32 random bytes, fewer different ones come once in 10^15 keys.
_LEAST_DIFFERENT: Final = 16


class SettingsError(Exception):
    """A setting is missing or wrong; the sentence says which one and how to mend it."""


def _setting(sentence: str) -> Meta:
    return Meta(description=sentence)


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one process, read from the environment as `FARTHING_<NAME>`."""

    environment: Annotated[
        Literal["sandbox", "live"],
        _setting(
            "Which of the two environments this is; credentials of one are refused by the other."
        ),
    ] = "sandbox"
    database_url: Annotated[
        str,
        _setting(
            "The PostgreSQL database, 15 or later, as `postgresql://user:password@host/name`; "
            "`farthing up` brings its own."
        ),
    ] = ""
    database_url_file: Annotated[
        str,
        _setting(
            "A file that holds the database's address with its password, instead of "
            "`FARTHING_DATABASE_URL`."
        ),
    ] = ""
    master_key: Annotated[
        str,
        _setting("The secret from which every other key is derived: 64 hexadecimal digits."),
    ] = ""
    master_key_file: Annotated[
        str,
        _setting("A file that holds the master key, instead of `FARTHING_MASTER_KEY`."),
    ] = ""
    host: Annotated[str, _setting("The address on which the service listens.")] = "127.0.0.1"
    port: Annotated[
        int, _setting("The port on which the service listens."), Meta(ge=0, le=65535)
    ] = 4960
    processes: Annotated[
        int,
        _setting(
            "How many processes `farthing serve` runs behind its port: one per core is a good "
            "guess, and one for two cores if the database is on the same machine."
        ),
        Meta(ge=1, le=64),
    ] = 1
    pool_size: Annotated[
        int, _setting("How many database connections one process may hold."), Meta(ge=2, le=500)
    ] = 8
    batch_size: Annotated[
        int,
        _setting("How many commands one database transaction may carry."),
        Meta(ge=1, le=1000),
    ] = 128
    lanes: Annotated[
        int,
        _setting("How many batches of one tenant one process may have under way at once."),
        Meta(ge=1, le=16),
    ] = 1
    queue_size: Annotated[
        int,
        _setting(
            "How many commands may wait in one process; a tenant that holds as many places as are "
            "still free is answered 503."
        ),
        Meta(ge=1, le=1_000_000),
    ] = 2048
    rate_limit: Annotated[
        str,
        _setting(
            "How many requests each process takes from one credential, such as `1000/second`, "
            "`5000/minute` or `off`; by default `off` in the sandbox and `1000/second` in live."
        ),
        Meta(pattern=r"^(off|[1-9][0-9]{0,8}/(second|minute|hour))?$"),
    ] = ""
    token_minutes: Annotated[
        int, _setting("How long an access token lives."), Meta(ge=1, le=24 * 60)
    ] = 60
    idempotency_hours: Annotated[
        int,
        _setting("How long the answer to a request with an `Idempotency-Key` is kept."),
        Meta(ge=24, le=24 * 365),
    ] = 48
    public_url: Annotated[
        str,
        _setting(
            "The address under which callers reach the service, for links such as that of a "
            "challenge page; by default the address on which it listens. Live takes https only."
        ),
    ] = ""
    other_url: Annotated[
        str,
        _setting(
            "The address of the other environment, for callers who come here with a credential of "
            "that one."
        ),
    ] = ""
    rail: Annotated[
        str,
        _setting(
            "How money leaves and enters: `sandbox`, or `package.module:function` of your own that "
            "returns a rail. Live takes no sandbox."
        ),
    ] = "sandbox"
    modulus_weights_file: Annotated[
        str,
        _setting(
            "The published table of weights for UK modulus checking; without it none is done."
        ),
    ] = ""
    modulus_substitutions_file: Annotated[
        str, _setting("The published table of sort code substitutions for UK modulus checking.")
    ] = ""
    challenge_minutes: Annotated[
        int, _setting("How long the link to a challenge page is good."), Meta(ge=1, le=24 * 60)
    ] = 15
    transfer_days: Annotated[
        int,
        _setting("How long an inbound transaction waits for its bank transfer before it fails."),
        Meta(ge=1, le=365),
    ] = 30
    rail_seconds: Annotated[
        int,
        _setting("How long a rail may take for an answer before its outcome counts as unknown."),
        Meta(ge=1, le=50),
    ] = 30
    reference_days: Annotated[
        int,
        _setting("How long a reference for bank transfers is good."),
        Meta(ge=1, le=3650),
    ] = 365
    webhook_private: Annotated[
        bool,
        _setting(
            "Whether webhooks may be at loopback and private addresses; `farthing up` turns it on, "
            "and live refuses it."
        ),
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        _setting("The least severe line that is logged."),
    ] = "info"
    log_format: Annotated[
        Literal["json", "console"], _setting("One JSON object a line, or lines for people.")
    ] = "json"

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the settings, or say which one is wrong."""
        given = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX)
        }
        known = {name: value for name, value in given.items() if name in cls.__struct_fields__}
        try:
            return msgspec.convert(known, cls, strict=False)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$.")
            name = PREFIX + path.rstrip("`").upper()
            raise SettingsError(f"{name} is wrong: {message}.") from None

    def __repr__(self) -> str:
        # They hold the master key and the database's password, and tracebacks can show this.
        return "<settings>"

    @property
    def base_url(self) -> str:
        """The address under which callers reach the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url.rstrip("/") or f"http://{host}:{self.port}"

    @property
    def effective_rate_limit(self) -> str | None:
        """The rate limit of this environment, if there is one."""
        by_default = _LIVE_RATE_LIMIT if self.environment == "live" else _OFF
        limit = self.rate_limit or by_default
        return None if limit == _OFF else limit

    def require_fit_for_live(self) -> None:
        """Refuse to move real money with what is made for trying out; the sandbox takes all."""
        if self.environment != "live":
            return
        if self.rail == "sandbox":
            raise SettingsError(
                "FARTHING_RAIL is `sandbox`, and live moves real money. Name your rail as "
                "`package.module:function`."
            )
        if not self.base_url.startswith("https://"):
            raise SettingsError(
                "FARTHING_PUBLIC_URL must be an https address in live, because cardholders are "
                "sent there."
            )
        if self.webhook_private:
            raise SettingsError(
                "FARTHING_WEBHOOK_PRIVATE lets webhooks reach private addresses and http, which "
                "live does not. Take it away."
            )
        _require_live_key(self.require_master_key())

    def require_database_url(self) -> str:
        """Return the database's address; without one nothing can start."""
        url = self.database_url
        if not url and self.database_url_file:
            url = _read("The file with the database's address", self.database_url_file)
        if not url:
            raise SettingsError(
                "FARTHING_DATABASE_URL is not set. Set it to a PostgreSQL database, for example "
                "postgresql://farthing:secret@localhost/farthing, or run `farthing up`, which "
                "brings a database of its own."
            )
        return url

    def require_master_key(self) -> bytes:
        """Return the 32 bytes of the master key, from the environment or from its file."""
        text, source = self.master_key, "FARTHING_MASTER_KEY"
        if not text and self.master_key_file:
            source = self.master_key_file
            text = _read("The master key file", source)
        if not text:
            raise SettingsError(
                "No master key: set FARTHING_MASTER_KEY or FARTHING_MASTER_KEY_FILE. "
                "`openssl rand -hex 32` makes one; keep it as safe as the money."
            )
        try:
            key = bytes.fromhex(text)
        except ValueError:
            key = b""
        if len(key) != MASTER_KEY_BYTES:
            raise SettingsError(f"The master key in {source} is not 64 hexadecimal digits.")
        return key


def _read(what: str, file: str) -> str:
    try:
        return Path(file).read_text("ascii").strip()
    except OSError as error:
        raise SettingsError(f"{what} {file} cannot be read: {error}.") from None
    except UnicodeDecodeError:
        # That error would repeat what it met, and this is a secret.
        raise SettingsError(f"{what} {file} holds more than plain ASCII.") from None


def _require_live_key(key: bytes) -> None:
    """Refuse a key of a sandbox, and one that nobody drew at random."""
    if key.startswith(SANDBOX_KEY_MARK):
        raise SettingsError(
            "The master key was made by `farthing up` for a sandbox. Make one for live with "
            "`openssl rand -hex 32`; keep it as safe as the money."
        )
    steps = {(after - before) % 256 for before, after in itertools.pairwise(key)}
    if min(len(set(key)), len(steps)) < _LEAST_DIFFERENT:
        raise SettingsError(
            "The master key is not random: its bytes repeat or count. Make one for live with "
            "`openssl rand -hex 32`; keep it as safe as the money."
        )

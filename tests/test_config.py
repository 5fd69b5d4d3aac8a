"""Settings: from the environment, each with a sentence when it is wrong."""

from pathlib import Path

import pytest

from farthing.config import Settings, SettingsError

KEY = "ab" * 32


def test_what_is_not_set_has_its_default() -> None:
    settings = Settings.load({})
    assert (settings.environment, settings.host, settings.port) == ("sandbox", "127.0.0.1", 4960)


def test_settings_come_from_the_environment() -> None:
    settings = Settings.load({"FARTHING_PORT": "5000", "FARTHING_LOG_LEVEL": "debug", "PATH": "x"})
    assert (settings.port, settings.log_level) == (5000, "debug")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FARTHING_PORT", "many"),
        ("FARTHING_PORT", "70000"),
        ("FARTHING_ENVIRONMENT", "production"),
        ("FARTHING_IDEMPOTENCY_HOURS", "1"),
        ("FARTHING_RATE_LIMIT", "many"),
        ("FARTHING_RATE_LIMIT", "0/second"),
        ("FARTHING_RATE_LIMIT", "10/fortnight"),
        ("FARTHING_REFERENCE_DAYS", "0"),
        ("FARTHING_REFERENCE_DAYS", "3651"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.load({name: value})


def test_without_a_database_the_sentence_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match="FARTHING_DATABASE_URL is not set"):
        Settings.load({}).require_database_url()


def test_the_address_of_the_database_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://farthing:secret@db/farthing\n")
    from_file = {"FARTHING_DATABASE_URL_FILE": str(file)}
    assert Settings.load(from_file).require_database_url() == file.read_text().strip()
    both = from_file | {"FARTHING_DATABASE_URL": "postgresql://other"}
    assert Settings.load(both).require_database_url() == "postgresql://other"


def test_a_file_with_the_address_that_cannot_be_read_is_named_and_never_repeated(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError, match="no/such/file"):
        Settings.load({"FARTHING_DATABASE_URL_FILE": "no/such/file"}).require_database_url()
    file = tmp_path / "url"
    file.write_bytes(b"postgresql://farthing:s\xc3\xa9cret@db/farthing")
    with pytest.raises(SettingsError, match="plain ASCII") as caught:
        Settings.load({"FARTHING_DATABASE_URL_FILE": str(file)}).require_database_url()
    assert "cret" not in str(caught.value)


def test_the_master_key_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    from_file = Settings.load({"FARTHING_MASTER_KEY_FILE": str(file)})
    from_environment = Settings.load({"FARTHING_MASTER_KEY": KEY})
    assert from_file.require_master_key() == from_environment.require_master_key()
    assert len(from_file.require_master_key()) == 32


@pytest.mark.parametrize("key", ["", "short", "zz" * 32, "ab" * 31, "ab" * 33])
def test_a_master_key_of_another_form_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load({"FARTHING_MASTER_KEY": key}).require_master_key()
    assert not key or key not in str(caught.value)


def test_a_master_key_file_that_is_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="no/such/file"):
        Settings.load({"FARTHING_MASTER_KEY_FILE": "no/such/file"}).require_master_key()

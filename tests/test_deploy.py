"""What stands in deploy/: checked as far as can be without a container engine and a systemd."""

import importlib.resources
import inspect
import io
import json
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main
import yaml
from dockerfile_parse import DockerfileParser
from tests.loud import cannot_run

from farthing.cli import app
from farthing.config import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file() and "secrets" not in path.parts)
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
OURS = {name: one for name, one in COMPOSE["services"].items() if "command" in one}
README = (DEPLOY / "README.md").read_text("utf-8")
# Ten is a service that may do everything; a tenth of the way is as far as ours may go.
MOST_EXPOSED = 15


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Containerfile").read_bytes()
    found = DockerfileParser(fileobj=io.BytesIO(text)).structure
    return [(one["instruction"], " ".join(one["value"].split())) for one in found]


def of(instruction: str) -> list[str]:
    return [value for name, value in instructions() if name == instruction]


def health_check() -> list[str]:
    """Return the command by which the image finds out whether it is well."""
    (check,) = of("HEALTHCHECK")
    command: list[str] = json.loads(check.partition("CMD ")[2])
    return command


def short(path: Path) -> str:
    return str(path.relative_to(DEPLOY))


@pytest.mark.parametrize("path", FILES, ids=short)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(rf"\b{PREFIX}([A-Z_]+)\b", path.read_text("utf-8")))
    assert {name.lower() for name in named} <= set(Settings.__struct_fields__)


def commands() -> list[list[str]]:
    started = [line for unit in UNITS for line in unit.read_text("utf-8").splitlines()]
    typed = re.findall(r"compose run --rm serve (.+)|`farthing ([a-z -]+)`", README)
    return [
        json.loads(of("CMD")[-1]),
        *(one["command"] for one in OURS.values()),
        *(shlex.split(line)[1:] for line in started if line.startswith("ExecStart=")),
        *(shlex.split(one or other) for one, other in typed),
    ]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_exists(words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    # What follows the command itself are its arguments.
    while hasattr(command, "commands"):
        assert words, "the command is not named to its end"
        first, *words = words
        assert first in command.commands
        command = command.commands[first]


def test_the_three_processes_are_there_both_ways() -> None:
    assert {one["command"][0] for one in OURS.values()} == {"migrate", "serve", "worker"}
    names = {"farthing-migrate.service", "farthing-serve.service", "farthing-worker.service"}
    assert {unit.name for unit in UNITS} == names


def test_the_ports_agree() -> None:
    port = Settings().port
    assert of("EXPOSE") == [str(port)]
    assert f"{PREFIX}PORT={port}" in of("ENV")[0].split()
    assert f":{port}/readyz" in health_check()[-1]
    assert OURS["serve"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"port {port}" in README


def test_the_containerfile_passes_the_linter() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        cannot_run("THE CONTAINERFILE IS NOT CHECKED: there is no hadolint for this platform.")
    done = subprocess.run(
        [hadolint, "--no-color", DEPLOY / "Containerfile"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_image_runs_as_nobody_and_by_words() -> None:
    names = [name for name, _ in instructions() if name != "COMMENT"]
    last = names[len(names) - names[::-1].index("FROM") :]
    assert last.index("USER") > last.index("COPY")
    (user,) = of("USER")
    assert re.fullmatch(r"[1-9][0-9]+:[1-9][0-9]+", user)
    assert json.loads(of("ENTRYPOINT")[0]) == ["farthing"]
    assert health_check()[0] == "python"
    assert len(of("FROM")) == 2


def test_the_image_has_a_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for base in of("FROM"):
        (version,) = re.findall(r"/python:(\d\.\d+)-slim-", base)
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_what_the_image_is_made_of_is_there_and_nothing_else_is_sent() -> None:
    copied = of("COPY")[:2]
    sources = {name for line in copied for name in line.split()[:-1]}
    assert all((ROOT / name).exists() for name in sources)
    lines = (DEPLOY / "Containerfile.dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == sources


def test_the_compose_file_fits_the_published_schema() -> None:
    schemas = importlib.resources.files("check_jsonschema.builtin_schemas")
    schema = json.loads(schemas.joinpath("vendor", "compose-spec.json").read_text("utf-8"))
    validator = jsonschema.validators.validator_for(schema)
    assert list(validator(schema).iter_errors(COMPOSE)) == []
    assert list(validator(schema).iter_errors({"services": {"a": {"image": 1}}}))


def test_whatever_a_service_of_the_compose_file_refers_to_is_there() -> None:
    for name, one in COMPOSE["services"].items():
        for kind in ("secrets", "networks"):
            assert set(one[kind]) <= set(COMPOSE[kind]), name
        assert set(one.get("depends_on", ())) <= set(COMPOSE["services"]), name
        assert {"restart", "networks"} <= one.keys(), name
        assert re.fullmatch(r"farthing|docker\.io/.+:[\w.-]+", one["image"]), name
        for place in one.get("volumes", ()):
            source = place.partition(":")[0]
            assert source in COMPOSE["volumes"] or (DEPLOY / source).exists(), name
    for one in OURS.values():
        assert (DEPLOY / one["build"]["context"] / one["build"]["dockerfile"]).exists()
        assert (DEPLOY / f"{one['env_file']}.example").exists()


def test_the_others_wait_until_the_database_is_up_to_date() -> None:
    completed = {"migrate": {"condition": "service_completed_successfully"}}
    assert OURS["serve"]["depends_on"] == OURS["worker"]["depends_on"] == completed
    assert OURS["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "test" in COMPOSE["services"]["database"]["healthcheck"]
    # The image has a check for what serves; the others listen nowhere.
    assert "healthcheck" not in OURS["serve"]
    assert OURS["worker"]["healthcheck"] == OURS["migrate"]["healthcheck"] == {"disable": True}


def test_secrets_come_from_files_alone() -> None:
    for name, one in COMPOSE["services"].items():
        for variable, value in one["environment"].items():
            if re.search("KEY|PASSWORD|URL|SECRET", variable):
                assert variable.endswith("_FILE"), name
                assert value.removeprefix("/run/secrets/") in one["secrets"]
    for path in FILES:
        assert not re.search(r"\b[0-9a-f]{32,}\b", path.read_text("utf-8")), path
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"deploy/secrets/", "deploy/farthing.env"} <= set(ignored)


def analyze(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        cannot_run("THE SYSTEMD UNITS ARE NOT CHECKED: there is no systemd-analyze.")
    shutil.copytree(DEPLOY / "systemd", folder, dirs_exist_ok=True)
    for unit in folder.glob("*.service"):
        # It looks whether the program is there, and here it is somewhere else.
        unit.write_text(unit.read_text().replace("/opt/farthing/bin/farthing", sys.executable))
    return subprocess.run(
        ["systemd-analyze", "--no-pager", "--man=no", *command],  # noqa: S607 - found above
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    done = analyze(tmp_path, "verify", *(f"./{unit.name}" for unit in UNITS))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=short)
def test_a_unit_may_do_next_to_nothing(unit: Path, tmp_path: Path) -> None:
    threshold = f"--threshold={MOST_EXPOSED}"
    done = analyze(tmp_path, "security", "--offline=true", threshold, f"./{unit.name}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_units_get_their_secrets_as_credentials() -> None:
    text = (DEPLOY / "systemd" / "farthing-.service.d" / "common.conf").read_text("utf-8")
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "DynamicUser=yes"):
        assert line in text.splitlines()
    loaded = re.findall(r"^LoadCredential=([\w.]+):/etc/farthing/\1$", text, re.MULTILINE)
    used = re.findall(rf"^Environment={PREFIX}\w+_FILE=%d/([\w.]+)$", text, re.MULTILINE)
    assert set(loaded) == set(used) == {"database.url", "master.key"}


@pytest.mark.parametrize("unit", UNITS, ids=short)
def test_a_database_that_comes_late_is_waited_for(unit: Path) -> None:
    common = (DEPLOY / "systemd" / "farthing-.service.d" / "common.conf").read_text("utf-8")
    # Otherwise a unit is given up after five starts within ten seconds.
    assert "StartLimitIntervalSec=0" in common.splitlines()
    own = unit.read_text("utf-8")
    assert re.search(r"^Restart=(always|on-failure)$", own, re.MULTILINE)
    # What requires a unit that failed once is never started.
    assert not re.search(r"^(Requires|Requisite|BindsTo)=", own, re.MULTILINE)


def test_no_log_grows_for_ever() -> None:
    for one in COMPOSE["services"].values():
        assert {"max-size", "max-file"} <= one["logging"]["options"].keys()


def example() -> dict[str, str]:
    lines = (DEPLOY / "farthing.env.example").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_the_example_of_the_settings_is_fit_for_live() -> None:
    settings = Settings.load(example() | {f"{PREFIX}MASTER_KEY": secrets.token_hex(32)})
    assert settings.environment == "live"
    settings.require_fit_for_live()


def test_the_page_says_what_live_refuses() -> None:
    section = README.partition("## What live refuses")[2].partition("\n## ")[0]
    asked = re.findall(rf"{PREFIX}\w+", inspect.getsource(Settings.require_fit_for_live))
    assert len(asked) >= 3
    assert all(f"`{name}`" in section for name in asked)
    assert "master key" in section


def shell_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def shell(folder: Path, *words: str) -> None:
    subprocess.run(["sh", *words], cwd=folder, check=True, timeout=60)  # noqa: S607 - any will do


def test_the_secrets_are_made_as_the_page_says(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        cannot_run("THE SECRETS OF DEPLOY ARE NOT TRIED: there is no openssl.")
    shell(tmp_path, "-eu", "-c", shell_blocks()[0])
    made = {path.name: path for path in (tmp_path / "secrets").iterdir()}
    assert set(made) == set(COMPOSE["secrets"])
    assert {path.stat().st_mode & 0o077 for path in made.values()} == {0}
    files = {f"{PREFIX}MASTER_KEY_FILE": str(made["master.key"])}
    files[f"{PREFIX}DATABASE_URL_FILE"] = str(made["database.url"])
    settings = Settings.load(example() | files)
    settings.require_fit_for_live()
    assert made["database.password"].read_text().strip() in settings.require_database_url()


@pytest.mark.parametrize("block", shell_blocks())
def test_what_is_to_be_typed_is_shell(block: str) -> None:
    shell(ROOT, "-n", "-c", block)


def test_the_files_that_the_page_names_are_there() -> None:
    for name in re.findall(r"\]\(([^):]+)\)", README):
        assert (DEPLOY / name).exists(), name

"""`farthing trigger`: whatever can happen outside, made to happen to an object that exists."""

from functools import partial
from typing import Any

from farthing.cli import operations
from farthing.cli.examples import example
from farthing.cli.groups import OwnGroup
from farthing.cli.nouns import noun_of
from farthing.cli.parameters import parameters_of
from farthing.cli.table import Command, commands


def controls() -> dict[str, list[Command]]:
    """Return what can be triggered, each with the operations that do it, one for each noun."""
    found: dict[str, list[Command]] = {}
    for one in commands().values():
        is_of_object = one.place[0] == "sandbox" and one.noun not in {"", "tenant"}
        if is_of_object or one.id == "sandbox.inbound":
            found.setdefault(one.name, []).append(one)
    return found


class TriggerGroup(OwnGroup):
    """A command for everything that can be triggered."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name what can be triggered."""
        return [*super().list_commands(ctx), *controls()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make the command of one trigger."""
        few = controls().get(cmd_name)
        if few is None:
            return super().get_command(ctx, cmd_name)
        parameters = parameters_of(few[0], tuple(one.noun for one in few))
        words = [" Or: ".join(one.summary for one in few), example(few[0], ("trigger", cmd_name))]
        return operations.made_command(cmd_name, partial(_run, few), parameters, words)


def _run(few: list[Command], **given: Any) -> None:
    from farthing.cli.calling import call  # noqa: PLC0415 - the client is not needed for help

    noun = noun_of(given.get("id") or "")
    command = next((one for one in few if one.noun == noun), few[0])
    call(command, operations.read(few[0], given))

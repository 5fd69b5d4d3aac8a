"""How every command and group behaves: short help, and wrong words that lead to the right ones."""

from difflib import get_close_matches
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

from farthing.cli.exits import Exit, Failure

# What nobody may type, each with where it may come from instead.
_CARD: Final = "a file with --card-number-file, in FARTHING_CARD_NUMBER, or at the prompt"
_CVV: Final = "a file with --cvv-file, in FARTHING_CVV, or at the prompt"
_KEY: Final = "a file with --key-file, in FARTHING_API_KEY, or at the prompt"
_REFUSED: Final[dict[str, str]] = {
    **dict.fromkeys(("--card-number", "--number", "--pan"), _CARD),
    **dict.fromkeys(("--cvv", "--cvc"), _CVV),
    **dict.fromkeys(("--key", "--api-key", "--token", "--secret", "--password"), _KEY),
}


class OwnCommand(TyperCommand):
    """A command that shows each option under one name, and takes no secret as a word."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help, which has no room for the longer names of options."""
        for one in self.params:
            one.opts = one.opts[:1]
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a secret before anything else is said of the line."""
        known = {name for one in self.params for name in one.opts}
        for word in args:
            name = word.partition("=")[0]
            if name in _REFUSED and name not in known and not ctx.resilient_parsing:
                raise Failure(
                    f"{name} is not taken, because a shell remembers its commands. Give it in "
                    f"{_REFUSED[name]}. If it was a real one, take this line out of the history.",
                    Exit.USAGE,
                )
        return super().parse_args(ctx, args)


class OwnGroup(TyperGroup):
    """A group that knows what somebody meant who mistyped."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, or say which one it could be."""
        word = args[0]
        is_typed = not ctx.resilient_parsing and not word.startswith("-")
        if is_typed and self.get_command(ctx, word) is None:
            near = get_close_matches(word, self.list_commands(ctx))
            meant = f" Did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
            raise Failure(
                f"There is no command `{ctx.command_path} {word}`.{meant} "
                f"`{ctx.command_path} --help` lists what there is.",
                Exit.USAGE,
            )
        return super().resolve_command(ctx, args)

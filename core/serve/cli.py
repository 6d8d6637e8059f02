"""The ``mindmem`` command: a group whose commands are found by entry point, so that each loads only what it needs.

Commands register under ``mindmem.commands``; flows and deployments add theirs there too, and core never imports them.
"""

import sys
import traceback
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

import click

from mindmem.core.errors import InvalidInput, MindMemError, MissingExtra, NotFound
from mindmem.core.serve.console import Session, emit_error, global_options

__all__ = ["EXIT_CODES", "Commands", "cli", "exit_code", "main"]

GROUP = "mindmem.commands"
EXIT_CODES = {
    0: "done",
    1: "MindMem could not do it, or doctor found a problem",
    2: "wrong usage or invalid input",
    3: "nothing with that id",
    4: "busy; the same command may work later",
    70: "a bug in MindMem: run it again with --debug",
    130: "interrupted",
}
EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())


def exit_code(error: MindMemError) -> int:
    """Return the exit code that tells a script what kind of error this was."""
    if isinstance(error, InvalidInput):
        return 2
    if isinstance(error, NotFound):
        return 3
    return 4 if error.transient else 1


class Commands(click.Group):
    """A group that loads a command at first use and turns errors into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the registered names, in alphabetical order."""
        return sorted({*self.commands, *self._registered()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (as above)
        """Return the command, loading its module, or None if nobody registered that name."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        found = self._registered().get(cmd_name)
        if found is None:
            return None
        try:
            command: click.Command = found.load()
        except (ImportError, AttributeError) as error:
            command = _broken(found, error)
        self.add_command(command, cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; errors become one line on stderr and an exit code, a traceback only with ``--debug``."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(130)
        except MindMemError as error:
            self._fail(ctx, error.code, str(error), exit_code(error), transient=error.transient)
        except OSError as error:
            self._fail(ctx, "os_error", str(error), 1)
        except Exception as error:
            hint = "This is a bug in MindMem; --debug shows where."
            self._fail(ctx, "internal", f"{type(error).__name__}: {error}. {hint}", 70)

    @staticmethod
    def _fail(ctx: click.Context, code: str, message: str, status: int, *, transient: bool = False) -> NoReturn:
        session = Session.of(ctx)
        if session.debug:
            traceback.print_exc()
        emit_error(code, message, transient=transient, as_json=session.as_json)
        ctx.exit(status)

    @staticmethod
    def _registered() -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=GROUP)}


def _broken(point: EntryPoint, error: Exception) -> click.Command:
    """Return a command that says why it can't be loaded, so that one broken plugin doesn't take the others along."""

    @click.command(
        point.name, short_help=f"(can't be loaded: {error})", context_settings={"ignore_unknown_options": True}
    )
    @click.argument("arguments", nargs=-1)
    def explain(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 (whatever was given)
        """Say why this command can't be loaded."""
        raise MissingExtra(f"The command {point.name!r} ({point.value}) can't be loaded: {error}.")

    return explain


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mindmem", message="mindmem %(version)s")
@global_options
def cli() -> None:
    """Memory for AI agents: dialogues in, memories with time and evidence out.

    Start with `mindmem demo`; it needs no key and no network. The options below may also stand after the command.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets a question mark, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    cli.main(prog_name="mindmem")

"""What all commands share: the global options, the session they open, JSON and error output."""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

import click

from mindmem.core.errors import InvalidInput, bounded

if TYPE_CHECKING:
    from rich.console import Console

    from mindmem.core.memory import Memory
    from mindmem.core.settings import Settings

__all__ = [
    "SESSION",
    "Session",
    "console",
    "emit",
    "emit_error",
    "global_options",
    "json_object",
    "plain",
    "watching",
    "with_session",
]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., object])
SESSION = "mindmem.session"
"""Key of the given global options in click's ``meta``, where commands and the error handler find them."""
_HOME_HELP = "Folder of the store (default: ~/.mindmem)."


@dataclass(frozen=True, slots=True)
class Session:
    """The global options of one run of the command line."""

    home: Path | None = None
    project: str | None = None
    as_json: bool = False
    debug: bool = False

    @classmethod
    def of(cls, ctx: click.Context) -> "Session":
        """Return what was said before and after the command; after wins."""
        return cls(**ctx.meta.get(SESSION, {}))

    def settings(self) -> "Settings":
        """Return the settings: ``MINDMEM_*`` variables, overridden by the options."""
        from mindmem.core.settings import Settings

        return Settings.load(home=self.home, project_id=self.project)

    @contextmanager
    def memory(self, *, fold: bool = False, any_index: bool = False) -> Iterator["Memory"]:
        """Open the store and close it at the end. Commands that only read leave the tables alone (``fold`` False);
        ``any_index`` also opens an index that is damaged or another embedder's."""
        from mindmem.core.memory import Memory

        settings = self.settings()
        if not fold:
            store = settings.store.model_copy(update={"fold_on_close": False})
            settings = settings.model_copy(update={"store": store})
        with Memory(settings=settings, any_index=any_index) as memory:
            yield memory

    def moment(self, text: str | None, option: str) -> datetime | None:
        """Return the time that an option names; one without a zone is read in the project's.

        Raises:
            InvalidInput: it is neither ISO 8601 nor 13 digits of milliseconds.
        """
        if text is None:
            return None
        zone = ZoneInfo(self.settings().timezone)
        try:
            if text.isdecimal() and len(text) == 13:
                return datetime.fromtimestamp(int(text) / 1000, ZoneInfo("UTC"))
            read = datetime.fromisoformat(text)
        except ValueError as error:
            expected = "a date or time such as 2024-03-01 or 2024-03-01T09:30:00+01:00"
            raise InvalidInput(f"{option} expects {expected}, got {bounded(text)}.", field=option) from error
        return read if read.tzinfo else read.replace(tzinfo=zone)


def _remember(ctx: click.Context, option: click.Parameter, value: object) -> None:
    # click shares `meta` between a group and its commands: an option given after the command wins.
    if value and option.name:
        ctx.meta.setdefault(SESSION, {})[option.name] = value


def global_options(command: F) -> F:
    """Add ``--home``, ``--project``, ``--json`` and ``--debug`` to a command."""
    for option in (
        click.option(
            "--debug", is_flag=True, help="Show the traceback of an error.", expose_value=False, callback=_remember
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print JSON for programs.", expose_value=False, callback=_remember
        ),
        click.option(
            "--project", metavar="ID", help="Project (default: default).", expose_value=False, callback=_remember
        ),
        click.option(
            "--home",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help=_HOME_HELP,
            expose_value=False,
            callback=_remember,
        ),
    ):
        command = option(command)
    return command


def with_session(command: Callable[Concatenate[Session, P], None]) -> Callable[P, None]:
    """Add the global options and hand the command a :class:`Session` as its first argument."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        command(Session.of(click.get_current_context()), *args, **kwargs)

    return global_options(run)


def console() -> "Console":
    """Return a console on stdout: colour on a terminal only, 80 columns when nobody says how wide it is."""
    from mindmem.core.serve.terminal import SafeConsole

    return SafeConsole(highlight=False, emoji=False, markup=False)


@contextmanager
def watching() -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows progress bars on stderr: called with what is being done, how much, of how much."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def watch(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield watch


def plain(value: object) -> object:
    """Return records as JSON values: dataclasses as objects, times as ISO 8601, tuples as arrays.

    >>> plain({"at": (1, 2)})
    {'at': [1, 2]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def emit(value: object) -> None:
    """Print a value as one JSON document."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def emit_error(code: str, message: str, *, transient: bool, as_json: bool) -> None:
    """Print an error as one line on stderr."""
    line = " ".join(message.split())
    if as_json:
        body = {"error": {"code": code, "message": line, "transient": transient}}
        click.echo(json.dumps(body, ensure_ascii=False), err=True)
    else:
        click.echo(f"mindmem: {line} [{code}]", err=True)


def json_object(text: str | None, option: str) -> Mapping[str, object] | None:
    """Return the JSON object that an option holds.

    Raises:
        InvalidInput: it is not JSON, or JSON of another kind.
    """
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos}"
        raise InvalidInput(f"{option} expects a JSON object, got {bounded(text)}: {where}.", field=option) from error
    if not isinstance(value, dict):
        raise InvalidInput(f"{option} expects a JSON object, got {bounded(value)}.", field=option)
    return value

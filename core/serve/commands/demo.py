"""``mindmem demo``: the story in the terminal, on a store that stays for looking at."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from mindmem.core.clock import monotonic
from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from rich.console import Console

    from mindmem.core.serve.story import Story

__all__ = ["demo"]


@click.command(short_help="Tell a short story from dialogue to evidence.")
@with_session
def demo(session: Session) -> None:
    """Tell a short story: what was said, what is remembered, three answers, a correction, an undo.

    Works on a new temporary store unless --home is given, and leaves it for looking at. Needs no key and no
    network. JSON: {home, tables, seconds, said, memories, answers: [{question, result}], timeline, before_undo,
    undone, after_undo}.
    """
    home = session.home or Path(tempfile.mkdtemp(prefix="mindmem-demo-"))
    session = Session(home=home, project=session.project, as_json=session.as_json, debug=session.debug)
    begun = monotonic()
    from mindmem.core.serve import story

    with session.memory(fold=True) as store:
        told = story.play(store)
    tables = session.settings().store.tables_uri or str(home.expanduser().absolute() / "tables")
    seconds = monotonic() - begun
    if session.as_json:
        emit({
            "home": home, "tables": tables, "seconds": round(seconds, 3), "said": story.SESSIONS,
            "memories": told.memories, "answers": told.answers, "timeline": told.timeline,
            "before_undo": told.before_undo, "undone": told.undone, "after_undo": told.after_undo,
        })  # fmt: skip
        return
    _tell(told, home, tables, seconds)


def _tell(told: "Story", home: Path, tables: str, seconds: float) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from mindmem.core.serve import render, story

    out, zone = console(), ZoneInfo(story.ZONE)
    _heading(out, 1, "What was said")
    for session in story.SESSIONS:
        day = session.lines[0][1].partition("T")[0]
        out.print(f"Conversation “{session.session_id}”, {day}", style="dim")
        spoken = Table.grid(padding=(0, 2, 0, 0))
        for name, _, words in session.lines:
            spoken.add_row(Text(name, style="bold"), Text(words))
        out.print(Padding(spoken, (0, 0, 1, 2)))
    _heading(out, 2, "What is remembered: who, what, when, of which type")
    out.print(render.memories(told.memories, zone, ids=False))
    out.print(_counts(told))
    _heading(out, 3, "Three questions, answered from memory with the words that support it")
    for answer in told.answers:
        out.print(Text(f"? {answer.question}", style="bold"))
        for hit in answer.result.hits[:1]:
            found = Text.assemble((hit.memory.content, "green"), (f"  ({hit.score:.2f})", "dim"))
            quotes = [render.quote(message, zone) for message in hit.evidence]
            out.print(Padding(Group(found, render.facts(hit.memory, zone), *quotes), (0, 0, 1, 2)))
    _heading(out, 4, "A correction keeps the past: where Mara lives")
    out.print(render.timeline(told.timeline, zone))
    _heading(out, 5, "A mistake is taken back")
    out.print(f"Said in the wrong conversation: “{story.MISTAKE}”")
    for when, result in (("before", told.before_undo), ("after", told.after_undo)):
        found = Text(result.hits[0].memory.content if result.hits else "nothing is remembered about that")
        out.print(Text.assemble((f"{when:>6} undo  ? ", "dim"), (f"{story.ASKED_TWICE}  ", "bold"), found))
    _heading(out, 6, "Look further")
    out.print(_farewell(home, tables), soft_wrap=True)
    out.print(f"The story took {seconds:.1f} s.", style="dim")


def _heading(out: "Console", number: int, title: str) -> None:
    from rich.rule import Rule

    out.print()
    out.print(Rule(f"{number}. {title}", align="left", style="dim"))


def _counts(told: "Story") -> str:
    messages = sum(receipt.counts.get("messages", 0) for receipt in told.receipts)
    skipped = sum(receipt.counts.get("skipped", 0) for receipt in told.receipts)
    return f"{messages} messages gave {len(told.memories)} memories; {skipped} carried nothing to remember."


def _farewell(home: Path, tables: str) -> str:
    from mindmem.core.tables import POLARS_QUERY

    query = POLARS_QUERY.format(tables=tables).rstrip().replace("\n", "\n  ")
    return f"""The store stays in {home}

  mindmem search "where does Mara live?" --home {home}
  mindmem list --home {home}

Its tables are Parquet; with Polars alone:

  import polars as pl
  {query}

Long work runs as Prefect flows. One command starts them on schedule, with Prefect's UI at http://127.0.0.1:4200
and the dashboard at http://127.0.0.1:8501 :

  mindmem up --home {home}
"""

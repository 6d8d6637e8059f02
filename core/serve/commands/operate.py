"""Commands that look after a store: status, doctor, reembed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mindmem.core.errors import CorruptStore
from mindmem.core.serve.console import Session, console, emit, plain, watching, with_session

if TYPE_CHECKING:
    from mindmem.core.reembed import Reembedding
    from mindmem.core.tables.verify import Finding

__all__ = ["doctor", "reembed", "status"]


@click.command(short_help="Show counts, lag, embedder and sizes.")
@with_session
def status(session: Session) -> None:
    """Show what the store holds and how far tables and index follow the ledger.

    Lag is in changes: `lag_tables` are readable through MindMem but not yet in the Parquet files, `lag_index` not
    yet in the index. JSON: the fields of the table, with `bytes` by folder, in one object.
    """
    with session.memory() as memory:
        state = memory.status()
    shown = plain(state)
    assert isinstance(shown, dict)
    shown["lag_tables"] = state.last_seq - state.folded_seq
    shown["lag_index"] = state.last_seq - state.indexed_seq
    shown["bytes"] = _sizes(session.settings().home)
    if session.as_json:
        emit(shown)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in shown.items():
        table.add_row(name.replace("_", " "), Text(_text(value)))
    console().print(table)


@click.command(short_help="Check that ledger, tables and index agree.")
@click.option("--repair", is_flag=True, help="Fold, rebuild the index, and check again.")
@click.option("--rebuild-ledger", is_flag=True, help="First make a lost or outdated ledger anew from the tables.")
@with_session
def doctor(session: Session, repair: bool, rebuild_ledger: bool) -> None:
    """Check that ledger, tables and index agree, and say what does not. Exits with 1 while something is wrong.

    The ledger is the truth: --repair brings the tables up to it and builds the index anew beside the old one. When the
    ledger itself is lost, --rebuild-ledger makes one from the tables; an old one is kept beside it. Nobody else may
    use the store meanwhile. JSON: {ok, repaired, findings, ledger}; ledger is {last_seq, kept} or null.
    """
    recovered = None
    if rebuild_ledger:
        from mindmem.core import recover

        recovered = recover.rebuild_ledger(session.settings())
    with session.memory(any_index=repair) as memory:
        damage = memory.services.projector.index.damage
        try:
            findings = memory.verify()
        except CorruptStore as error:  # damage that only shows on reading
            if not repair:
                raise
            findings, damage = (), str(error)
        repaired = repair and bool(findings or damage)
        if repaired:
            memory.rebuild_index()  # which folds first
            findings = memory.verify()
    if session.as_json:
        emit({"ok": not findings, "repaired": repaired, "findings": findings, "ledger": recovered})
    else:
        if recovered:
            console().print(f"Made a new ledger from the tables, up to change {recovered.last_seq}.")
        if recovered and recovered.kept:
            console().print(f"The old one is kept as {recovered.kept}", soft_wrap=True)
        _report(findings, repaired=repaired)
    if findings:
        click.get_current_context().exit(1)


@click.command(short_help="Embed everything anew after a change of embedder.")
@click.option("--dry-run", is_flag=True, help="Only say how much there is to embed, and what it would cost.")
@with_session
def reembed(session: Session, dry_run: bool) -> None:
    """Embed everything anew after the embedder or its model was changed, then swap the index.

    The old index answers until the new one is complete. What was embedded stays: after an interruption or at a limit of
    the budget, the same command does the rest, and nothing is paid twice. JSON: {embedder, memories, texts,
    generation}; with --dry-run {embedder, held, memories, texts, tokens, cost}, cost being null without a price.
    """
    with session.memory(any_index=True) as memory:
        if dry_run:
            ahead = memory.estimate_reembedding()
            if session.as_json:
                emit(ahead)
            else:
                console().print(_ahead(ahead), soft_wrap=True)
            return
        with watching() as watch:
            done = memory.reembed(watch=watch)
    if session.as_json:
        emit(done)
    else:
        held = f"the index holds {done.memories:,} memories and vectors of {done.embedder}."
        console().print(f"Embedded {done.texts:,} texts; {held}", soft_wrap=True)


def _ahead(ahead: "Reembedding") -> str:
    held = f"The index holds vectors of {ahead.held}" if ahead.held else "The index holds no vectors"
    cost = "a cost unknown (no price in MINDMEM_LLM__PRICES)" if ahead.cost is None else f"a cost of {ahead.cost:,.4f}"
    return (
        f"{held}; the embedder is {ahead.embedder}.\n"
        f"To be embedded are {ahead.texts:,} texts of {ahead.memories:,} memories: "
        f"about {ahead.tokens:,} tokens, {cost}."
    )


def _report(findings: "Sequence[Finding]", *, repaired: bool) -> None:
    out = console()
    if repaired:
        out.print("Folded the ledger into the tables and rebuilt the index.")
    if not findings:
        out.print("Ledger, tables and index agree.")
        return
    for finding in findings:
        out.print(f"- {finding}")
    if repaired:
        out.print("Still wrong after the repair: keep a copy of the folder and report it.")
    else:
        out.print("Repair it with: mindmem doctor --repair")


def _sizes(home: Path) -> dict[str, int]:
    """Return bytes on disk by first folder or file of the home folder."""
    return {
        place.name: sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        if place.is_dir()
        else place.stat().st_size
        for place in sorted(home.iterdir())
    }


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {number:,}" if isinstance(number, int) else f"{name} {number}" for name, number in value.items()
        )
    if isinstance(value, list):
        return "\n".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)

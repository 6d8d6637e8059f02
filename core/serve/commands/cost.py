"""The command that says what calls of models cost: what was spent, and what an ingest would come to."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from mindmem.core.estimate import Estimate
    from mindmem.core.spending import Line

__all__ = ["cost"]

_NO_PRICE = "no price"


@click.command(short_help="Show what models cost, or would cost.")
@click.option("--days", type=click.IntRange(min=1), default=30, show_default=True, help="So many days, today included.")
@click.option("--run", "run_id", metavar="ID", help="Of one run only, whenever it was.")
@click.option("--user", "user_id", metavar="ID", help="Of one user only; with --estimate the owner of unnamed lines.")
@click.option(
    "--estimate", type=click.Path(exists=True, path_type=Path), metavar="PATH", help="What ingesting PATH would cost."
)
@with_session
def cost(session: Session, days: int, run_id: str | None, user_id: str | None, estimate: Path | None) -> None:
    """Show tokens and money by day, purpose and model; or, with --estimate, what an ingest would come to.

    \b
    mindmem cost --days 7
    mindmem cost --estimate chats/ --user ann

    Prices come from MINDMEM_LLM__PRICES, days begin at midnight of the project's zone. An estimate asks no model and
    writes nothing; what was taken before is left out of it.

    JSON: {lines: [{day, purpose, model, spent}], total}, a spent being {calls, input_tokens, output_tokens, cost,
    unpriced, cached, estimated}; with --estimate {files, known, messages, set_aside, windows, forecasts: [{prompt,
    purpose, model, calls, input_tokens, output_tokens, cost}], cost}, cost being null without a price.
    """
    if estimate is not None:
        _estimated(session, estimate.absolute(), user_id)
        return
    from mindmem.core.clock import SystemClock
    from mindmem.core.spending import spending, total

    lines = spending(session.settings(), SystemClock(), days=None if run_id else days, run_id=run_id, user_id=user_id)
    if session.as_json:
        emit({"lines": lines, "total": total(lines)})
        return
    if not lines:
        console().print("No model was asked.")
        return
    console().print(_spent(lines))
    spent = total(lines)
    if spent.unpriced:
        console().print(f"Without a price in MINDMEM_LLM__PRICES, so not in the cost: {spent.unpriced:,} calls.")
    if spent.estimated:
        console().print(f"Tokens that the endpoint did not count are an estimate, in {spent.estimated:,} calls.")


def _spent(lines: "Sequence[Line]") -> "Table":
    from mindmem.core.spending import total

    table = _table("day", "purpose", "model", "calls", "cached", "input", "output", "cost")
    whole = total(list(lines))
    rows = [(line.day.isoformat(), line.purpose, line.model, line.spent) for line in lines]
    for day, purpose, model, spent in [*rows, ("all", "", "", whole)]:
        money = f"{spent.cost:,.4f}" if spent.unpriced < spent.calls else _NO_PRICE
        counts = (spent.calls, spent.cached, spent.input_tokens, spent.output_tokens)
        table.add_row(day, purpose, model, *(f"{count:,}" for count in counts), money)
    return table


def _estimated(session: Session, path: Path, user_id: str | None) -> None:
    from mindmem.core.estimate import estimate_ingest

    settings = session.settings()
    found = estimate_ingest(settings, path, user_id)
    if session.as_json:
        shown = {name: getattr(found, name) for name in ("files", "known", "messages", "set_aside", "windows")}
        emit({**shown, "forecasts": found.forecasts, "cost": found.cost})
        return
    out = console()
    out.print(_read(found), soft_wrap=True)
    table = _table("prompt", "purpose", "model", "calls", "input", "output", "cost")
    for line in found.forecasts:
        counts = (f"{count:,}" for count in (line.calls, line.input_tokens, line.output_tokens))
        table.add_row(
            line.prompt, line.purpose, line.model, *counts, _NO_PRICE if line.cost is None else f"{line.cost:,.4f}"
        )
    out.print(table)
    if found.cost is None:
        out.print("Give prices in MINDMEM_LLM__PRICES to see the money.")
    else:
        out.print(f"About {found.cost:,.4f} in all.")
    if settings.reasoner == "rules":
        out.print("The rules judge now, which costs nothing: this is for MINDMEM_REASONER=llm.")


def _read(found: "Estimate") -> str:
    parts = [f"files: {found.files:,}", f"messages: {found.messages:,}", f"windows: {found.windows:,}"]
    parts += [f"files taken before: {found.known:,}"] if found.known else []
    parts += [f"lines that can't be read: {found.set_aside:,}"] if found.set_aside else []
    return ", ".join(parts).capitalize() + "."


def _table(*titles: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    for title in titles:
        words = title in ("day", "prompt", "purpose", "model")
        table.add_column(title, justify="left" if words else "right", no_wrap=title != "model", overflow="fold")
    return table

"""The command dream: consolidate memories now, or see what would be done."""

from typing import TYPE_CHECKING

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from mindmem.core.records.dream import DiffLine, DreamReport
    from mindmem.core.settings import Family

__all__ = ["dream", "show_diff"]

_SHOWN = 50


@click.command(short_help="Consolidate memories: outdated ones, repetitions, doubts.")
@click.option("--user", "user_id", metavar="ID", help="Only this user's memories.")
@click.option("--dry-run", is_flag=True, help="Change nothing; show what would be done and keep it as a proposal.")
@click.option("--look-back", type=click.FloatRange(min=0, min_open=True), metavar="DAYS", help="Adds of the last days.")
@click.option("--min-age", type=click.FloatRange(min=0), metavar="HOURS", help="Younger memories are not archived.")
@click.option("--cap", type=click.FloatRange(0, 1), metavar="SHARE", help="Share archived without approval at most.")
@click.option("--reasoner", type=click.Choice(["rules", "llm"]), help="Who judges; left out: whom the settings name.")
@with_session
def dream(
    session: Session, user_id: str | None, dry_run: bool, look_back: float | None, min_age: float | None,
    cap: float | None, reasoner: "Family | None",
) -> None:  # fmt: skip
    """Look at what was added lately together with what was known: archive outdated values, fold repetitions, link what
    nobody can tell. Nothing is lost: mindmem changes undo RUN takes all of it back.

    \b
    mindmem dream --dry-run --user ann
    mindmem dream

    Limits that are not given are those of the settings (MINDMEM_DREAM__CAP and others). Exits with 1 when something
    failed and stays pending; what a budget for models left over is done by the next run. JSON: {run_id, dry_run,
    guards, scopes: [{scope, state, active_before, archived, actions, issues, clusters, pending, proposal_id, diff,
    input_tokens, output_tokens, cost, ...}]}.
    """
    given = {"look_back_days": look_back, "min_age_hours": min_age, "cap": cap}
    chosen = {name: value for name, value in given.items() if value is not None}
    limits = session.settings().dream.model_copy(update=chosen)
    with session.memory(fold=not dry_run) as memory:
        report = memory.dream(user_id, dry_run, limits=limits, reasoner=reasoner, actor="command line")
    if session.as_json:
        emit(report)
    else:
        _show(report)
    if report.failed:
        click.get_current_context().exit(1)


def _show(report: "DreamReport") -> None:
    from mindmem.core.reports.dream import headline, scope_line

    out = console()
    out.print(headline(report))
    for scope in report.scopes:
        out.print(scope_line(scope), soft_wrap=True)
        show_diff(scope.diff)
        for pending in scope.pending:
            out.print(f"  stays pending: {pending.cluster} ({pending.reason})", soft_wrap=True)


def show_diff(lines: "tuple[DiffLine, ...]") -> None:
    """Print wanted changes: what goes with a minus, what comes with a plus, why, and in favour of what."""
    out = console()
    for line in lines[:_SHOWN]:
        sign = "~" if line.op == "link" else "-"
        out.print(f"  {sign} {line.before}", soft_wrap=True)
        if line.after:
            out.print(f"  + {line.after}", soft_wrap=True)
        towards = f"; see {', '.join(line.by)}" if line.by else ""
        out.print(f"    {line.op} {line.memory_id}: {line.reason}{towards}", style="dim", soft_wrap=True)
    if len(lines) > _SHOWN:
        out.print(f"  and {len(lines) - _SHOWN} more; --json shows all")

"""The command changes: what dreams proposed and did, and one's word on it."""

from zoneinfo import ZoneInfo

import click

from mindmem.core.serve.commands.dream import show_diff
from mindmem.core.serve.console import Session, console, emit, with_session

__all__ = ["changes"]


@click.group(short_help="Review what dreams propose: list, show, approve, reject, undo.")
def changes() -> None:
    """Review what dreams propose and did. A proposal is a dry run, or a run that would have archived more than the cap
    allows; nothing of it happens before it is approved."""


@changes.command("list", short_help="List proposals, or all changes.")
@click.option("--user", "user_id", metavar="ID", help="Only this user's.")
@click.option("--all", "everything", is_flag=True, help="Decided proposals too.")
@with_session
def list_(session: Session, user_id: str | None, everything: bool) -> None:
    """List what waits for somebody's word, newest first, and the newest changes with their run.

    JSON: {proposals: [{proposal_id, run_id, scope, state, cause, lines, ...}], changes: [...]}.
    """
    with session.memory() as memory:
        found = memory.proposals(user_id=user_id, open_only=not everything)
        made = memory.changes(user_id=user_id, limit=20)
    if session.as_json:
        emit({"proposals": found, "changes": made})
        return
    from mindmem.core.serve import render

    out = console()
    for one in found:
        share = f"{one.archived} of {one.active_before}" if one.active_before else str(one.archived)
        out.print(f"{one.proposal_id}  {one.state}  {one.scope.user_id or '-'}  {share} archived: {one.cause}")
    if not found:
        out.print("Nothing waits for approval.")
    out.print(render.changes(made, ZoneInfo(session.settings().timezone)))
    runs = dict.fromkeys(change.run_id for change in made if change.kind == "dream" and change.run_id)
    for run_id in runs:
        out.print(f"Take a dream back whole: mindmem changes undo {run_id}", soft_wrap=True)


@changes.command(short_help="Show what a proposal would do.")
@click.argument("proposal_id")
@with_session
def show(session: Session, proposal_id: str) -> None:
    """Show what PROPOSAL_ID would do, line by line. JSON: the proposal."""
    with session.memory() as memory:
        found = memory.proposal(proposal_id)
    if session.as_json:
        emit(found)
        return
    console().print(f"{found.proposal_id} ({found.state}), run {found.run_id}: {found.cause}", soft_wrap=True)
    show_diff(found.lines)


@changes.command(short_help="Carry a proposal out.")
@click.argument("proposal_id")
@with_session
def approve(session: Session, proposal_id: str) -> None:
    """Carry PROPOSAL_ID out: decided again on today's state, and nothing done that was not shown. JSON: the report."""
    with session.memory(fold=True) as memory:
        report = memory.approve(proposal_id, actor="command line")
    if session.as_json:
        emit(report)
    else:
        from mindmem.core.reports.dream import headline

        console().print(headline(report))
    if report.failed:
        click.get_current_context().exit(1)


@changes.command(short_help="Turn a proposal down.")
@click.argument("proposal_id")
@with_session
def reject(session: Session, proposal_id: str) -> None:
    """Turn PROPOSAL_ID down; what it held isn't proposed again. JSON: the proposal."""
    with session.memory() as memory:
        turned = memory.reject(proposal_id, actor="command line")
    if session.as_json:
        emit(turned)
    else:
        console().print(f"{turned.proposal_id} is rejected; nothing of it is proposed again.")


@changes.command(short_help="Take a whole dream back.")
@click.argument("run_id")
@click.option("--cascade", is_flag=True, help="Take back later changes of the same memories too.")
@with_session
def undo(session: Session, run_id: str, cascade: bool) -> None:
    """Take back all that the dream RUN_ID did, in every user's memories; a later dream doesn't do it again.

    JSON: {undone: [change, ...]}.
    """
    with session.memory(fold=True) as memory:
        done = memory.undo_run(run_id, cascade=cascade, actor="command line")
    if session.as_json:
        emit({"undone": done})
    else:
        from mindmem.core.serve import render

        console().print(f"Took back {run_id}:")
        console().print(render.changes(done, ZoneInfo(session.settings().timezone)))

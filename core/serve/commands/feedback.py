"""The command feedback: correct what is remembered, or look for corrections in recent sessions."""

from typing import TYPE_CHECKING

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from mindmem.core.feedback.receipt import FeedbackPass, FeedbackReceipt

__all__ = ["feedback"]


@click.command(short_help="Correct what is remembered, by a user's words.")
@click.argument("text", required=False)
@click.option("--user", "user_id", metavar="ID", help="Whose memory this is; with --pass: only this user's sessions.")
@click.option("--name", metavar="NAME", default="", help="Who speaks; first person is read as this person.")
@click.option("--recalled", multiple=True, metavar="ID", help="A memory that the answer rested on; may be repeated.")
@click.option("--answer", metavar="TEXT", help="What the assistant had said.")
@click.option("--agent", "agent_id", metavar="ID", help="The agent that listens.")
@click.option("--app", "app_id", metavar="ID", help="The application it comes from.")
@click.option("--key", "idempotency_key", metavar="KEY", help="Repeating feedback with the same key does nothing.")
@click.option("--pass", "sessions", is_flag=True, help="Look for corrections in what was said since the last pass.")
@with_session
def feedback(
    session: Session, text: str | None, user_id: str | None, name: str, recalled: tuple[str, ...], answer: str | None,
    agent_id: str | None, app_id: str | None, idempotency_key: str | None, sessions: bool,
) -> None:  # fmt: skip
    """Correct what is remembered by TEXT, the user's own words.

    \b
    mindmem feedback "No, I meant Ghent, not Bonn." --user ann
    mindmem feedback "Please don't suggest steak again." --user ann --answer "How about a steakhouse?"
    mindmem feedback --pass

    What is meant for the task at hand isn't kept. JSON: {repeated, reason, change_ids, corrections: [{op, reason,
    memory_id, targets, searched, signal}]}; with --pass: {scopes, messages, signals, counts, change_ids, failed,
    stopped}. A pass exits with 1 when some user's sessions stay pending; what a budget left over is done by the next.
    """
    if sessions == (text is not None) or (text is not None and user_id is None):
        raise click.UsageError("Give either TEXT with --user, or --pass.")
    with session.memory(fold=True) as memory:
        if text is None:
            _show_pass(session, memory.feedback_pass(user_id=user_id, actor="cli"))
            return
        assert user_id is not None
        receipt = memory.feedback(
            text,
            user_id=user_id,
            messages=[{"role": "assistant", "content": answer}] if answer else (),
            recalled=recalled,
            name=name,
            agent_id=agent_id,
            app_id=app_id,
            idempotency_key=idempotency_key,
            actor="cli",
        )
    _show(session, receipt)


def _show(session: Session, receipt: "FeedbackReceipt") -> None:
    change_ids = [change.change_id for change in receipt.changes]
    if session.as_json:
        told = {"repeated": receipt.repeated, "reason": receipt.reason, "change_ids": change_ids}
        emit({**told, "corrections": receipt.corrections})
        return
    out = console()
    if receipt.repeated:
        out.print("This feedback was given before; nothing was written again.")
    elif not receipt.corrections:
        out.print(receipt.reason, soft_wrap=True)
    for one in receipt.corrections:
        out.print(f"{one.op}: {one.signal.statement or one.signal.rejected} ({one.reason})", soft_wrap=True)
    for action in receipt.actions:
        sign = "+" if action.memory.status == "active" else "-"
        out.print(f"  {sign} {action.memory.content}", soft_wrap=True)
    for change_id in change_ids:
        out.print(f"To take it back: mindmem undo {change_id}")


def _show_pass(session: Session, report: "FeedbackPass") -> None:
    change_ids = [change.change_id for change in report.changes]
    if session.as_json:
        counted = {"scopes": report.scopes, "messages": report.messages, "signals": report.signals}
        emit({**counted, "counts": report.counts, "change_ids": change_ids, "failed": report.failed,
              "stopped": report.stopped})  # fmt: skip
    else:
        out = console()
        done = ", ".join(f"{op} {number}" for op, number in report.counts.items()) or "nothing to correct"
        out.print(f"{report.messages} messages of {report.scopes} users, {report.signals} signals: {done}.")
        for user, code in report.failed.items():
            out.print(f"The sessions of {user} stay pending: {code}", soft_wrap=True)
        if report.stopped:
            out.print(f"What models may cost is spent: {len(report.stopped)} users' sessions wait for the next pass.")
        for change_id in change_ids:
            out.print(f"To take it back: mindmem undo {change_id}")
    if report.failed:
        click.get_current_context().exit(1)

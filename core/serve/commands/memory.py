"""Commands on memories: add, search, ask, list, history, undo."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

import click

from mindmem.core.errors import InvalidInput
from mindmem.core.serve.console import Session, console, emit, json_object, with_session

if TYPE_CHECKING:
    from mindmem.core.memory import Memory
    from mindmem.core.records import SearchResult
    from mindmem.core.search.recipes import Strategy

__all__ = ["add", "ask", "history", "list_", "search", "undo"]

F = TypeVar("F", bound=Callable[..., object])


def _owner(command: F) -> F:
    for name in ("session", "agent", "app"):
        command = click.option(f"--{name}", f"{name}_id", metavar="ID", help=f"Only this {name}.")(command)
    return click.option("--user", "user_id", metavar="ID", help="Whose memories (default: everybody's).")(command)


@click.command(short_help="Remember what was said.")
@click.argument("text")
@click.option("--user", "user_id", required=True, metavar="ID", help="Whose memory this is.")
@click.option("--name", metavar="NAME", help="Who speaks; first person is read as this person.")
@click.option("--role", type=click.Choice(["user", "assistant", "system", "tool"]), default="user", show_default=True)
@click.option(
    "--time",
    "timestamp",
    metavar="TIME",
    help="When it was said: ISO 8601 or 13 digits of milliseconds (default: now; unknown with --key).",
)
@click.option("--timezone", metavar="ZONE", help="IANA zone or offset in which words like 'tomorrow' are read.")
@click.option("--session", "session_id", metavar="ID", help="The conversation it belongs to.")
@click.option("--agent", "agent_id", metavar="ID", help="The agent that listens.")
@click.option("--app", "app_id", metavar="ID", help="The application it comes from.")
@click.option("--metadata", metavar="JSON", help="Your own fields, kept with each memory and usable in filters.")
@click.option("--key", "idempotency_key", metavar="KEY", help="Repeating an add with the same key does nothing.")
@with_session
def add(
    session: Session, text: str, user_id: str, name: str | None, role: str, timestamp: str | None,
    timezone: str | None, session_id: str | None, agent_id: str | None, app_id: str | None, metadata: str | None,
    idempotency_key: str | None,
) -> None:  # fmt: skip
    """Remember TEXT, or what stands on standard input when TEXT is a single dash.

    \b
    mindmem add "I moved to Porto last week." --user ann --name Ann
    mindmem add - --user ann < notes.txt

    Prints each memory that was written. JSON: {add_id, repeated, counts, quarantined, change_ids,
    actions: [{op, reason, memory}]}.
    """
    content = sys.stdin.read() if text == "-" else text
    message: dict[str, object] = {"role": role, "content": content}
    if name:
        message["name"] = name
    if timestamp:
        message["timestamp"] = int(timestamp) if timestamp.isdecimal() and len(timestamp) == 13 else timestamp
    with session.memory(fold=True) as memory:
        if not timestamp and not idempotency_key:  # the repetition of a key must say the same
            message["timestamp"] = memory.services.clock.now()
        receipt = memory.add(
            [message],
            user_id=user_id,
            app_id=app_id,
            agent_id=agent_id,
            session_id=session_id,
            metadata=json_object(metadata, "--metadata"),
            idempotency_key=idempotency_key,
            timezone=timezone,
            actor="cli",
        )
    if session.as_json:
        actions = [{"op": done.op, "reason": done.reason, "memory": done.memory} for done in receipt.actions]
        change_ids = [change.change_id for change in receipt.changes]
        emit({
            "add_id": receipt.add_id, "repeated": receipt.repeated, "counts": receipt.counts,
            "quarantined": receipt.quarantined, "change_ids": change_ids, "actions": actions,
        })  # fmt: skip
        return
    from mindmem.core.serve import render

    out = console()
    if receipt.repeated:
        out.print("This add was committed before; nothing was written again.")
    counts = ", ".join(f"{what} {number}" for what, number in sorted(receipt.counts.items()))
    out.print(f"Done: {counts or 'nothing to remember in it'}.")
    out.print(render.memories([action.memory for action in receipt.actions], ZoneInfo(session.settings().timezone)))
    for change in receipt.changes:
        out.print(f"To take it back: mindmem undo {change.change_id}")


@click.command(short_help="Find memories, with their evidence.")
@click.argument("query")
@_owner
@click.option("--top", "-k", "top_k", type=click.IntRange(1, 100), default=10, show_default=True, help="How many hits.")
@click.option("--filter", "filters", metavar="JSON", help="""As in '{"mem_type": "profile"}'; see the README.""")
@click.option("--as-of", metavar="TIME", help="What was true then.")
@click.option("--known-at", metavar="TIME", help="What was known then.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="Leave out hits below this score.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option(
    "--strategy",
    "--recipe",
    type=click.Choice(["fast", "balanced", "deep", "agentic"]),
    help="How much is done for it (default: fast, or what the settings say).",
)
@click.option("--steps", is_flag=True, help="Search in rounds (agentic) and show each step.")
@with_session
def search(
    session: Session, query: str, user_id: str | None, app_id: str | None, agent_id: str | None,
    session_id: str | None, top_k: int, filters: str | None, as_of: str | None, known_at: str | None,
    min_score: float | None, explain: bool, strategy: "Strategy | None", steps: bool,
) -> None:  # fmt: skip
    """Find what is remembered about QUERY, best first, each with the words that support it.

    \b
    mindmem search "where does Ann live?" --user ann
    mindmem search "where does Ann live?" --user ann --as-of 2023-06-01 --json

    JSON: {query, hits: [{memory, score, explanation, evidence, via}], notes}; score and its parts are in 0..1. --steps
    are told on the error stream.
    """
    if steps and strategy not in (None, "agentic"):
        raise click.UsageError(f"--steps shows an agentic search, not {strategy}.")
    given: dict[str, Any] = {
        "user_id": user_id,
        "app_id": app_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "top_k": top_k,
        "filters": json_object(filters, "--filter"),
        "as_of": session.moment(as_of, "--as-of"),
        "known_at": session.moment(known_at, "--known-at"),
        "score_threshold": min_score,
        "evidence": True,
    }
    with session.memory() as memory:
        result = _stepwise(memory, query, given) if steps else memory.search(query, strategy=strategy, **given)
    if session.as_json:
        emit({"query": query, "hits": result.hits, "notes": result.notes})
        return
    from mindmem.core.serve import render

    out = console()
    out.print(render.hits(result.hits, ZoneInfo(session.settings().timezone), explain=explain))
    if not result.hits:
        out.print("Nothing is remembered about that.")
    for note in result.notes:
        out.print(f"Note: {note}")


def _stepwise(memory: "Memory", query: str, given: dict[str, Any]) -> "SearchResult":
    """Search in rounds, tell each step on the error stream, and return the result."""
    from mindmem.core.search.agentic import Done, Judged, Planned, Retrieved

    for step in memory.search_steps(query, **given):
        match step:
            case Planned(number, queries):
                click.echo(f"Round {number}: search for {'; '.join(map(repr, queries)) or 'nothing new'}", err=True)
            case Retrieved(number, hits, new):
                click.echo(f"Round {number}: {len(hits)} found, {new} new", err=True)
            case Judged(number, enough, reason):
                click.echo(f"Round {number}: {'enough' if enough else 'not enough'} ({reason})", err=True)
            case Done(result):
                return result
    raise AssertionError("a search ends with Done")


@click.command(short_help="Answer a question from what is remembered.")
@click.argument("question")
@_owner
@click.option("--top", "-k", "top_k", type=click.IntRange(1, 100), default=30, show_default=True, help="How many hits.")
@click.option("--filter", "filters", metavar="JSON", help="""As in '{"mem_type": "profile"}'; see the README.""")
@click.option("--as-of", metavar="TIME", help="What was true then.")
@click.option("--known-at", metavar="TIME", help="What was known then.")
@with_session
def ask(
    session: Session, question: str, user_id: str | None, app_id: str | None, agent_id: str | None,
    session_id: str | None, top_k: int, filters: str | None, as_of: str | None, known_at: str | None,
) -> None:  # fmt: skip
    """Answer QUESTION in a few words, with the memories that the answer rests on.

    \b
    mindmem ask "where does Ann live?" --user ann

    The reasoner of the settings answers: rules, or a model (MINDMEM_REASONER=llm).
    JSON: {question, answer, found, reason, sources: [{memory, score, explanation, evidence}], notes}.
    """
    with session.memory() as memory:
        result = memory.answer(
            question,
            user_id=user_id,
            app_id=app_id,
            agent_id=agent_id,
            session_id=session_id,
            top_k=top_k,
            filters=json_object(filters, "--filter"),
            as_of=session.moment(as_of, "--as-of"),
            known_at=session.moment(known_at, "--known-at"),
            evidence=True,
        )
    if session.as_json:
        emit({
            "question": question, "answer": result.text, "found": result.found, "reason": result.reason,
            "sources": result.sources, "notes": result.notes,
        })  # fmt: skip
        return
    from mindmem.core.serve import render

    out = console()
    out.print(result.text if result.found else f"Memory holds no answer: {result.reason}.", markup=False)
    out.print(render.hits(result.sources, ZoneInfo(session.settings().timezone)))
    for note in result.notes:
        out.print(f"Note: {note}")


@click.command("list", short_help="List what is remembered, newest first.")
@_owner
@click.option("--filter", "filters", metavar="JSON", help="""As in '{"property_name": "lives_in"}'; see the README.""")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many on a page.")
@click.option("--cursor", metavar="CURSOR", help="Continue where the last page ended.")
@with_session
def list_(
    session: Session, user_id: str | None, app_id: str | None, agent_id: str | None, session_id: str | None,
    filters: str | None, limit: int, cursor: str | None,
) -> None:  # fmt: skip
    """List active memories, newest first; with a filter on status, archived ones too.

    JSON: {memories: [...], next_cursor}; next_cursor is null on the last page.
    """
    with session.memory() as memory:
        page = memory.scroll(
            user_id=user_id,
            app_id=app_id,
            agent_id=agent_id,
            session_id=session_id,
            filters=json_object(filters, "--filter"),
            limit=limit,
            cursor=cursor,
        )
    if session.as_json:
        emit({"memories": page.memories, "next_cursor": page.next_cursor})
        return
    from mindmem.core.serve import render

    out = console()
    out.print(render.memories(page.memories, ZoneInfo(session.settings().timezone)))
    if not page.memories:
        out.print("No memories.")
    if page.next_cursor:
        out.print(f"More: --cursor {page.next_cursor}", soft_wrap=True)


@click.command(short_help="Show a memory's revisions and timeline.")
@click.argument("memory_id")
@with_session
def history(session: Session, memory_id: str) -> None:
    """Show how MEMORY_ID changed, what it says about its subject's past, and the words that support it.

    JSON: {revisions, timeline, evidence}: revisions of this memory oldest first; the memories of the same
    subject and property in event time; the supporting messages.
    """
    with session.memory() as memory:
        revisions = memory.history(memory_id)
        timeline = memory.timeline(memory_id)
        evidence = memory.evidence(memory_id)
    if session.as_json:
        emit({"revisions": revisions, "timeline": timeline, "evidence": evidence})
        return
    from mindmem.core.serve import render

    zone = ZoneInfo(session.settings().timezone)
    out = console()
    out.print(f"{len(revisions)} revision{'s' if len(revisions) != 1 else ''}, oldest first", style="bold")
    for revision in revisions:
        recorded = f"revision {revision.revision}, recorded {render.day(revision.recorded_at, zone=zone)}"
        out.print(f"{recorded}, {revision.change_id}", style="dim")
        out.print(revision.content)
        out.print(render.facts(revision, zone))
    out.print("\nTimeline", style="bold")
    out.print(render.timeline(timeline, zone))
    out.print("\nEvidence", style="bold")
    for message in evidence:
        out.print(render.quote(message, zone))


@click.command(short_help="Take a change back, or list changes.")
@click.argument("change_id", required=False)
@click.option("--cascade", is_flag=True, help="Take back later changes of the same memories too.")
@click.option("--user", "user_id", metavar="ID", help="List or take back changes of this user only.")
@click.option("--last", is_flag=True, help="Take back the newest change.")
@with_session
def undo(session: Session, change_id: str | None, cascade: bool, user_id: str | None, last: bool) -> None:
    """Take CHANGE_ID back by a new change; nothing is lost. Without CHANGE_ID, list the newest changes.

    A change whose memories were changed again since is refused unless --cascade takes those back first.
    JSON: the undoing change {change_id, seq, kind, undoes, counts, ...}; without CHANGE_ID {changes: [...]}.
    """
    if change_id and last:
        raise InvalidInput("Give a change id or --last, not both.", field="change_id")
    from mindmem.core.serve import render

    zone = ZoneInfo(session.settings().timezone)
    if not change_id and not last:
        with session.memory() as memory:
            changes = memory.changes(user_id=user_id, limit=20)
        if session.as_json:
            emit({"changes": changes})
        else:
            console().print(render.changes(changes, zone))
        return
    with session.memory(fold=True) as memory:
        if not change_id:
            newest = memory.changes(user_id=user_id, limit=1)
            if not newest:
                raise InvalidInput("There is no change to take back.", field="--last")
            change_id = newest[0].change_id
        done = memory.undo(change_id, cascade=cascade)
    if session.as_json:
        emit(done)
    else:
        console().print(f"Took back {done.undoes or change_id}:")
        console().print(render.changes([done], zone))

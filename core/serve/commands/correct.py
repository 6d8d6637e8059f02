"""Commands that correct by hand: get, update, delete, flush, and what lies in quarantine."""

import click

from mindmem.core.errors import NotFound
from mindmem.core.serve.console import Session, console, emit, json_object, with_session

__all__ = ["delete", "flush", "get", "quarantine", "update"]


@click.command(short_help="Show one memory with its evidence.")
@click.argument("memory_id")
@with_session
def get(session: Session, memory_id: str) -> None:
    """Show the memory MEMORY_ID and the messages that support it. JSON: {memory, evidence}."""
    from mindmem.core.serve import render

    with session.memory() as memory:
        found, evidence = memory.get(memory_id), memory.evidence(memory_id)
    if session.as_json:
        emit({"memory": found, "evidence": evidence})
        return
    console().print(render.memories([found]))
    for message in evidence:
        console().print(render.quote(message))


@click.command(short_help="Put a memory into other words, or change its metadata.")
@click.argument("memory_id")
@click.option("--content", help="The new words.")
@click.option("--entity", metavar="NAME", help="Who or what it is about instead: a name, alias or id.")
@click.option("--metadata", metavar="JSON", help="Your own fields to set; null takes one away.")
@click.option("--actor", default="cli", show_default=True, help="Who does it, for the record.")
@with_session
def update(
    session: Session, memory_id: str, content: str | None, entity: str | None, metadata: str | None, actor: str
) -> None:
    """Write the next revision of MEMORY_ID; its history keeps the earlier ones. JSON: {change}."""
    with session.memory(fold=True) as memory:
        change = memory.update(
            memory_id, content=content, entity=entity, metadata=json_object(metadata, "--metadata"), actor=actor
        )
    _done(session, change.change_id, {"change": change})


@click.command(short_help="Archive a memory.")
@click.argument("memory_id")
@click.option("--actor", default="cli", show_default=True, help="Who does it, for the record.")
@with_session
def delete(session: Session, memory_id: str, actor: str) -> None:
    """Archive MEMORY_ID at once: no search finds it, its history is kept. JSON: {change}."""
    with session.memory(fold=True) as memory:
        change = memory.delete(memory_id, actor=actor)
    _done(session, change.change_id, {"change": change})


@click.command(short_help="Take in what waits for the end of its episode.")
@click.option("--user", "user_id", metavar="ID", help="Only this user's (default: everybody's).")
@with_session
def flush(session: Session, user_id: str | None) -> None:
    """Carry out queued adds at once that schema mode holds until their episode ends. JSON: {receipts}."""
    with session.memory(fold=True) as memory:
        receipts = memory.flush(user_id=user_id)
    if session.as_json:
        emit({"receipts": receipts})
    else:
        click.echo(f"{len(receipts)} carried out.")


@click.group(short_help="List, show, retry and drop inputs that were set aside.")
def quarantine() -> None:
    """Look after inputs that could not be processed; each is kept raw with its reason."""


@quarantine.command("list", short_help="Show what is open, newest first.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@with_session
def list_(session: Session, limit: int) -> None:
    """Show open inputs with place and reason. JSON: {items: [{quarantine_id, origin, …}]}."""
    with session.memory() as memory:
        services = memory.services
        items = services.ledger.quarantined(services.settings.project_id, limit=limit)
    if session.as_json:
        emit({
            "items": [
                {
                    "quarantine_id": one.quarantine_id, "user_id": one.scope.user_id, "origin": one.origin,
                    "line": one.line, "reason": one.reason, "quarantined_at": one.quarantined_at,
                }
                for one in items
            ]
        })  # fmt: skip
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 1, 0))
    for one in items:
        place = f"{one.origin} line {one.line}" if one.line else one.origin
        table.add_row(Text.assemble((one.reason, "bold"), f"\n{place} · {one.scope.user_id}\n{one.quarantine_id}"))
    console().print(table if items else "Nothing is in quarantine.")


@quarantine.command(short_help="Show one input as it came.")
@click.argument("quarantine_id")
@with_session
def show(session: Session, quarantine_id: str) -> None:
    """Print reason and raw text of QUARANTINE_ID. JSON: {item}."""
    with session.memory() as memory:
        services = memory.services
        known = services.ledger.quarantined(services.settings.project_id, state=None, limit=100_000)
    item = next((one for one in known if one.quarantine_id == quarantine_id), None)
    if item is None:
        raise NotFound(f"Nothing with the id {quarantine_id!r} is in quarantine; see: mindmem quarantine list")
    if session.as_json:
        emit({"item": item})
    else:
        console().print(f"{item.reason} ({item.state})\n{item.raw}")


@quarantine.command(short_help="Queue a set-aside add again.")
@click.argument("quarantine_id")
@with_session
def retry(session: Session, quarantine_id: str) -> None:
    """Put the queued add QUARANTINE_ID back into the queue, once what was wrong is put right. JSON: {add_id}."""
    from mindmem.core.ingest.retry import retry as again

    with session.memory() as memory:
        add_id = again(memory.services, quarantine_id)
    if session.as_json:
        emit({"add_id": add_id})
    else:
        click.echo(f"Queued as {add_id}; `mindmem ingest` carries it out.")


@quarantine.command(short_help="Close one without processing it.")
@click.argument("quarantine_id")
@with_session
def drop(session: Session, quarantine_id: str) -> None:
    """Close QUARANTINE_ID; its raw text stays on record. JSON: {dropped}."""
    with session.memory() as memory:
        services = memory.services
        known = services.ledger.quarantined(services.settings.project_id, limit=100_000)
        if quarantine_id not in {one.quarantine_id for one in known}:
            raise NotFound(f"Nothing with the id {quarantine_id!r} is open; see: mindmem quarantine list")
        services.ledger.resolve_quarantined(quarantine_id, "dropped")
    if session.as_json:
        emit({"dropped": quarantine_id})
    else:
        click.echo("Dropped.")


def _done(session: Session, change_id: str, document: dict[str, object]) -> None:
    if session.as_json:
        emit(document)
    else:
        click.echo(f"Done. To take it back: mindmem undo {change_id}")

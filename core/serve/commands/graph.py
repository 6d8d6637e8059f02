"""Commands on the graph: entity, entities, timeline, graph."""

from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar
from zoneinfo import ZoneInfo

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from rich.tree import Tree

    from mindmem.core.records.graph import EntityView, GraphView, Related

__all__ = ["entities", "entity", "graph", "timeline"]

F = TypeVar("F", bound=Callable[..., object])


def _owner(command: F) -> F:
    for name in ("agent", "app"):
        command = click.option(f"--{name}", f"{name}_id", metavar="ID", help=f"Only of this {name}.")(command)
    return click.option("--user", "user_id", required=True, metavar="ID", help="Whose memories.")(command)


@click.command(short_help="Show what is known of somebody or something.")
@click.argument("name")
@_owner
@with_session
def entity(session: Session, name: str, user_id: str, app_id: str | None, agent_id: str | None) -> None:
    """Show what is remembered of NAME (a name, an alias or an id): properties, and how it is related to others.

    JSON: {entity, properties: [{name, memories, total}], related: [{entity, kind, outward, memory_id, valid_from,
    valid_to}], active, mentioned, first_seen, last_seen}.
    """
    with session.memory() as memory:
        view = memory.entity(name, user_id=user_id, app_id=app_id, agent_id=agent_id)
    if session.as_json:
        emit(view)
        return
    out = console()
    out.print(_entity_tree(view, ZoneInfo(session.settings().timezone)))


@click.command(short_help="List the entities that memories are about.")
@_owner
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Continue after a page that printed this.")
@with_session
def entities(
    session: Session, user_id: str, app_id: str | None, agent_id: str | None, limit: int, cursor: str | None
) -> None:
    """List whom and what memories are about, with their types and aliases.

    JSON: {entities: [...], next_cursor}; next_cursor is null on the last page.
    """
    with session.memory() as memory:
        page = memory.entities(user_id=user_id, app_id=app_id, agent_id=agent_id, limit=limit, cursor=cursor)
    if session.as_json:
        emit({"entities": page.entities, "next_cursor": page.next_cursor})
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("name", "type", "also called", "id"):
        table.add_column(column, overflow="fold")
    for one in sorted(page.entities, key=lambda one: one.name.casefold()):
        table.add_row(one.name, one.entity_type, ", ".join(one.aliases), one.entity_id)
    out = console()
    out.print(table if page.entities else "No entities.")
    if page.next_cursor:
        out.print(f"More: --cursor {page.next_cursor}", soft_wrap=True)


@click.command(short_help="Show how a property of somebody changed over time.")
@click.argument("name")
@click.argument("property_name", metavar="PROPERTY")
@_owner
@click.option("--as-of", metavar="TIME", help="Only what was true at that time.")
@with_session
def timeline(
    session: Session, name: str, property_name: str, user_id: str, app_id: str | None, agent_id: str | None,
    as_of: str | None,
) -> None:  # fmt: skip
    """Show the memories of one PROPERTY of NAME in event time, superseded ones too.

    JSON: {timeline: [...]}, memories.
    """
    with session.memory() as memory:
        found = memory.timeline(
            name,
            property_name,
            user_id=user_id,
            app_id=app_id,
            agent_id=agent_id,
            as_of=session.moment(as_of, "--as-of"),
        )
    if session.as_json:
        emit({"timeline": found})
        return
    from mindmem.core.serve import render

    console().print(render.timeline(found, ZoneInfo(session.settings().timezone)))


@click.command(short_help="Show whom and what somebody is related to.")
@click.argument("name")
@_owner
@click.option("--hops", type=click.IntRange(1, 3), default=1, show_default=True, help="How far to go.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="Nodes at most.")
@click.option("--as-of", metavar="TIME", help="What held at that time (default: what holds now).")
@click.option("--memories", is_flag=True, help="With --json: also the memories that say so, as nodes.")
@with_session
def graph(
    session: Session, name: str, user_id: str, app_id: str | None, agent_id: str | None, hops: int, limit: int,
    as_of: str | None, memories: bool,
) -> None:  # fmt: skip
    """Show the neighbourhood of NAME as a tree, each entity where it is met first.

    JSON: {root, nodes: [{node_id, label, kind, type, hops}], edges: [{source, target, kind, memory_id, valid_from,
    valid_to}], cut}.
    """
    with session.memory() as memory:
        view = memory.graph(
            name,
            hops,
            user_id=user_id,
            app_id=app_id,
            agent_id=agent_id,
            as_of=session.moment(as_of, "--as-of"),
            limit=limit,
            memories=memories and session.as_json,
        )
    if session.as_json:
        emit(view)
        return
    out = console()
    out.print(_graph_tree(view))
    if view.cut:
        out.print(f"There is more than {limit} nodes hold.", style="dim")


def _entity_tree(view: "EntityView", zone: tzinfo) -> "Tree":
    from rich.text import Text
    from rich.tree import Tree

    from mindmem.core.serve import render

    one = view.entity
    head = Text.assemble((one.name, "bold"), f"  {one.entity_type}")
    if one.aliases:
        head.append(f"\nalso called {', '.join(one.aliases)}")
    if one.description:
        head.append(f"\n{one.description}")
    span = " to ".join(dict.fromkeys(render.day(at, "day", zone) for at in (view.first_seen, view.last_seen) if at))
    seen = f", {span}" if span else ""
    head.append(f"\n{view.active} memories, named in {view.mentioned} more{seen}\n{one.entity_id}", style="dim")
    tree = Tree(head)
    for known in view.properties:
        past = known.total - len(known.memories)
        label = Text(known.name or "(no property)", style="cyan")
        label.append(f"  {past} past" if past else "", style="dim")
        branch = tree.add(label)
        for memory in known.memories:
            branch.add(Text.assemble(memory.content, (f"  {render.period(memory, zone)}", "dim")))
    if view.related:
        branch = tree.add(Text("related", style="cyan"))
        for related in view.related:
            branch.add(_relation(related))
    return tree


def _relation(related: "Related") -> str:
    name = related.entity.name
    return f"{related.kind} → {name}" if related.outward else f"{name} → {related.kind} → this"


def _graph_tree(view: "GraphView") -> "Tree":
    """Return the breadth-first tree of a neighbourhood."""
    from rich.text import Text
    from rich.tree import Tree

    nodes = {node.node_id: node for node in view.nodes}
    tree = Tree(Text(nodes[view.root].label, style="bold"))
    branches = {view.root: tree}
    queue = [view.root]
    for parent in queue:
        for edge in view.edges:
            if parent not in (edge.source, edge.target):
                continue
            outward = edge.source == parent
            other = nodes[edge.target if outward else edge.source]
            if other.node_id in branches:
                continue
            arrow = f"{edge.kind} → " if outward else f"← {edge.kind} "
            branches[other.node_id] = branches[parent].add(
                Text.assemble((arrow, "cyan"), other.label, (f"  {other.type}", "dim"))
            )
            queue.append(other.node_id)
    return tree

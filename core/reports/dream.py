"""A dream for people: a sentence, and Markdown of ids and counts only, never of what somebody said."""

from collections.abc import Mapping

from mindmem.core.records.dream import DreamReport, ScopeDream
from mindmem.core.reports.facts import counted

__all__ = ["headline", "report_markdown", "scope_line"]

_ROWS = 200


def headline(report: DreamReport) -> str:
    """Return one sentence on how a run went."""
    waiting = [one for one in report.scopes if one.proposal_id]
    changed = sum(len(one.change_ids) for one in report.scopes)
    verb = "would archive" if report.dry_run else "archived"
    applied = sum(one.archived for one in report.scopes if report.dry_run or one.state == "applied")
    active = counted(report.active_before, "active memory", "active memories")
    parts = [f"{report.run_id} {verb} {applied} of {active}"]
    if changed:
        parts.append(counted(changed, "change"))
    if waiting:
        parts.append(f"{counted(len(waiting), 'proposal waits', 'proposals wait')} for approval")
    if report.pending:
        parts.append(counted(len(report.pending), "cluster stays pending", "clusters stay pending"))
    if report.stopped:
        parts.append("as what models may cost is spent")
    failed = sum(one.state == "failed" for one in report.scopes)
    if failed:
        parts.append(f"{counted(failed, 'user')} could not be dreamt over")
    return ", ".join(parts) + "."


def scope_line(scope: ScopeDream) -> str:
    """Return one line on a scope: who, what was done, what waits."""
    who = scope.scope.user_id or "(no user)"
    did = ", ".join(f"{number} {name}" for name, number in scope.actions.items()) or "nothing to do"
    if scope.state == "failed":
        return f"{who}: failed, {scope.cause}"
    if scope.proposal_id:
        return f"{who}: {did}; not done, {scope.cause}: mindmem changes approve {scope.proposal_id}"
    return f"{who}: {did}; AMCR {scope.amcr:.1%}, recall kept {scope.retained} of {scope.probes}"


def report_markdown(report: DreamReport, title: str = "Dream") -> str:
    """Return the run's report: measures, what was found and done, guards, pending clusters and proposals by id.

    What only waits for approval counts as archived in no measure.
    """
    done = [one for one in report.scopes if report.dry_run or one.state != "proposed"]
    archived = sum(one.archived for one in done)
    probes, retained = (sum(getattr(one, name) for one in report.scopes) for name in ("probes", "retained"))
    tokens = sum(one.input_tokens + one.output_tokens for one in report.scopes)
    kept = f"{retained:,} of {probes:,} questions ({retained / probes:.1%})" if probes else "nothing was asked"
    would = "would be archived" if report.dry_run else "archived"
    measures: dict[str, object] = {
        "users": f"{len(report.scopes):,}",
        "active memories before": f"{report.active_before:,}",
        would: f"{archived:,}",
        "AMCR (archived ÷ active before)": f"{archived / report.active_before:.2%}" if report.active_before else "–",
        "recall kept": kept,
        "adds consolidated": f"{sum(one.adds for one in report.scopes):,}",
        "model tokens": f"{tokens:,}",
        "model cost": f"{sum(one.cost for one in report.scopes):,.4f}",
        "seconds": f"{report.seconds:,.1f}",
    }
    lines = [f"# {title}", "", headline(report)]
    lines += _table("", "measure", measures)
    lines += _table("Issues found", "kind", report.total("issues"))
    lines += _table("Actions", "action", report.total("actions"))
    lines += _table("Limits kept to", "limit", {name: f"{value:g}" for name, value in report.guards.items()})
    waiting = [one for one in report.scopes if one.proposal_id]
    if waiting:
        lines += ["", "## Waits for approval", "", "| proposal | would archive | of |", "| --- | ---: | ---: |"]
        lines.extend(f"| `{one.proposal_id}` | {one.archived} | {one.active_before} |" for one in waiting[:_ROWS])
    failed = [one for one in report.scopes if one.state == "failed"]
    if failed:
        codes = sorted({one.cause for one in failed})
        lines += ["", "## Failed", "", f"{counted(len(failed), 'user')}: {', '.join(codes)}"]
    if report.pending:
        lines += ["", "## Stays pending", "", "The next run does these clusters.", ""]
        lines.extend(f"- `{one.cluster}`" for one in report.pending[:_ROWS])
    return "\n".join(lines) + "\n"


def _table(heading: str, name: str, rows: Mapping[str, object]) -> list[str]:
    if not rows:
        return []
    told = [f"| {key.replace('_', ' ')} | {value} |" for key, value in rows.items()]
    return ["", *([f"## {heading}", ""] if heading else []), f"| {name} | value |", "| --- | ---: |", *told]

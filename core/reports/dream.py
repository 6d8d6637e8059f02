"""A dream for people: a sentence, and Markdown of ids and counts only, never of what somebody said."""

from mindmem.core.records.dream import DreamReport, ScopeDream

__all__ = ["headline", "report_markdown", "scope_line"]

_ROWS = 200


def headline(report: DreamReport) -> str:
    """Return one sentence on how a run went."""
    waiting = [one for one in report.scopes if one.proposal_id]
    changed = sum(len(one.change_ids) for one in report.scopes)
    verb = "would archive" if report.dry_run else "archived"
    applied = sum(one.archived for one in report.scopes if report.dry_run or one.state == "applied")
    parts = [f"{report.run_id} {verb} {applied} of {report.active_before} active memories"]
    if changed:
        parts.append(f"{changed} changes")
    if waiting:
        parts.append(f"{len(waiting)} proposals wait for approval")
    if report.pending:
        parts.append(f"{len(report.pending)} clusters stay pending")
    if report.stopped:
        parts.append("as what models may cost is spent")
    failed = sum(one.state == "failed" for one in report.scopes)
    if failed:
        parts.append(f"{failed} users' memories could not be dreamt over")
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


def report_markdown(report: DreamReport) -> str:
    """Return the run's report: measures, guards, scopes by number, pending clusters and proposals by id."""
    lines = ["# Dream", "", headline(report), "", "| measure | value |", "| --- | ---: |"]
    probes, retained = (sum(getattr(one, name) for one in report.scopes) for name in ("probes", "retained"))
    tokens = sum(one.input_tokens + one.output_tokens for one in report.scopes)
    facts: dict[str, object] = {
        "active before": report.active_before,
        "archived": report.archived,
        "AMCR": f"{report.amcr:.4f}",
        "recall retention": f"{retained}/{probes}",
        "adds consolidated": sum(one.adds for one in report.scopes),
        "tokens": tokens,
        "cost": f"{sum(one.cost for one in report.scopes):.4f}",
        "seconds": f"{report.seconds:.1f}",
    }
    facts.update({f"action: {name}": number for name, number in report.total("actions").items()})
    facts.update({f"issue: {name}": number for name, number in report.total("issues").items()})
    facts.update({f"guard: {name}": f"{value:g}" for name, value in report.guards.items()})
    lines.extend(f"| {name} | {value} |" for name, value in facts.items())
    waiting = [one for one in report.scopes if one.proposal_id]
    if waiting:
        lines += ["", "## Waits for approval", "", "| proposal | would archive | of |", "| --- | ---: | ---: |"]
        lines.extend(f"| `{one.proposal_id}` | {one.archived} | {one.active_before} |" for one in waiting[:_ROWS])
    if report.pending:
        lines += ["", "## Stays pending", ""]
        lines.extend(f"- `{one.cluster}`" for one in report.pending[:_ROWS])
    return "\n".join(lines) + "\n"

"""What is on record of a project's dreams, and proposals: kept, listed, turned down."""

from dataclasses import replace

from mindmem.core import ids
from mindmem.core.errors import Conflict
from mindmem.core.ledger.proposals import Dreams
from mindmem.core.records import Partition
from mindmem.core.records.dream import Proposal, ScopeDream
from mindmem.core.services import Services

__all__ = ["dreams_of", "opened", "proposals", "propose", "reject"]


def dreams_of(services: Services, project_id: str = "") -> Dreams:
    """Return what is on record of a project's dreams; left out: the project of the settings."""
    return Dreams(services.ledger, services.reader, project_id or services.settings.project_id)


def proposals(services: Services, *, user_id: str | None = None, open_only: bool = True) -> tuple[Proposal, ...]:
    """Return the project's proposals, newest first."""
    owner = None if user_id is None else Partition(services.settings.project_id, user_id)
    return tuple(dreams_of(services).proposals(owner, "open" if open_only else None))


def reject(services: Services, proposal_id: str, *, actor: str = "") -> Proposal:
    """Turn a proposal down: what it held isn't proposed again.

    Raises:
        NotFound: there is no such proposal.
        Conflict: it was approved or rejected already.
    """
    records = dreams_of(services)
    turned = replace(opened(records, proposal_id), state="rejected")
    records.propose(turned, actor)
    return turned


def propose(
    services: Services, summary: ScopeDream, run_id: str, cause: str, actor: str, reasoner: str
) -> ScopeDream:  # fmt: skip
    """Keep what a run would do as a proposal, unless there is nothing or the same is open already; return the scope's
    report with it and its ``cause``."""
    if not summary.diff:
        return replace(summary, cause=cause)
    records = dreams_of(services)
    keys = [line.key for line in summary.diff]
    for one in records.proposals(summary.scope.partition):
        if [line.key for line in one.lines] == keys:  # asked for before: one word is enough for both
            return replace(summary, cause=one.cause, proposal_id=one.proposal_id)
    proposal = Proposal(
        proposal_id=ids.random_id("prop"),
        run_id=run_id,
        scope=summary.scope,
        state="open",
        cause=cause,
        lines=summary.diff,
        active_before=summary.active_before,
        archived=summary.archived,
        reasoner=reasoner,
    )
    records.propose(proposal, actor)
    return replace(summary, cause=cause, proposal_id=proposal.proposal_id)


def opened(records: Dreams, proposal_id: str) -> Proposal:
    """Return a proposal that waits for a word.

    Raises:
        NotFound: there is no such proposal.
        Conflict: it was approved or rejected already.
    """
    proposal = records.proposal(proposal_id)
    if proposal.state != "open":
        raise Conflict(f"Proposal {proposal_id!r} was {proposal.state} already; see: mindmem changes list --all.")
    return proposal

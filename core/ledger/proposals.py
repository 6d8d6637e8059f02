"""Dreaming's own rows: which adds are consolidated, what waits for approval, how runs went. All append-only."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

import polars as pl
import pyarrow as pa

from mindmem.core import ids
from mindmem.core.errors import NotFound, bounded
from mindmem.core.ledger.port import Draft, Ledger
from mindmem.core.records import Change, Partition, Scope
from mindmem.core.records.dream import DiffLine, Proposal, ProposalState, ScopeDream
from mindmem.core.tables.contracts import body
from mindmem.core.tables.reader import Reader

__all__ = ["Dreams"]


class Dreams:
    """What the ledger and the tables know of one project's dreams."""

    def __init__(self, ledger: Ledger, reader: Reader, project_id: str) -> None:
        self._ledger = ledger
        self._reader = reader
        self._project = project_id

    # -- adds

    def unconsolidated(self, owner: Partition, since: datetime) -> dict[str, str]:
        """Return the adds recorded since then that no run has consolidated, each with the change that holds it."""
        adds = self._rows("adds", owner).filter(pl.col("recorded_at") >= since).select("add_id", "change_id")
        done = self._rows("consolidations", owner).select("add_id").unique()
        frame = adds.unique("add_id", keep="first").join(done, on="add_id", how="anti").sort("add_id").collect()
        return dict(frame.iter_rows())

    def written_by(self, owner: Partition, change_ids: Collection[str]) -> dict[str, set[str]]:
        """Return memory_id to those of these changes that wrote a revision of it."""
        rows = self._rows("memories", owner).filter(pl.col("change_id").is_in(list(change_ids)))
        found: dict[str, set[str]] = {}
        for memory_id, change_id in rows.select("memory_id", "change_id").unique().collect().iter_rows():
            found.setdefault(memory_id, set()).add(change_id)
        return found

    # -- runs

    def close(
        self, scope: Scope, run_id: str, done: ScopeDream, *, adds: Sequence[str], guards: Mapping[str, float],
        at: datetime, actor: str = "",
    ) -> Change:  # fmt: skip
        """Record in one change how a run went in a scope, and which adds it consolidated."""
        batches = {"dreams": _dreams_table(scope, run_id, done, guards, at)}
        if adds:
            rows = [{"add_id": add_id, **_scope(scope), "run_id": run_id} for add_id in adds]
            batches["consolidations"] = pa.Table.from_pylist(rows, schema=body("consolidations"))
        counts = {"consolidated": len(adds)} if adds else {}
        return self._commit(scope, run_id, f"dream {done.state}", actor, batches, counts)

    def last_night(self) -> datetime | None:
        """Return when the project as a whole was last dreamt through."""
        rows = self._rows("dreams", Partition(self._project, "")).filter(pl.col("state") == "night")
        found = rows.select(pl.col("dreamt_at").max()).collect().item()
        return None if found is None else found

    def runs(self, owner: Partition | None = None) -> list[dict[str, object]]:
        """Return the rows of the table ``dreams``, oldest first: the trend over runs."""
        rows = self._rows("dreams", owner) if owner else self._all("dreams")
        return rows.sort("seq").collect().to_dicts()

    # -- proposals

    def propose(self, proposal: Proposal, actor: str = "") -> Change:
        """Keep a proposal, or a further state of one."""
        document = {
            "lines": [asdict(line) for line in proposal.lines],
            "active_before": proposal.active_before,
            "archived": proposal.archived,
            "reasoner": proposal.reasoner,
        }
        row = {
            "proposal_id": proposal.proposal_id, **_scope(proposal.scope), "run_id": proposal.run_id,
            "state": proposal.state, "cause": proposal.cause, "document": json.dumps(document, ensure_ascii=False),
        }  # fmt: skip
        rows = pa.Table.from_pylist([row], schema=body("proposals"))
        reason = f"dream proposal {proposal.state}"
        return self._commit(proposal.scope, proposal.run_id, reason, actor, {"proposals": rows}, {"proposals": 1})

    def proposals(self, owner: Partition | None = None, state: ProposalState | None = "open") -> list[Proposal]:
        """Return the proposals in their latest state, newest first; ``state`` None: all."""
        rows = self._rows("proposals", owner) if owner else self._all("proposals")
        latest = rows.sort("seq").unique("proposal_id", keep="last").sort("seq", descending=True).collect()
        found = [_proposal(row) for row in latest.iter_rows(named=True)]
        return [one for one in found if state is None or one.state == state]

    def proposal(self, proposal_id: str) -> Proposal:
        """Return one proposal of the project.

        Raises:
            NotFound: there is none of that id.
        """
        for one in self.proposals(state=None):
            if one.proposal_id == proposal_id:
                return one
        raise NotFound(f"No proposal {bounded(proposal_id)} in project {self._project!r}: `mindmem changes list`.")

    def refused(self, owner: Partition) -> frozenset[tuple[object, ...]]:
        """Return what was rejected or undone before: it is not done again without being asked for."""
        turned = [one for state in ("rejected", "undone") for one in self.proposals(owner, state)]
        return frozenset(line.key for one in turned for line in one.lines)

    def changes_of(self, run_id: str) -> list[Change]:
        """Return the changes of a run in the project, oldest first."""
        rows = self._all("changes").filter(pl.col("run_id") == run_id, pl.col("kind") == "dream").sort("seq")
        names = rows.select("change_id").unique(maintain_order=True).collect()["change_id"].to_list()
        found = [self._ledger.change(name) for name in names]
        return [change for change in found if change is not None]

    # -- below

    def _commit(
        self, scope: Scope, run_id: str, reason: str, actor: str, batches: Mapping[str, pa.Table],
        counts: Mapping[str, int],
    ) -> Change:  # fmt: skip
        return self._ledger.commit(
            Draft(
                change_id=ids.change_id(), kind="dream", scope=scope, actor=actor, reason=reason, run_id=run_id,
                counts=counts, batches=batches,
            )
        )  # fmt: skip

    def _rows(self, table: str, owner: Partition) -> pl.LazyFrame:
        where = {"project_id": [owner.project_id], "user_id": [owner.user_id]}
        return self._reader.fresh([table]).rows(table, where)

    def _all(self, table: str) -> pl.LazyFrame:
        return self._reader.fresh([table]).rows(table, {"project_id": [self._project]})


def _scope(scope: Scope) -> dict[str, str]:
    return {
        "project_id": scope.project_id, "user_id": scope.user_id, "app_id": scope.app_id, "agent_id": scope.agent_id,
        "session_id": scope.session_id,
    }  # fmt: skip


def _dreams_table(
    scope: Scope, run_id: str, done: ScopeDream, guards: Mapping[str, float], at: datetime
) -> pa.Table:  # fmt: skip
    row = {
        "run_id": run_id, **_scope(scope), "state": done.state, "active_before": done.active_before,
        "archived": done.archived, "amcr": done.amcr, "actions": json.dumps(dict(done.actions)),
        "issues": json.dumps(dict(done.issues)), "clusters": done.clusters,
        "pending": [one.cluster for one in done.pending], "adds": done.adds, "probes": done.probes,
        "retained": done.retained, "input_tokens": done.input_tokens, "output_tokens": done.output_tokens,
        "cost": done.cost, "seconds": done.seconds, "guards": json.dumps(dict(guards)), "dreamt_at": at,
    }  # fmt: skip
    return pa.Table.from_pylist([row], schema=body("dreams"))


def _proposal(row: Mapping[str, object]) -> Proposal:
    document = json.loads(str(row["document"]))
    return Proposal(
        proposal_id=str(row["proposal_id"]),
        run_id=str(row["run_id"]),
        scope=Scope(str(row["project_id"]), str(row["user_id"])),
        state=row["state"],  # type: ignore[arg-type]  # the column holds nothing else
        cause=str(row["cause"]),
        lines=tuple(DiffLine(**{**line, "by": tuple(line["by"])}) for line in document["lines"]),
        active_before=int(document["active_before"]),
        archived=int(document["archived"]),
        reasoner=str(document.get("reasoner", "")),
        recorded_at=row["recorded_at"],  # type: ignore[arg-type]  # a timestamp column
    )

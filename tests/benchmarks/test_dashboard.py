"""Pages of a store with a million memories: all are shown; how fast, and in how much memory, is printed.

The aims are two seconds once warm and 1.5 GB, run alone: python -m pytest tests/benchmarks/test_dashboard.py
The tables hold them all. The index, which pages and searches, holds those that went through commits; its own speed is
``test_speed``'s.
"""

import resource
from pathlib import Path

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest
from support.pages import PAGES, SOURCE, settings

from mindmem.core.bench.generate import Generator
from mindmem.core.bench.stores import WITHOUT_EMBEDDER, fill
from mindmem.core.clock import monotonic
from mindmem.core.ledger.proposals import Dreams
from mindmem.core.memory import Memory
from mindmem.core.records import Scope
from mindmem.core.records.dream import DiffLine, Proposal, ScopeDream
from mindmem.core.services import Services

pytestmark = pytest.mark.slow

COMMITTED, TIMES = 5_000, 200


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of a store whose memories were multiplied in its tables, each time for another user."""
    home = tmp_path_factory.mktemp("large")
    with Memory(settings=settings(home)) as memory:
        fill(memory, "user", COMMITTED, Generator(7), WITHOUT_EMBEDDER)
        services = memory.services
        memory.feedback("No, I meant Ghent, not Bonn.", user_id="user")
        _dream(services)
        memory.fold()
        versions, seq = services.ledger.pinned()
        rows = services.tables.scan("memories").collect()
        for first in range(1, TIMES, 25):
            more = pl.concat(
                rows.with_columns(
                    pl.concat_str(name, pl.lit(f"-{one}")) for name in ("memory_id", "user_id", "entity_id")
                )
                for one in range(first, min(first + 25, TIMES))
            )
            arrow = more.to_arrow(compat_level=pl.CompatLevel.oldest())
            versions["memories"] = services.tables.append("memories", arrow, app_id=f"more {first}", seq=seq)
        lease = services.ledger.acquire("fold", "benchmark", 60.0)
        services.ledger.pin(versions, seq, lease.fence)
        services.ledger.release(lease)
        assert services.tables.scan("memories").select(pl.len()).collect().item() == COMMITTED * TIMES
    return home


def _dream(services: Services) -> None:
    """Put a year of nights on record, and a proposal of many lines."""
    records, scope = Dreams(services.ledger, services.reader, "default"), Scope(user_id="user")
    done = ScopeDream(scope=scope, state="applied", active_before=COMMITTED, archived=40, issues={"conflict": 40},
                      actions={"archive": 40}, adds=100, probes=20, retained=19)  # fmt: skip
    for night in range(365):
        records.close(scope, f"run {night}", done, adds=(), guards={"cap": 0.3}, at=services.clock.now())
    found = services.reader.memories("default")[:2_000]
    lines = tuple(
        DiffLine("archive", one.memory_id, one.content, "", "a later value", (one.memory_id,)) for one in found
    )
    records.propose(
        Proposal(proposal_id="prop", run_id="run 364", scope=scope, state="open", cause="over the cap", lines=lines,
                 active_before=COMMITTED, archived=len(lines))
    )  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_shown(page: str, large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = AppTest.from_string(SOURCE.format(home=str(large), dashboard={}, store={}, page=page), default_timeout=300)
    app.query_params["q"] = "What did Hana say about water?"
    seconds: list[float] = []
    for _ in range(3):
        begun = monotonic()
        app.run()
        seconds.append(monotonic() - begun)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with capsys.disabled():
        print(f"\n{page}: first {seconds[0]:.2f} s, then {min(seconds[1:]):.2f} s; {used / 1e6:,.0f} MB")  # noqa: T201
    assert not app.exception
    assert app.title or app.header or app.subheader

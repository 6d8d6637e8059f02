"""Tables for pages, out of a store: aggregated lazily in Polars, so that no page ever holds all rows.

Each function reads one consistent view. ``owner`` says whose rows. Times are aware UTC.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from mindmem.core.tables.reader import Owner, Reader, latest

__all__ = ["VERSIONS", "entities", "growth", "held_at", "step_of", "versions"]

VERSIONS: Final = 2_000
"""Most versions of one entity that are shown, the latest ones."""
_STEPS: Final = (
    (timedelta(minutes=2), "1s"),
    (timedelta(hours=2), "1m"),
    (timedelta(days=2), "1h"),
    (timedelta(days=400), "1d"),
    (timedelta(days=3_000), "1w"),
)
_STATES: Final = ["memory_id", "revision", "status", "recorded_at"]


def growth(reader: Reader, owner: Owner) -> pl.DataFrame:
    """Return how many memories there were over time: ``at`` (begin of a second, minute, hour, day, week or month, by
    how long it all took), ``added``, ``archived`` (in that step) and ``active`` (after it). It begins with an empty
    step, before the first memory; there is none where nothing was recorded."""
    states = _rows(reader, owner, _STATES).collect(engine="streaming")
    if states.is_empty():
        return pl.DataFrame(
            schema={"at": pl.Datetime("us", "UTC"), "added": pl.Int64, "archived": pl.Int64, "active": pl.Int64}
        )
    active = pl.col("status") == "active"
    # Most memories have one revision; only the others need to be put in order.
    changed = states.filter(pl.col("revision") > 1).select("memory_id").unique()
    single = states.join(changed, on="memory_id", how="anti").select("recorded_at", moved=active.cast(pl.Int64))
    several = states.join(changed, on="memory_id", how="semi").sort("memory_id", "revision")
    earlier = active.shift(1).over("memory_id").fill_null(value=False)
    moves = pl.concat(
        [single, several.select("recorded_at", moved=active.cast(pl.Int64) - earlier.cast(pl.Int64))]
    ).filter(pl.col("moved") != 0)
    first, last = states["recorded_at"].min(), states["recorded_at"].max()
    assert isinstance(first, datetime)
    assert isinstance(last, datetime)
    step = step_of(first, last)
    counted = (
        moves.group_by(at=pl.col("recorded_at").dt.truncate(step))
        .agg(
            added=(pl.col("moved") > 0).sum().cast(pl.Int64),
            archived=(pl.col("moved") < 0).sum().cast(pl.Int64),
            net=pl.col("moved").sum(),
        )
        .sort("at")
        .select("at", "added", "archived", active=pl.col("net").cum_sum())
    )
    before = counted.head(1).select(
        pl.col("at").dt.offset_by(f"-{step}"), *(pl.lit(0, pl.Int64).alias(name) for name in counted.columns[1:])
    )
    return pl.concat([before, counted])


def step_of(first: datetime, last: datetime) -> str:
    """Return the step, in Polars' words, that makes a readable number of points between two times."""
    return next((step for most, step in _STEPS if last - first <= most), "1mo")


def entities(reader: Reader, owner: Owner) -> pl.DataFrame:
    """Return who memories are about: ``entity_id``, ``name``, ``entity_type``, ``user_id``, ``memories`` (active ones)
    and ``properties`` (different ones); those with most memories first."""
    columns = ["memory_id", "revision", "status", "entity_id", "entity_name", "entity_type", "property_name", "user_id"]
    return (
        _newest(_rows(reader, owner, columns).filter(pl.col("entity_id") != ""))
        .group_by("entity_id")
        .agg(
            name=pl.col("entity_name").last(),
            entity_type=pl.col("entity_type").last(),
            user_id=pl.col("user_id").last(),
            memories=(pl.col("status") == "active").sum(),
            properties=pl.col("property_name").filter(pl.col("property_name") != "").n_unique(),
        )
        .sort("memories", "name", "entity_id", descending=[True, False, False])
    )


def versions(reader: Reader, owner: Owner, entity_id: str) -> pl.DataFrame:
    """Return the latest :data:`VERSIONS` memories of an entity by property and event time, at their newest revision.

    ``start`` is when it came to be true, else when it was said, else when it was recorded; ``end`` when it ceased, null
    while it holds. ``state`` is current, past (it was true until its end) or withdrawn (archived without an end, or
    deleted: never true). ``timed`` says whether ``start`` is a time in the world.
    """
    columns = [
        "memory_id", "revision", "status", "property_name", "value", "content", "mem_type", "order", "valid_from",
        "valid_to", "observed_at", "recorded_at", "time_precision", "flags", "user_id", "seq",
    ]  # fmt: skip
    rows = latest(_rows(reader, owner, columns, {"entity_id": [entity_id]}), ["memory_id"])
    active, ended = pl.col("status") == "active", pl.col("valid_to").is_not_null()
    return (
        rows.with_columns(
            start=pl.coalesce("valid_from", "observed_at", "recorded_at"),
            end=pl.col("valid_to"),
            timed=pl.col("valid_from").is_not_null() | pl.col("observed_at").is_not_null(),
            state=pl.when(active & ~ended)
            .then(pl.lit("current"))
            .when(ended & (active | ~pl.col("flags").list.contains("deleted")))
            .then(pl.lit("past"))
            .otherwise(pl.lit("withdrawn")),
        )
        .sort("start", "seq")
        .tail(VERSIONS)
        .sort("property_name", "start", "seq")
        .collect()
    )


def held_at(frame: pl.DataFrame, at: datetime) -> pl.DataFrame:
    """Return those of an entity's versions that were true at a time: begun, not ended, and never withdrawn."""
    begun, open_ = pl.col("start") <= at, pl.col("end").is_null() | (pl.col("end") > at)
    return frame.filter(pl.col("state") != "withdrawn", begun, open_)


def _rows(
    reader: Reader, owner: Owner, columns: Sequence[str], where: dict[str, list[str]] | None = None
) -> pl.LazyFrame:
    project, user = (owner, None) if isinstance(owner, str) else owner
    scope = {"project_id": [project]} | ({} if user is None else {"user_id": [user]})
    return reader.view().rows("memories", scope | (where or {})).select(list(columns))


def _newest(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return the newest revision of each memory; only memories with several are put in order."""
    frame = rows.collect(engine="streaming")
    changed = frame.filter(pl.col("revision") > 1).select("memory_id").unique()
    if changed.is_empty():
        return frame
    several = frame.join(changed, on="memory_id", how="semi").sort("revision").unique("memory_id", keep="last")
    return pl.concat([frame.join(changed, on="memory_id", how="anti"), several])

"""Altair charts: each has a title that says what it shows and in which unit, and tooltips that name every value.

Fonts, grounds and the colours of categories are Streamlit's theme; what has a meaning takes its colour from ``theme``.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import altair as alt
import polars as pl

from mindmem.core.reports.runs import DreamRun
from mindmem.dashboards.figures import step_of
from mindmem.dashboards.theme import COLOURS

__all__ = ["activity", "growth", "issues", "shares", "spending", "timeline"]

Chart = alt.Chart | alt.LayerChart | alt.FacetChart

_LEGEND: Final = alt.Legend(orient="top", offset=6, columns=3)
_ROW: Final = 30
"""Pixels of one property's row."""
_TEXT: Final = 40
"""Characters of a value in a chart."""
_AROUND: Final = 120
"""Pixels of a chart's title, axis and legend."""
_LANE: Final = "\u200b"
"""Marks the further rows of a property; it has no width."""
_LANES: Final = 6
_FITS: Final = 32
"""Characters that fit across a chart on a telephone."""


def growth(frame: pl.DataFrame) -> Chart:
    """Return active memories over time (see ``figures.growth``)."""
    base = alt.Chart(frame, title="Active memories over time", height=240).encode(
        x=_time(frame),
        y=alt.Y("active:Q", title="memories", axis=alt.Axis(tickMinStep=1, format="~s")),
        tooltip=[_at("at"), alt.Tooltip("active:Q", title="active memories", format=",")],
    )
    area = base.mark_area(interpolate="step-after", color=COLOURS["active"], opacity=0.18)
    line = base.mark_line(interpolate="step-after", color=COLOURS["active"], strokeWidth=2)
    return alt.layer(area, line, base.mark_point(color=COLOURS["active"], filled=True, size=30))


def activity(frame: pl.DataFrame) -> Chart:
    """Return what was added (up) and archived (down) over time (see ``figures.growth``)."""
    long = frame.select("at", added=pl.col("added"), archived=-pl.col("archived")).unpivot(
        index="at", variable_name="what", value_name="memories"
    ).filter(pl.col("memories") != 0)  # fmt: skip
    made: alt.Chart = (
        alt.Chart(long, title="Memories added and archived", height=240)
        .mark_bar(size=7)
        .encode(
            x=_time(frame),
            y=alt.Y("memories:Q", title="memories", axis=alt.Axis(tickMinStep=1, format="~s")),
            color=_colours("what", {"added": COLOURS["added"], "archived": COLOURS["archived"]}),
            tooltip=[_at("at"), alt.Tooltip("what:N", title="what"), alt.Tooltip("memories:Q", format=",")],
        )
    )
    return made


def shares(runs: Sequence[DreamRun]) -> Chart:
    """Return AMCR and recall retention by run, oldest first, in percent."""
    rows = [
        (place, one.at, what, share)
        for place, one in enumerate(runs, 1)
        for what, share in (("AMCR", one.amcr), ("recall kept", one.retention))
        if share is not None
    ]
    frame = pl.DataFrame(rows, schema=["run", "at", "what", "share"], orient="row")
    base = alt.Chart(frame, title=f"AMCR and recall kept, {_latest(runs)}", height=240).encode(
        x=_by_run(runs),
        y=alt.Y("share:Q", title="share", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        color=_colours("what", {"AMCR": COLOURS["archived"], "recall kept": COLOURS["active"]}),
        tooltip=[_at("at"), alt.Tooltip("what:N", title="what"), alt.Tooltip("share:Q", format=".1%")],
    )
    shape = alt.Shape("what:N", legend=None)
    return alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=50).encode(shape=shape))


def issues(runs: Sequence[DreamRun]) -> Chart:
    """Return how many issues of which kind each run found, oldest first."""
    rows = [
        (place, one.at, kind.replace("_", " "), number)
        for place, one in enumerate(runs, 1)
        for kind, number in one.issues.items()
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "run": pl.Int64,
        "at": pl.Datetime("us", "UTC"),
        "kind": pl.String,
        "number": pl.Int64,
    }
    made: alt.Chart = (
        alt.Chart(pl.DataFrame(rows, schema=schema, orient="row"), title=f"Issues found, {_latest(runs)}", height=240)
        .mark_bar(size=12)
        .encode(
            x=_by_run(runs),
            y=alt.Y("number:Q", title="issues", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("kind:N", title=None, legend=_LEGEND),
            tooltip=[_at("at"), alt.Tooltip("kind:N", title="kind"), alt.Tooltip("number:Q", title="issues")],
        )
    )
    return made


def _latest(runs: Sequence[DreamRun]) -> str:
    return "the only run" if len(runs) == 1 else f"the latest {len(runs)} runs"


def _by_run(runs: Sequence[DreamRun]) -> alt.X:
    """Return the axis of runs by their number: nights lie evenly, and runs of one night not upon each other."""
    domain = [0.5, max(len(runs), 2) + 0.5]
    return alt.X(
        "run:Q", title=None, scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
    )  # fmt: skip


def timeline(frame: pl.DataFrame, at: datetime, name: str) -> Chart:
    """Return an entity's versions by property: a bar while each was true, grey once it was superseded, and a mark where
    something happened or was withdrawn.

    ``frame`` is of ``figures.versions``; ``at`` is drawn as a line, up to which open versions reach at least.
    """
    known = [one for column in ("start", "end") for one in frame[column].to_list() if one is not None]
    first, last = min([*known, at]), max([*known, at])
    shown = _labelled(_in_lanes(frame), first, last)
    held = (pl.col("property_name") != "") & (pl.col("state") != "withdrawn")
    spans = timedelta(days=200)
    time = alt.X(
        "start:T", title=None, scale=alt.Scale(domain=[first, last]),
        axis=alt.Axis(format="%d %b %Y" if last - first < spans else "%b %Y", labelOverlap=True, tickCount=5),
    )  # fmt: skip
    row = alt.Y(
        "row:N", title=None, sort=None,
        axis=alt.Axis(labelLimit=110, grid=True, domain=False, ticks=False, labelOverlap=False,
                      labelExpr=f"indexof(datum.label, '{_LANE}') < 0 ? datum.label : ''"),
    )  # fmt: skip
    colour = _colours(
        "state", {"current": COLOURS["active"], "past": COLOURS["dimmed"], "withdrawn": COLOURS["archived"]}
    )
    tooltip = [
        alt.Tooltip("property:N", title="property"), alt.Tooltip("value:N", title="value"),
        alt.Tooltip("state:N", title="state"), _at("start", "since", "%Y-%m-%d"), alt.Tooltip("ends:N", title="until"),
    ]  # fmt: skip
    everything = alt.Chart(shown).encode(x=time, y=row, color=colour, tooltip=tooltip)
    bars = alt.Chart(shown.filter(held)).encode(x=time, y=row, tooltip=tooltip)
    layers = [
        everything.transform_filter("datum.bar").mark_bar(height=20, cornerRadius=4).encode(x2="end:T"),
        everything.transform_filter("!datum.bar").mark_point(filled=True, size=70, shape="diamond", opacity=1),
        bars.mark_text(align="left", dx=6, fontSize=11, color="white").encode(text="label:N"),
        alt.Chart(pl.DataFrame({"at": [at]}))
        .mark_rule(color=COLOURS["now"], strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x="at:T", tooltip=[_at("at", "as of", "%Y-%m-%d")]),
    ]
    return alt.layer(*layers).properties(
        title=alt.TitleParams(f"What was true of {name[:_TEXT]}, by property", anchor="start"),
        height=shown["row"].n_unique() * _ROW + _AROUND,
    )


def _in_lanes(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ``row``: the property, once more below itself where several of its versions were true at a time."""
    rows: list[str] = []
    lanes: dict[str, list[datetime]] = {}
    for name, start, end in frame.select("property_name", "start", "end").iter_rows():
        property_ = name.replace("_", " ") or "events"
        ends = lanes.setdefault(property_, [])
        free = next((at for at, until in enumerate(ends) if until <= start or not name), None)
        if free is None:
            free = min(len(ends), _LANES - 1)
            ends[free:] = [start]
        ends[free] = max(ends[free], end or datetime.max.replace(tzinfo=UTC))
        rows.append(property_ + _LANE * free)
    return frame.with_columns(row=pl.Series(rows, dtype=pl.String))


def _labelled(frame: pl.DataFrame, first: datetime, last: datetime) -> pl.DataFrame:
    """Add what is written on and told of each version; a value that its bar has no room for is told only."""
    value = pl.when(pl.col("value") == "").then(pl.col("content")).otherwise(pl.col("value"))
    share = (pl.col("end").fill_null(last) - pl.col("start")).dt.total_seconds() / max(
        (last - first).total_seconds(), 1
    )
    return (
        frame.with_columns(
            value=pl.when(value.str.len_chars() > _TEXT).then(value.str.slice(0, _TEXT) + "…").otherwise(value)
        )
        .select(
            "row", "state", "start", "value", "property_name",
            bar=(pl.col("property_name") != "") & (pl.col("state") != "withdrawn"),
            property=pl.col("row").str.replace_all(_LANE, ""),
            end=pl.col("end").fill_null(last),
            ends=pl.when(pl.col("end").is_null()).then(pl.lit("now")).otherwise(pl.col("end").dt.strftime("%Y-%m-%d")),
            label=pl.when(pl.col("value").str.len_chars() <= share * _FITS).then(pl.col("value")).otherwise(pl.lit("")),
        )
    )  # fmt: skip


def spending(frame: pl.DataFrame, unit: str, currency: str) -> Chart:
    """Return what models cost by day and purpose: columns ``day``, ``purpose``, ``amount``."""
    made: alt.Chart = (
        alt.Chart(frame, title=f"{unit} a day, by purpose", height=260)
        .mark_bar(size=14)
        .encode(
            x=alt.X("day:T", title=None, axis=alt.Axis(format="%d %b")),
            y=alt.Y("amount:Q", title=currency),
            color=alt.Color("purpose:N", title=None, legend=_LEGEND),
            tooltip=[_at("day", "day", "%Y-%m-%d"), "purpose:N", alt.Tooltip("amount:Q", title=unit, format=",.4~f")],
        )
    )
    return made


def _time(frame: pl.DataFrame) -> alt.X:
    """Return the axis of ``at``, in words that fit how long it is."""
    first, last = frame["at"].min(), frame["at"].max()
    assert isinstance(first, datetime)
    assert isinstance(last, datetime)
    forms = {"1s": "%H:%M:%S", "1m": "%H:%M", "1h": "%d %b %H:%M", "1d": "%d %b", "1w": "%b %Y", "1mo": "%Y"}
    form = forms[step_of(first, last)]
    return alt.X("at:T", title=None, axis=alt.Axis(format=form, labelOverlap=True, tickCount=6))


def _colours(field: str, known: dict[str, str]) -> alt.Color:
    return alt.Color(
        f"{field}:N",
        title=None,
        scale=alt.Scale(domain=list(known), range=list(known.values())),
        legend=_LEGEND,
    )


def _at(field: str, title: str = "when", form: str = "%Y-%m-%d %H:%M") -> alt.Tooltip:
    return alt.Tooltip(f"{field}:T", title=title, format=form)

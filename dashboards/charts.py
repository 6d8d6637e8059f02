"""Altair charts: each has a title that says what it shows and in which unit, and tooltips that name every value.

Fonts, grounds and the colours of categories are Streamlit's theme; what has a meaning takes its colour from ``theme``.
"""

from datetime import datetime
from typing import Final

import altair as alt
import polars as pl

from mindmem.dashboards.figures import step_of
from mindmem.dashboards.theme import COLOURS

__all__ = ["activity", "growth", "spending", "timeline"]

_ROW: Final = 34
"""Pixels of one property's row."""
_TEXT: Final = 40
"""Characters of a value in a chart."""
_SMALL = pl.col("value").str.len_chars() > _TEXT


def growth(frame: pl.DataFrame) -> alt.LayerChart:
    """Return active memories over time (see ``figures.growth``)."""
    base = alt.Chart(frame, title="Active memories over time", height=240).encode(
        x=_time(frame),
        y=alt.Y("active:Q", title="memories", axis=alt.Axis(tickMinStep=1, format="~s")),
        tooltip=[_at("at"), alt.Tooltip("active:Q", title="active memories", format=",")],
    )
    area = base.mark_area(interpolate="step-after", color=COLOURS["active"], opacity=0.18)
    line = base.mark_line(interpolate="step-after", color=COLOURS["active"], strokeWidth=2)
    return alt.layer(area, line, base.mark_point(color=COLOURS["active"], filled=True, size=30))


def activity(frame: pl.DataFrame) -> alt.Chart:
    """Return what was added (up) and archived (down) over time (see ``figures.growth``)."""
    long = frame.select("at", added=pl.col("added"), archived=-pl.col("archived")).unpivot(
        index="at", variable_name="what", value_name="memories"
    ).filter(pl.col("memories") != 0)  # fmt: skip
    return (
        alt.Chart(long, title="Memories added and archived", height=240)
        .mark_bar(size=7)
        .encode(
            x=_time(frame),
            y=alt.Y("memories:Q", title="memories", axis=alt.Axis(tickMinStep=1, format="~s")),
            color=_colours("what", {"added": COLOURS["added"], "archived": COLOURS["archived"]}),
            tooltip=[_at("at"), alt.Tooltip("what:N", title="what"), alt.Tooltip("memories:Q", format=",")],
        )
    )


def timeline(frame: pl.DataFrame, at: datetime, name: str) -> alt.LayerChart:
    """Return an entity's versions by property: a bar while each was true, dimmed when it was superseded.

    ``frame`` is of ``figures.versions``; ``at`` is drawn as a line, up to which open versions reach at least.
    """
    last = max([at, *(one for one in frame["start"].to_list() if one is not None)])
    shown = frame.with_columns(
        pl.col("end").fill_null(last),
        property=pl.when(pl.col("property_name") == "").then(pl.lit("events")).otherwise(
            pl.col("property_name").str.replace_all("_", " ")
        ),
        open=pl.col("end").is_null(),
        value=pl.when(pl.col("value") == "").then(pl.col("content")).otherwise(pl.col("value")),
    ).with_columns(
        label=pl.when(_SMALL).then(pl.col("value").str.slice(0, _TEXT) + "…").otherwise(pl.col("value")),
        ends=pl.when(pl.col("open")).then(pl.lit("still true")).otherwise(pl.col("end").dt.strftime("%Y-%m-%d")),
    )  # fmt: skip
    states = pl.col("property_name") != ""
    dimmed = alt.condition("datum.state == 'current'", alt.value(0.95), alt.value(0.4))
    encoded = {
        "y": alt.Y(
            "property:N", title=None, sort=None,
            axis=alt.Axis(labelLimit=110, grid=True, domain=False, ticks=False),
        ),
        "color": _colours("state", {"current": COLOURS["active"], "past": COLOURS["dimmed"],
                                    "withdrawn": COLOURS["archived"]}),
        "tooltip": [
            alt.Tooltip("property:N", title="property"), alt.Tooltip("value:N", title="value"),
            alt.Tooltip("state:N", title="state"), _at("start", "since", "%Y-%m-%d"),
            alt.Tooltip("ends:N", title="until"),
        ],
    }  # fmt: skip
    columns = ["property", "label", "value", "state", "start", "end", "ends"]
    bars = shown.filter(states & (pl.col("state") != "withdrawn")).select(columns)
    points = shown.filter(~states | (pl.col("state") == "withdrawn")).select(columns)
    time = alt.X("start:T", title=None)
    rows = shown["property"].n_unique()
    layers: list[alt.Chart] = [
        alt.Chart(bars).mark_bar(height=16, cornerRadius=4).encode(x=time, x2="end:T", opacity=dimmed, **encoded),
        alt.Chart(points).mark_point(filled=True, size=70, shape="diamond").encode(x=time, opacity=dimmed, **encoded),
        alt.Chart(pl.DataFrame({"at": [at]})).mark_rule(
            color=COLOURS["now"], strokeDash=[4, 3], strokeWidth=1.5
        ).encode(x="at:T", tooltip=[_at("at", "as of", "%Y-%m-%d")]),
    ]  # fmt: skip
    return alt.layer(*layers).properties(
        title=alt.TitleParams(f"What was true of {name[:_TEXT]}, by property", anchor="start"),
        height=max(90, rows * _ROW),
    )


def spending(frame: pl.DataFrame, unit: str, currency: str) -> alt.Chart:
    """Return what models cost by day and purpose: columns ``day``, ``purpose``, ``amount``."""
    return (
        alt.Chart(frame, title=f"{unit} a day, by purpose", height=260)
        .mark_bar(size=14)
        .encode(
            x=alt.X("day:T", title=None, axis=alt.Axis(format="%d %b")),
            y=alt.Y("amount:Q", title=currency),
            color=alt.Color("purpose:N", title="purpose", legend=alt.Legend(orient="bottom")),
            tooltip=[_at("day", "day", "%Y-%m-%d"), "purpose:N", alt.Tooltip("amount:Q", title=unit, format=",.4~f")],
        )
    )


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
        legend=alt.Legend(orient="bottom"),
    )


def _at(field: str, title: str = "when", form: str = "%Y-%m-%d %H:%M") -> alt.Tooltip:
    return alt.Tooltip(f"{field}:T", title=title, format=form)

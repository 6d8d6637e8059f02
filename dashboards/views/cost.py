"""Cost: what calls of models came to, by purpose, model and day."""

from typing import Final

import polars as pl
import streamlit as st

from mindmem.core.spending import Line, total
from mindmem.dashboards import charts, readers, widgets
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_SPANS: Final = {"7 days": 7, "30 days": 30, "90 days": 90, "All": None}


def render(store: Store) -> None:
    """Show totals, their course, and a table by model and purpose."""
    widgets.title("Cost", "Calls of language models and endpoints, in the currency of the prices that are set.")
    chosen = st.segmented_control("Time", list(_SPANS), default="30 days", required=True)
    lines = readers.spent(store, _SPANS[chosen])
    if not lines:
        widgets.empty(
            "No model was asked in this time",
            "The rules reasoner and the bundled embedder cost nothing; with `MINDMEM_REASONER=llm` calls appear here.",
        )
        return
    spent = total(lines)
    widgets.show(
        widgets.numbers([
            ("Cost", f"{spent.cost:,.4f}", f"{spent.unpriced:,} calls without a price" if spent.unpriced else ""),
            ("Calls", f"{spent.calls:,}", f"{spent.cached:,} answered from the cache"),
            ("Tokens in", f"{spent.input_tokens:,}", f"{spent.estimated:,} calls estimated" if spent.estimated else ""),
            ("Tokens out", f"{spent.output_tokens:,}", ""),
        ])
    )  # fmt: skip
    frame = _frame(lines)
    tokens = not spent.cost
    amounts = frame.group_by("day", "purpose").agg(amount=pl.col("tokens" if tokens else "cost").sum()).sort("day")
    st.altair_chart(charts.spending(amounts, "Tokens" if tokens else "Cost", "tokens" if tokens else "cost"))
    summed = frame.group_by("model", "purpose").agg(
        pl.col("calls", "tokens_in", "tokens_out", "cost").sum()
    ).sort("cost", "calls", descending=True)  # fmt: skip
    st.dataframe(
        summed, hide_index=True,
        column_config={
            "model": st.column_config.TextColumn("Model"), "purpose": st.column_config.TextColumn("Purpose"),
            "calls": st.column_config.NumberColumn("Calls", format="localized"),
            "tokens_in": st.column_config.NumberColumn("Tokens in", format="localized"),
            "tokens_out": st.column_config.NumberColumn("Tokens out", format="localized"),
            "cost": st.column_config.NumberColumn("Cost", format="%.4f"),
        },
    )  # fmt: skip


def _frame(lines: list[Line]) -> pl.DataFrame:
    return pl.DataFrame([
        {"day": line.day, "purpose": line.purpose, "model": line.model, "calls": line.spent.calls,
         "tokens_in": line.spent.input_tokens, "tokens_out": line.spent.output_tokens, "tokens": line.spent.tokens,
         "cost": line.spent.cost}
        for line in lines
    ])  # fmt: skip


PAGE = Page("Cost", ":material/payments:", 60, render)

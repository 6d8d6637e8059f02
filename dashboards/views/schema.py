"""Schema: what is looked for, its versions, and what differs between two."""

import polars as pl
import streamlit as st

from mindmem.core.records.schema import EntityType
from mindmem.core.schema.difference import difference
from mindmem.core.schema.registry import Schemas, SchemaVersion
from mindmem.dashboards import widgets
from mindmem.dashboards.markup import element
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]


def render(store: Store) -> None:
    """Show the active schema, the versions, and a difference."""
    settings = store.settings
    schemas = Schemas(store.ledger, store.reader, store.project_id, default=settings.ingest.schema_name)
    versions = schemas.versions()
    active = next((one for one in versions if one.active), versions[0])
    used = "in use" if settings.ingest.mode == "schema" else "not in use: `MINDMEM_INGEST__MODE=schema` binds claims"
    widgets.title("Schema", f"The entity types and properties to look for; {used}.")
    types, history, compared = st.tabs(["Active schema", "Versions", "Difference"])
    with types:
        widgets.show(
            widgets.facts({
                "Schema": active.label, "Origin": active.origin,
                "Holds": f"{widgets.counted(len(active.schema.types), 'entity type')}, "
                f"{widgets.counted(sum(len(one.properties) for one in active.schema.types), 'property', 'properties')}",
            })
        )  # fmt: skip
        for one in active.schema.types:
            _type(one)
    with history:
        _versions(versions)
    with compared:
        _difference(versions, active)


def _type(one: EntityType) -> None:
    with st.expander(f"{widgets.label(one.name)} — {widgets.counted(len(one.properties), 'property', 'properties')}"):
        if one.description:
            widgets.show(element("p", one.description, class_="mm-plain"))
        rows = [
            (each.name, "synthesised" if each.order == 2 else "said", _values(each.single_valued), each.description)
            for each in one.properties
        ]
        rows += [(name, "static", "one", description) for name, description in one.static.items()]
        names = ("Property", "Comes from", "Values", "Description")
        if rows:
            st.dataframe(
                pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"), hide_index=True,
                column_config={"Property": st.column_config.TextColumn(pinned=True),
                               "Description": st.column_config.TextColumn(width="large")},
            )  # fmt: skip


def _values(single: bool | None) -> str:
    return {True: "one at a time", False: "several", None: "the words decide"}[single]


def _versions(versions: list[SchemaVersion]) -> None:
    rows = [
        (one.label, one.origin, "active" if one.active else "", len(one.schema.types),
         sum(len(each.properties) for each in one.schema.types), one.digest[:12])
        for one in versions
    ]  # fmt: skip
    names = {"Schema": pl.String, "Origin": pl.String, "State": pl.String, "Entity types": pl.Int64,
             "Properties": pl.Int64, "Digest": pl.String}  # fmt: skip
    st.dataframe(pl.DataFrame(rows, schema=names, orient="row"), hide_index=True)
    st.caption("`mindmem schema import` adds a version, `mindmem schema activate` goes to another.")


def _difference(versions: list[SchemaVersion], active: SchemaVersion) -> None:
    labels = {one.label: one for one in versions}
    names = list(labels)
    left, right = st.columns(2)
    before = left.selectbox("From", names, index=0, key="schema.before")
    after = right.selectbox("To", names, index=names.index(active.label), key="schema.after")
    lines = difference(labels[before].schema, labels[after].schema)
    if not lines:
        widgets.empty("They are the same", "Choose two that differ.")
        return
    st.caption(f"{widgets.counted(len(lines), 'difference')}: + new, - gone, ~ changed")
    st.code("\n".join(lines), language="diff", wrap_lines=True)


PAGE = Page("Schema", ":material/schema:", 70, render)

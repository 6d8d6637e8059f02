"""The command that shows the prompts: which there are, what they say, and what a call of them costs in tokens."""

import json
from typing import TYPE_CHECKING

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from mindmem.core.prompts.library import Prompt

__all__ = ["prompts"]


@click.command(short_help="Show the prompts, and the tokens of a call.")
@click.argument("name", required=False)
@with_session
def prompts(session: Session, name: str | None) -> None:
    """List the prompts that a language model is asked with, or show the one called NAME.

    Tokens are estimates (four characters of English each): `text` is what every call sends, `schema` the form of the
    reply that goes along where an endpoint takes one; what is asked about comes on top, and `reply` is the most that
    may come back. JSON: a list of objects; with NAME one object, with `system`, `user` and `schema`.
    """
    from mindmem.core.prompts.library import load_prompt, prompt_names

    if name is not None:
        _show(session, load_prompt(name))
        return
    rows = [_row(load_prompt(each)) for each in prompt_names()]
    if session.as_json:
        emit(rows)
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("name", "version", "purpose", "text", "schema", "reply", "digest"):
        table.add_column(title, justify="right" if title in ("text", "schema", "reply") else "left", no_wrap=True)
    for row in rows:
        tokens = row["tokens"]
        assert isinstance(tokens, dict)
        counts = (f"{tokens[part]:,}" for part in ("text", "schema", "reply"))
        table.add_row(str(row["name"]), str(row["version"]), str(row["purpose"]), *counts, str(row["digest"])[:12])
    console().print(table)
    console().print("Tokens are estimates; what is asked about comes on top.")


def _row(prompt: "Prompt") -> dict[str, object]:
    from mindmem.core.language.words import estimate_tokens

    text = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
    schema = estimate_tokens(json.dumps(prompt.reply.model_json_schema(), separators=(",", ":")))
    return {
        "name": prompt.name,
        "version": prompt.version,
        "purpose": prompt.purpose,
        "digest": prompt.digest,
        "variables": list(prompt.variables),
        "tokens": {"text": text, "schema": schema, "reply": prompt.max_output_tokens},
    }


def _show(session: Session, prompt: "Prompt") -> None:
    schema = prompt.reply.model_json_schema()
    if session.as_json:
        emit({**_row(prompt), "system": prompt.system, "user": prompt.user, "schema": schema})
        return
    out = console()
    out.print(f"{prompt.name}, version {prompt.version}, {prompt.digest}", style="bold")
    for title, text in (("system", prompt.system), ("user", prompt.user), ("reply", json.dumps(schema, indent=2))):
        out.print(f"\n# {title}", style="bold")
        out.print(text, soft_wrap=True)

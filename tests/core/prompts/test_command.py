"""``mindmem prompts``: the list with its tokens, and one prompt in full."""

import json

from click.testing import CliRunner

from mindmem.core.prompts.library import prompt_names
from mindmem.core.serve.cli import cli


def test_the_list_names_every_prompt_with_its_tokens_of_a_call() -> None:
    rows = json.loads(CliRunner().invoke(cli, ["prompts", "--json"]).output)
    assert [row["name"] for row in rows] == list(prompt_names())
    assert all(min(row["tokens"].values()) > 0 for row in rows)
    text = CliRunner().invoke(cli, ["prompts"]).output
    assert all(name in text for name in prompt_names())
    assert "Tokens are estimates" in text


def test_one_prompt_is_shown_in_full() -> None:
    shown = json.loads(CliRunner().invoke(cli, ["prompts", "judge", "--json"]).output)
    assert "verdict" in shown["schema"]["properties"]
    text = CliRunner().invoke(cli, ["prompts", "judge"]).output
    assert shown["system"].splitlines()[0] in text
    assert shown["user"] in text


def test_an_unknown_prompt_is_not_found() -> None:
    done = CliRunner().invoke(cli, ["prompts", "nothing"])
    assert done.exit_code == 3
    assert "There is no prompt 'nothing'" in done.output

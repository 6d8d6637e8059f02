"""Dreams that ask a model over a real socket: what a careful one brings about, and that a bad reply loses nothing."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.careful_model import numbered
from support.dreams import USER, active, dream_store, links, say, tell
from support.model_server import Behaviour, ModelServer, Request, refusal, reply, status, truncated

from mindmem.core.dreaming import dreams_of
from mindmem.core.memory import Memory
from mindmem.core.records.dream import DreamReport
from mindmem.core.serve.cli import cli
from mindmem.core.settings import Settings

EARLIER = "Sara Quillon is famous for The Glass Harbour."
LATER = "Sara Quillon is famous for Winter Letters."
UNRELATED = "Sara Quillon grows roses."

Reply = Mapping[str, Any]
NONE: Reply = {"issues": []}
FOUND: Reply = {
    "issues": [
        {
            "kind": "conflict", "memories": [{"memory": EARLIER}, {"memory": LATER}], "keep": {"memory": LATER},
            "ground": "one_value", "confidence": 0.9, "reason": "famous for one work, the later told",
        }
    ]
}  # fmt: skip
DONE: Reply = {
    "actions": [
        {
            "issue": {"issue": "famous"}, "action": "supersede", "survivor": {"memory": LATER}, "confidence": 0.9,
            "reason": "the later work took its place",
        }
    ]
}  # fmt: skip

Script = Callable[[Request], Behaviour]


def asked(request: Request) -> str:
    return "act" if "\n<issues>\n" in request.prompt else "detect"


def careful(found: Reply = FOUND, done: Reply = DONE) -> Script:
    """Answer about windows that hold the case, and find nothing wrong with others."""

    def script(request: Request) -> Behaviour:
        user = str(request.body["messages"][-1]["content"])
        if asked(request) == "act":
            return reply(numbered(done, user))
        return reply(numbered(found, user) if EARLIER in user and LATER in user else NONE)

    return script


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(careful()) as running:
        yield running


def store(home: Path, server: ModelServer, **llm: object) -> Memory:
    price = {"any": {"input": 1.0, "output": 10.0}}
    endpoint = {"base_url": server.url, "model": "any", "prices": price, "retries": 1, **llm}
    opened = dream_store(home, llm=endpoint)
    tell(opened, [EARLIER, UNRELATED])
    tell(opened, [LATER, *(f"The river Alna has {number} locks." for number in range(3, 10))])
    return opened


def dreamt(memory: Memory) -> DreamReport:
    return memory.dream(user_id=USER, reasoner="llm")


# -- the paper's case


def test_the_work_told_later_takes_the_place_of_the_earlier_one_and_nothing_else_changes(
    tmp_path: Path, server: ModelServer
) -> None:
    with store(tmp_path, server) as memory:
        before = active(memory)
        report = dreamt(memory)
        assert [line.before for line in report.scopes[0].diff] == [EARLIER]
        assert before - active(memory) == {EARLIER}
        assert links(memory, "supersedes") == {(LATER, EARLIER)}
        assert (EARLIER, LATER) in links(memory, "NEXT")
        hits = memory.search("What is Sara Quillon famous for?", user_id=USER, top_k=5).hits
        assert LATER in {hit.memory.content for hit in hits}
        assert EARLIER not in {hit.memory.content for hit in hits}
        assert (report.pending, report.scopes[0].adds) == ((), 2)
        memory.undo_run(report.run_id)
        assert active(memory) == before


def test_the_rules_asked_for_by_name_ask_no_model(tmp_path: Path, server: ModelServer) -> None:
    with store(tmp_path, server) as memory:
        memory.dream(user_id=USER, reasoner="rules")
        assert server.requests == []


def test_dreams_and_feedback_are_judged_by_the_family_of_the_settings(tmp_path: Path, server: ModelServer) -> None:
    llm = {"base_url": server.url, "model": "any"}
    for family in ("rules", "llm"):
        settings = Settings.load({}, home=tmp_path / family, embedder="none", reasoner=family, llm=llm)
        with Memory(settings=settings) as memory:
            services = memory.services
            assert (services.dream_reasoner.name, services.feedback_reasoner.name) == (family, family)
            assert services.dream_reasoner_of("rules").name == "rules"


def test_what_it_cost_is_in_the_report_in_the_table_and_in_the_calls(tmp_path: Path, server: ModelServer) -> None:
    with store(tmp_path, server) as memory:
        report = dreamt(memory)
        [scope] = report.scopes
        calls = memory.services.ledger.calls("default", run_id=report.run_id)
        assert {call.prompt for call in calls} == {"dream_detect", "dream_act"}
        assert scope.input_tokens == sum(call.input_tokens for call in calls) > 0
        assert scope.output_tokens == sum(call.output_tokens for call in calls) > 0
        assert scope.cost == pytest.approx((scope.input_tokens + 10 * scope.output_tokens) / 1e6)
        [row] = dreams_of(memory.services).runs()
        assert (row["input_tokens"], row["output_tokens"]) == (scope.input_tokens, scope.output_tokens)


def test_a_dry_run_changes_nothing_and_is_carried_out_by_the_same_family(tmp_path: Path, server: ModelServer) -> None:
    with store(tmp_path, server) as memory:
        before = active(memory)
        report = memory.dream(user_id=USER, dry_run=True, reasoner="llm")
        assert active(memory) == before
        assert report.scopes[0].input_tokens > 0
        done = memory.approve(report.scopes[0].proposal_id)
        assert before - active(memory) == {EARLIER}
        assert (done.archived, done.scopes[0].input_tokens) == (1, 0), "what was paid for is not paid for again"


def test_the_command_names_who_judges(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path, server).close()
    for name, value in (("BASE_URL", server.url), ("MODEL", "any")):
        monkeypatch.setenv(f"MINDMEM_LLM__{name}", value)
    monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
    given = ["--home", str(tmp_path), "--json", "dream", "--user", USER, "--min-age", "0", "--cap", "1"]
    done = CliRunner().invoke(cli, [*given, "--reasoner", "llm"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scopes"][0]["archived"] == 1


# -- replies that can't be used


def wrong(**changes: Any) -> Reply:
    return {"issues": [{**FOUND["issues"][0], **changes}]}


def acted(**changes: Any) -> Reply:
    return {"actions": [{**DONE["actions"][0], **changes}]}


@pytest.mark.parametrize(
    ("found", "done"),
    [
        (wrong(memories=[1, 99], keep=99), DONE),
        (wrong(keep=99), DONE),
        (wrong(confidence=0.4), DONE),
        (wrong(ground="unsure"), DONE),
        (wrong(keep={"memory": EARLIER}), DONE),
        (wrong(memories=[{"memory": EARLIER}, {"memory": UNRELATED}], kind="duplicate"), DONE),
        (wrong(kind="low_value", memories=[{"memory": EARLIER}, {"memory": LATER}], confidence=0.95), DONE),
        (FOUND, acted(survivor=99)),
        (FOUND, acted(survivor={"memory": EARLIER})),
        (FOUND, acted(confidence=0.2)),
        (FOUND, acted(action="archive")),
        (FOUND, acted(action="keep")),
        (FOUND, acted(issue=7)),
        (FOUND, {"actions": []}),
    ],
)
def test_what_can_not_be_stood_by_retires_nothing(tmp_path: Path, found: Reply, done: Reply) -> None:
    with ModelServer(careful(found, done)) as server, store(tmp_path, server) as memory:
        before = active(memory)
        report = dreamt(memory)
        assert active(memory) == before
        assert (report.archived, report.pending) == (0, ())


@pytest.mark.parametrize(
    "bad",
    [
        [status(429, retry_after=0)],
        [status(500)],
        [refusal()],
        [reply("I think they contradict each other.")],
        [truncated('{"issues": [{"kind": "conflict", "memories": [1')],
    ],
    ids=["429", "500", "refusal", "prose", "truncated"],
)
@pytest.mark.parametrize("stage", ["detect", "act"])
def test_a_cluster_whose_call_fails_stays_pending_whole_and_the_next_run_does_it(
    tmp_path: Path, bad: Sequence[Behaviour], stage: str
) -> None:
    broken = [True]
    good = careful()

    def script(request: Request) -> Behaviour:
        holds = EARLIER in request.prompt
        return bad[0] if broken[0] and holds and asked(request) == stage else good(request)

    with ModelServer(script) as server, store(tmp_path, server) as memory:
        before = active(memory)
        report = dreamt(memory)
        assert active(memory) == before
        assert links(memory, "supersedes") == set()
        assert report.failed
        assert len(report.pending) == 1
        assert report.scopes[0].adds == 0, "an add of a failed cluster is not marked"
        terminal = bad[0].status == 200
        aside = memory.services.ledger.quarantined("default")
        assert [one.origin for one in aside] == (["dream"] if terminal else [])
        assert all(one.raw for one in aside)
        broken[0] = False
        again = dreamt(memory)
        assert before - active(memory) == {EARLIER}
        assert (again.pending, again.scopes[0].adds) == ((), 2)


def test_with_the_rules_behind_it_an_unreadable_reply_is_judged_by_them(tmp_path: Path) -> None:
    with ModelServer(reply("no idea")) as server, store(tmp_path, server, fallback="rules") as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
        report = dreamt(memory)
        assert "Ann lives in Oslo." not in active(memory)
        [line] = [line for line in report.scopes[0].diff if "Oslo" in line.before]
        assert line.reason.startswith("fallback_rules: ")
        assert report.pending == ()


def test_a_spent_budget_ends_the_run_cleanly_and_the_next_one_goes_on(tmp_path: Path, server: ModelServer) -> None:
    with store(tmp_path, server, run_tokens=1) as memory:
        for name in ("Bela", "Cleo", "Dora", "Egon"):
            tell(memory, [f"{name} Brook keeps {number} boats at pier {number}." for number in range(2, 40)])
        runs = [memory.dream(reasoner="llm") for _ in range(2)]
        assert [run.stopped for run in runs] == [True, True]
        assert not any(run.failed for run in runs)
        assert {one.reason for run in runs for one in run.pending} == {"budget_reached"}
        assert dreams_of(memory.services).last_night() is None, "the night is not over"
        while memory.dream(reasoner="llm").stopped:
            assert len(server.requests) < 20
        assert dreams_of(memory.services).last_night() is not None
        assert EARLIER not in active(memory)
        prompts = [request.prompt for request in server.requests]
        assert len(prompts) == len(set(prompts)), "no run pays again for what another has paid for"


# -- words that stand for several memories


ONE, OTHER = "Ann works at Orlo as a cook.", "Ann works at Orlo since 2019."


def joining(content: str) -> Script:
    found = {
        "issues": [
            {
                "kind": "complementary", "memories": [{"memory": ONE}, {"memory": OTHER}], "keep": {"memory": ONE},
                "confidence": 0.9, "reason": "two parts",
            }
        ]
    }  # fmt: skip
    done = {
        "actions": [
            {
                "issue": 1, "action": "merge", "survivor": {"memory": ONE}, "content": content, "confidence": 0.9,
            }
        ]
    }  # fmt: skip

    def script(request: Request) -> Behaviour:
        user = str(request.body["messages"][-1]["content"])
        return reply(numbered(done if asked(request) == "act" else found, user))

    return script


@pytest.mark.parametrize(
    ("content", "stands"),
    [
        ("Ann works at Orlo as a cook since 2019.", {"Ann works at Orlo as a cook since 2019."}),
        ("Ann works at Orlo as a cook since 2017.", {ONE, OTHER}),
        ("Ann works at Orlo in Bern as a cook since 2019.", {ONE, OTHER}),
        ("Ann works at Orlo as a cook.", {ONE, OTHER}),
        ("安自2019年起在Orlo当厨师。", {ONE, OTHER}),
        ("", {ONE, OTHER}),
    ],
)
def test_a_joined_sentence_holds_all_of_its_memories_and_nothing_else(
    tmp_path: Path, content: str, stands: set[str]
) -> None:
    with ModelServer(joining(content)) as server:
        endpoint = {"base_url": server.url, "model": "any"}
        with dream_store(tmp_path, llm=endpoint) as memory:
            tell(memory, [ONE, OTHER, *(f"The river Alna has {number} locks." for number in range(3, 10))])
            dreamt(memory)
            assert {one for one in active(memory) if "Orlo" in one} == stands

"""Feedback through the public API: successors, conditions, one-off wishes, undo, repetition, passes over sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.stores import open_store

from mindmem.core import failpoints
from mindmem.core.errors import Conflict, InvalidInput
from mindmem.core.memory import Memory
from mindmem.core.records import Memory as MemoryRecord
from mindmem.core.serve.cli import cli


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("feedback") / "home") as opened:
        yield opened


def _active(memory: Memory, user: str = "ann") -> dict[str, MemoryRecord]:
    return {one.content: one for one in memory.list(user_id=user, page_size=100).memories}


def _states(memory: Memory) -> set[tuple[str, str, str, str]]:
    return {(one.memory_id, one.content, one.condition, str(one.valid_to)) for one in _active(memory).values()}


# -- H7: a correction has a successor; C1, C7: exactly one is active, the history has both


def test_a_replaced_memory_is_archived_with_its_end_and_its_successor_is_active_in_the_same_change(
    memory: Memory,
) -> None:
    [old] = memory.add("I live in Bonn.", user_id="ann").memory_ids
    receipt = memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann", recalled=[old])
    [change], [done] = receipt.changes, receipt.corrections
    before, after = memory.get(old), memory.get(done.memory_id)
    assert (done.op, done.targets, done.searched) == ("update", (old,), "")
    assert (before.status, after.status, after.content, after.value) == (
        "archived",
        "active",
        "I live in Ghent.",
        "Ghent",
    )
    assert before.valid_to is not None
    assert before.change_id == after.change_id == change.change_id
    assert (change.kind, after.property_name) == ("feedback", before.property_name)
    edges = memory.services.reader.edges(change.scope.partition, src=[after.memory_id], relation="RELATED_TO")
    assert [(edge.dst, edge.kind) for edge in edges] == [(old, "supersedes")]
    assert [one.content for one in memory.evidence(after.memory_id)] == ["No, I meant Ghent, not Bonn."]


@pytest.mark.parametrize(
    ("known", "said", "stands"),
    [
        ("I love Chinese food.", "Actually no, I hate Chinese food.", "I hate Chinese food."),
        ("The project uses PostgreSQL.", "That's wrong, the project uses MySQL.", "The project uses MySQL."),
        ("数据库是PostgreSQL。", "不对，数据库是MySQL。", "数据库是MySQL。"),
    ],
)
def test_after_a_correction_exactly_the_new_one_is_active(memory: Memory, known: str, said: str, stands: str) -> None:
    [old] = memory.add(known, user_id="ann").memory_ids
    memory.feedback(said, user_id="ann")
    assert list(_active(memory)) == [stands]
    assert [one.status for one in memory.history(old)] == ["active", "archived"]


def test_a_value_that_corrects_nothing_known_is_not_kept(memory: Memory) -> None:
    memory.add("I play chess.", user_id="ann")
    receipt = memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann")
    assert (receipt.changes, [one.op for one in receipt.corrections]) == ((), ["none"])
    assert list(_active(memory)) == ["I play chess."]


def test_memories_of_another_user_or_agent_are_never_touched(memory: Memory) -> None:
    [bens] = memory.add("I live in Bonn.", user_id="ben").memory_ids
    [agents] = memory.add("I live in Bonn.", user_id="ann", agent_id="other").memory_ids
    memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann", recalled=[bens, agents])
    assert [memory.get(one).status for one in (bens, agents)] == ["active", "active"]


def test_what_is_taken_back_is_archived_on_record(memory: Memory) -> None:
    [sushi] = memory.add("I like sushi.", user_id="ann").memory_ids
    receipt = memory.feedback("Forget that I like sushi.", user_id="ann")
    assert [(one.op, one.targets) for one in receipt.corrections] == [("delete", (sushi,))]
    assert (memory.get(sushi).status, "deleted" in memory.get(sushi).flags) == ("archived", True)
    assert "sushi" not in " ".join(_active(memory))


# -- persistence


def test_a_wish_for_once_is_not_kept_and_removes_what_kept_it(memory: Memory) -> None:
    said = "For this email, always call me Robert."
    memory.add([{"role": "user", "content": "Please answer in French from now on."}], user_id="ann", session_id="s")
    kept = memory.add([{"role": "user", "content": "Call me Bob for this email."}], user_id="ann", session_id="s")
    wrongly = [one.memory.memory_id for one in kept.actions if one.memory.mem_type == "profile"]
    report = memory.feedback_pass(user_id="ann")
    assert memory.feedback(said.replace("always ", ""), user_id="ann").changes == ()
    assert all(memory.get(one).status == "archived" for one in wrongly)
    assert report.counts.get("delete", 0) == len(wrongly[:1])


def test_a_preference_stands_beside_one_with_a_condition_and_context_tells_them_apart(real: Memory) -> None:
    user = "social"
    real.add(["I enjoy big parties.", "My sister plays chess.", "I work at Initech."], user_id=user)
    real.feedback(
        "Actually, I prefer one-on-one meetups over big groups for social plans. "
        "When I'm with close friends, I talk openly about social plans.",
        user_id=user,
        messages=[{"role": "assistant", "content": "Shall we plan another big party?"}],
    )
    hits = [hit.memory for hit in real.search("What social plans suit me?", user_id=user, top_k=10).hits]
    [alone] = [one for one in hits if "one-on-one" in one.content]
    [openly] = [one for one in hits if "openly" in one.content]
    assert (alone.condition, openly.condition) == ("", "When I'm with close friends")
    assert "(only if: When I'm with close friends) When I'm" in real.context("What social plans suit me?", user_id=user)


def test_a_condition_lowers_a_memory_for_questions_that_do_not_name_it(real: Memory) -> None:
    real.feedback("When I'm at work, I drink green tea.", user_id="tea")
    [fits] = real.search("What do I drink at work?", user_id="tea").hits
    [plain] = real.search("What tea do I drink?", user_id="tea").hits
    assert "condition" not in fits.explanation
    assert plain.explanation["condition"] < 1


def test_adding_a_plain_preference_later_leaves_the_one_with_a_condition(real: Memory) -> None:
    real.feedback("For emails to my boss, answer in French.", user_id="french")
    real.add("Always answer in German.", user_id="french")
    real.add("Always answer in Dutch.", user_id="french")
    conditions = {one.content: one.condition for one in _active(real, "french").values()}
    assert conditions == {
        "For emails to my boss, answer in French.": "For emails to my boss", "Always answer in Dutch.": "",
    }  # fmt: skip


# -- undo and repetition


@pytest.mark.parametrize(
    "said",
    [
        "No, I meant Ghent, not Bonn.",
        "Forget that I like sushi.",
        "Please don't suggest steak again.",
        "When I'm at work, keep your answers short.",
        "Actually, I live in Ghent. Forget that I like sushi. From now on, call me Kim.",
    ],
)
def test_undo_restores_the_same_active_set_and_the_feedback_can_be_given_again(memory: Memory, said: str) -> None:
    memory.add(["I live in Bonn.", "I like sushi.", "My sister Nora lives in Oslo."], user_id="ann")
    before = _states(memory)
    [change] = memory.feedback(said, user_id="ann").changes
    after = set(_active(memory))
    memory.undo(change.change_id)
    assert _states(memory) == before
    memory.feedback(said, user_id="ann")
    assert set(_active(memory)) == after
    assert memory.verify() == ()


def test_the_same_key_does_nothing_twice_and_is_refused_for_other_words(memory: Memory) -> None:
    memory.add("I live in Bonn.", user_id="ann")
    first = memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann", idempotency_key="k")
    again = memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann", idempotency_key="k")
    assert (again.repeated, again.changes) == (True, first.changes)
    with pytest.raises(Conflict):
        memory.feedback("No, I meant Bruges, not Ghent.", user_id="ann", idempotency_key="k")


@pytest.mark.parametrize(("text", "recalled"), [("  ", ()), ("No.", "mem_1"), ("No.", [7])])
def test_feedback_of_the_wrong_form_is_refused(memory: Memory, text: str, recalled: object) -> None:
    with pytest.raises(InvalidInput):
        memory.feedback(text, user_id="ann", recalled=recalled)  # type: ignore[arg-type]


# -- passes


def _talk(memory: Memory, user: str, *words: str) -> None:
    roles = ("assistant", "user")
    said = [{"role": roles[place % 2], "content": text} for place, text in enumerate(words)]
    memory.add(said, user_id=user, session_id="talk")


def test_a_pass_reads_each_session_once(memory: Memory) -> None:
    _talk(memory, "ann", "How about a steakhouse?", "Please don't suggest steak again.")
    first, second = memory.feedback_pass(), memory.feedback_pass()
    assert (first.scopes, first.messages, first.signals, first.counts) == (1, 1, 1, {"update": 1})
    assert (second.messages, second.changes) == (0, ())
    _talk(memory, "ann", "Then sushi?", "No thanks, I don't eat fish.")
    assert memory.feedback_pass().messages == 1


def test_a_pass_that_dies_after_a_commit_goes_on_without_doing_it_twice(memory: Memory) -> None:
    _talk(memory, "ann", "Steak?", "Please don't suggest steak again.", "Sushi?", "Please never suggest sushi, ever.")

    def die(point: str) -> None:
        if point == "feedback.committed":
            raise KeyboardInterrupt

    failpoints.arm(die)
    try:
        with pytest.raises(KeyboardInterrupt):
            memory.feedback_pass()
    finally:
        failpoints.arm(None)
    report = memory.feedback_pass()
    assert len(report.changes) == 1
    assert sum("suggest steak" in one for one in _active(memory)) == 1
    assert sum("suggest sushi" in one for one in _active(memory)) == 1


def test_one_users_failure_leaves_the_others_alone_and_is_tried_again(memory: Memory) -> None:
    for user in ("ann", "ben"):
        _talk(memory, user, "Steak?", "Please don't suggest steak again.")
    seen: list[str] = []

    def fail_once(point: str) -> None:
        if point == "feedback.committed" and not seen:
            seen.append(point)
            raise Conflict("made up for the test")

    failpoints.arm(fail_once)
    try:
        report = memory.feedback_pass()
    finally:
        failpoints.arm(None)
    assert report.failed == {"ann": "conflict"}
    assert "Don't suggest steak again." in _active(memory, "ben")
    assert (memory.feedback_pass().failed, list(_active(memory, "ann")).count("Don't suggest steak again.")) == ({}, 1)


def test_the_command_corrects_and_looks_through_sessions(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path / "home")]
    run = CliRunner().invoke
    assert run(cli, ["add", "I live in Bonn.", "--user", "ann", *home]).exit_code == 0
    done = run(cli, ["feedback", "No, I meant Ghent, not Bonn.", "--user", "ann", *home])
    assert (done.exit_code, "+ I live in Ghent." in done.output, "- I live in Bonn." in done.output) == (0, True, True)
    assert run(cli, ["feedback", "--pass", "--json", *home]).exit_code == 0
    assert run(cli, ["feedback", "No.", *home]).exit_code == 2

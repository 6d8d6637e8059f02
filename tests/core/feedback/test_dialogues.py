"""Dialogues of corrections: at least nine of ten that ask for something are done right, and next to no control is."""

from collections.abc import Iterator, Sequence

import pytest
from support.corrections import CHINESE, CONTROLS, ENGLISH, OTHER_CHINESE, OTHER_ENGLISH, Dialogue

from mindmem import Memory
from mindmem.core.records import Memory as MemoryRecord
from mindmem.core.settings import Settings

SAME, OTHER = (*ENGLISH, *CHINESE), (*OTHER_ENGLISH, *OTHER_CHINESE)


@pytest.fixture(scope="module", params=["vanilla", "schema"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    settings = Settings.load(home=tmp_path_factory.mktemp("dialogues") / "home", ingest={"mode": request.param})
    with Memory(settings=settings) as opened:
        yield opened


def _messages(dialogue: Dialogue) -> list[dict[str, object]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[(len(dialogue.said) - 1 - place) % 2], "content": words}
        for place, words in enumerate(dialogue.said)
    ]


def _stands(memory: Memory, user: str, status: str) -> tuple[MemoryRecord, ...]:
    return memory.list(user_id=user, filters={"status": status}, page_size=100).memories


def _right(memory: Memory, user: str, dialogue: Dialogue) -> bool:
    active, archived = _stands(memory, user, "active"), _stands(memory, user, "archived")
    kept = [one for one in active if dialogue.keeps in one.content and one.mem_type != "episodic"]
    if dialogue.keeps and not any(dialogue.condition in one.condition for one in kept):
        return False
    if dialogue.keeps and not dialogue.condition and any(one.condition for one in kept):
        return False
    if not dialogue.gone:
        return True
    still = [one for one in active if dialogue.gone in (one.value or one.content) and not {"negated"} & set(one.flags)]
    still = [one for one in still if one.mem_type != "episodic"]
    return not still and any(dialogue.gone in one.content for one in archived)


def _score(memory: Memory, prefix: str, dialogues: Sequence[Dialogue]) -> list[str]:
    return [
        one.said[-1]
        for place, one in enumerate(dialogues)
        if not one.control and not _right(memory, f"{prefix}{place}", one)
    ]


SETS = [pytest.param(SAME, 0.1, id="the hand of the rules"), pytest.param(OTHER, 0.2, id="another style")]
"""Dialogues, and the share of the actionable ones that may be missed."""


def test_the_dialogues_are_as_many_as_promised() -> None:
    sets = (ENGLISH, CHINESE, OTHER_ENGLISH, OTHER_CHINESE)
    counted = [(len(some), sum(one.control for one in some)) for some in sets]
    assert counted == [(40, 20), (20, 10), (20, 10), (10, 5)]


@pytest.mark.parametrize(("dialogues", "missing"), SETS)
def test_explicit_feedback_does_what_is_asked_and_keeps_nothing_else(
    memory: Memory, dialogues: Sequence[Dialogue], missing: float
) -> None:
    wrongly = []
    prefix = f"explicit{len(dialogues)}-"
    for place, dialogue in enumerate(dialogues):
        user = f"{prefix}{place}"
        for words in dialogue.known:
            memory.add(words, user_id=user)
        *before, last = _messages(dialogue)
        receipt = memory.feedback(str(last["content"]), user_id=user, messages=before)
        if dialogue.control and receipt.changes:
            wrongly.append(dialogue.said[-1])
    _check(_score(memory, prefix, dialogues), wrongly, dialogues, missing)


@pytest.mark.parametrize(("dialogues", "missing"), SETS)
def test_a_pass_over_sessions_does_what_was_asked_and_keeps_nothing_else(
    memory: Memory, dialogues: Sequence[Dialogue], missing: float
) -> None:
    prefix = f"implicit{len(dialogues)}-"
    for place, dialogue in enumerate(dialogues):
        user = f"{prefix}{place}"
        for words in dialogue.known:
            memory.add(words, user_id=user)
        memory.add(_messages(dialogue), user_id=user, session_id="talk")
    controls = {f"{prefix}{place}": one.said[-1] for place, one in enumerate(dialogues) if one.control}
    report = memory.feedback_pass()
    wrongly = [controls[one.scope.user_id] for one in report.changes if one.scope.user_id in controls]
    assert report.failed == {}
    _check(_score(memory, prefix, dialogues), wrongly, dialogues, missing)


@pytest.mark.parametrize("dialogue", CONTROLS, ids=[one.said[-1] for one in CONTROLS])
def test_what_only_sounds_like_a_correction_changes_nothing(memory: Memory, dialogue: Dialogue) -> None:
    user = f"control{CONTROLS.index(dialogue)}"
    *before, last = _messages(dialogue)
    assert memory.feedback(str(last["content"]), user_id=user, messages=before).changes == ()
    memory.add([*before, last], user_id=user, session_id="talk")
    assert memory.feedback_pass(user_id=user).changes == ()


def _check(missed: list[str], wrongly: list[str], dialogues: Sequence[Dialogue], missing: float) -> None:
    half = len(dialogues) // 2
    assert len(missed) <= missing * half, missed
    assert len(wrongly) <= 0.05 * half, wrongly

"""Dreaming over LOCOMO's dialogues with plants in them: does it find what was told twice or is outdated, and does the
evidence of the questions stay found?

What an add takes for a repetition itself is open no more when the dream begins: ``planted_consolidated`` is the share
of the others that the dream consolidates.

A tenth as many plants as a dialogue has turns are told in two sessions of their own, after its first session and after
its last. Adds neither supersede nor merge, so that all is left to the dream, whose guards let it do all at once.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindmem.core.bench import locomo
from mindmem.core.bench.answering import Watch
from mindmem.core.bench.facts_dream import GUARDS
from mindmem.core.bench.metrics import difference, mean
from mindmem.core.bench.plants import Plant, plants
from mindmem.core.bench.results import Results
from mindmem.core.records import Partition
from mindmem.core.search.recipes import Strategy
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = ["run"]

_SHARE: Final = 0.1
_USER: Final = "reader"
_EARLY, _LATE = "planted_early", "planted_late"


def run(
    folder: Path,
    *,
    seed: int = 7,
    dialogues: Sequence[int] | None = None,
    embedder: bool = True,
    strategy: Strategy = "fast",
    watch: Watch = lambda *_: None,
) -> Results:
    """Ingest the dialogues (numbers from 1; None: all) with plants, ask, dream, ask again, and return the figures.

    ``seed`` draws the plants and the bootstrap's resamples.

    Raises:
        NotFound, InvalidInput: as ``locomo.load``; or a dialogue's number doesn't exist.
    """
    known = locomo.load(folder)
    numbers = locomo.choose(known, dialogues)
    rows: list[dict[str, object]] = []
    dreams: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="mindmem-locomo-") as place:
        for done, number in enumerate(numbers):
            watch("dialogues", done, len(numbers))
            settings = Settings.load(
                {},
                home=Path(place) / str(number),
                embedder="bundled" if embedder else "none",
                ingest={"resolve_updates": False, "resolve_merges": False},
                search={"strategy": strategy},
            )
            asked, dreamt = _one(settings, known[number - 1], number, seed)
            rows += asked
            dreams.append(dreamt)
        watch("dialogues", len(numbers), len(numbers))
    only = "" if dialogues is None else f" --dialogues {','.join(map(str, numbers))}"
    lexical = "" if embedder else " --lexical"
    return Results(
        benchmark="locomo dream",
        command=f"mindmem bench locomo --data DIR --dream --strategy {strategy} --seed {seed}{only}{lexical}",
        seed=seed,
        figures={
            **_figures(rows, dreams, seed),
            "embedder": "bundled" if embedder else "none",
            "strategy": strategy,
            "guards": dict(GUARDS),
        },
        rows=[*rows, *dreams],
    )


def _one(
    settings: Settings, dialogue: locomo.Dialogue, number: int, seed: int
) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Return a row for each question of a dialogue, and what its dream did."""
    from mindmem.core.memory import Memory

    planted = _planted(dialogue, seed + number)
    dialogue = replace(dialogue, sessions=_with(dialogue.sessions, planted))
    with Memory(settings=settings) as memory:
        for name, turns in dialogue.sessions.items():
            memory.add(locomo.messages(turns), user_id=_USER, session_id=name)
        turns_of = locomo.Turns(memory, dialogue)
        before = _asked(memory, dialogue, turns_of)
        told = _told(memory)
        report = memory.dream(_USER, limits=settings.dream.model_copy(update=dict(GUARDS)))
        after = _asked(memory, dialogue, turns_of)
        left = _active(memory)
    rows: list[dict[str, object]] = [
        {"dialogue": number, "question": one["question"], "category": one["category"],
         "recall_before": one["recall_at_10"], "recall_after": other["recall_at_10"]}
        for one, other in zip(before, after, strict=True)
    ]  # fmt: skip
    pairs = [
        (plant, told.get((_EARLY, place), set()), told.get((_LATE, place), set()))
        for place, plant in enumerate(planted)
    ]
    open_ = [(plant, first, second) for plant, first, second in pairs if first and second and first != second]
    missed = [plant for plant, first, second in open_ if not _consolidated(plant, first, second, left)]
    own = set().union(*(first | second for _, first, second in pairs)) if pairs else set()
    gone = set().union(*told.values()) - left
    return rows, {
        "dialogue": number,
        "planted": len(planted),
        "untold": sum(not first or not second for _, first, second in pairs),
        "open_before_dream": len(open_),
        "consolidated": len(open_) - len(missed),
        "missed_paraphrases": sum(plant.kind == "paraphrase" for plant in missed),
        "missed_superseded": sum(plant.kind == "superseded" for plant in missed),
        "missed": [f"{plant.first} / {plant.second}" for plant in missed],
        "active_before": report.active_before,
        "archived": report.archived,
        "archived_of_the_dialogue": len(gone - own),
        "retention": report.scopes[0].retention if report.scopes else 1.0,
        "dream_s": round(report.seconds, 2),
    }


def _planted(dialogue: locomo.Dialogue, seed: int) -> list[Plant]:
    turns = [turn for session in dialogue.sessions.values() for turn in session]
    return plants(sorted({turn.speaker for turn in turns}), max(1, round(_SHARE * len(turns))), seed)


def _with(
    sessions: Mapping[str, tuple[locomo.Turn, ...]], planted: Sequence[Plant]
) -> dict[str, tuple[locomo.Turn, ...]]:
    """Return the sessions with the plants' first sayings after the first one and the second ones after the last."""

    def said(name: str, words: Sequence[str], after: tuple[locomo.Turn, ...]) -> tuple[locomo.Turn, ...]:
        begins = after[-1].at + timedelta(hours=2)
        return tuple(
            locomo.Turn(f"{name}:{place}", plant.speaker, text, "", begins + timedelta(minutes=place))
            for place, (plant, text) in enumerate(zip(planted, words, strict=True))
        )

    names = list(sessions)
    first, rest = names[0], names[1:]
    return {
        first: sessions[first],
        _EARLY: said(_EARLY, [plant.first for plant in planted], sessions[first]),
        **{name: sessions[name] for name in rest},
        _LATE: said(_LATE, [plant.second for plant in planted], sessions[names[-1]]),
    }


def _asked(memory: "Memory", dialogue: locomo.Dialogue, turns_of: locomo.Turns) -> list[dict[str, object]]:
    return [locomo.asked(memory, question, turns_of) for question in dialogue.questions if question.evidence]


def _told(memory: "Memory") -> dict[tuple[str, int], set[str]]:
    """Return the active memories by the session and the position of each message that they rest on."""
    owner = Partition(memory.services.settings.project_id, _USER)
    rows = [row for row in memory.services.reader.memories(owner) if row.status == "active"]
    messages = sorted({source.message_id for row in rows for source in row.sources})
    places = {
        message.message_id: (message.scope.session_id, message.position)
        for message, _, _ in memory.services.reader.said(owner, messages)
    }
    told: dict[tuple[str, int], set[str]] = {}
    for row in rows:
        for source in row.sources:
            told.setdefault(places[source.message_id], set()).add(row.memory_id)
    return told


def _active(memory: "Memory") -> set[str]:
    owner = Partition(memory.services.settings.project_id, _USER)
    return {row.memory_id for row in memory.services.reader.memories(owner) if row.status == "active"}


def _consolidated(plant: Plant, first: set[str], second: set[str], left: set[str]) -> bool:
    """Whether one of two memories of the same is left; of an outdated one and its successor, the successor."""
    if plant.kind == "superseded":
        return not (first - second) & left and bool(second & left)
    return len((first | second) & left) < len(first | second) and bool((first | second) & left)


def _figures(
    rows: Sequence[Mapping[str, object]], dreams: Sequence[Mapping[str, object]], seed: int
) -> dict[str, object]:
    before, after = ([float(str(row[name])) for row in rows] for name in ("recall_before", "recall_after"))
    less, low, high = difference(before, after, seed=seed)

    def total(name: str) -> int:
        return sum(int(str(dream[name])) for dream in dreams)

    open_, active = total("open_before_dream"), total("active_before")
    told = total("planted") - total("untold")
    return {
        "dialogues": len(dreams),
        "questions": len(rows),
        "planted": total("planted"),
        "planted_untold": total("untold"),
        "planted_resolved_at_add": told - open_,
        "planted_open_before_dream": open_,
        "planted_consolidated": round(total("consolidated") / open_, 4) if open_ else 0.0,
        "planted_consolidated_in_all": round((told - open_ + total("consolidated")) / told, 4) if told else 0.0,
        "missed_paraphrases": total("missed_paraphrases"),
        "missed_superseded": total("missed_superseded"),
        "recall_at_10_before": round(mean(before), 4),
        "recall_at_10_after": round(mean(after), 4),
        "recall_at_10_lost": round(less, 4),
        "recall_at_10_lost_low": round(low, 4),
        "recall_at_10_lost_high": round(high, 4),
        "amcr": round(total("archived") / active, 4) if active else 0.0,
        "archived_of_the_dialogues": total("archived_of_the_dialogue"),
        "recall_retention": round(mean([float(str(dream["retention"])) for dream in dreams]), 4),
        "dream_s": round(sum(float(str(dream["dream_s"])) for dream in dreams), 2),
    }

"""Small benchmark files in the published forms, written here, and a reasoner whose answers and grades are scripted."""

import asyncio
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mindmem.core.reason.port import (
    Answer,
    AnswerRequest,
    Grade,
    GradeRequest,
    Judged,
    Reasoner,
    Verdict,
)
from mindmem.core.services import rules_reasoner

__all__ = ["LOCOMO_SAMPLE", "Scripted", "locomo_folder", "personamem_folder"]


def _turn(number: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": number, "speaker": speaker, "text": text, **more}


LOCOMO_SAMPLE: Mapping[str, Any] = {
    "sample_id": "one",
    "conversation": {
        "speaker_a": "Priya",
        "speaker_b": "Tomas",
        "session_10": [_turn("D10:1", "Priya", "My sister Asha became a surgeon in Oslo.")],
        "session_10_date_time": "9:05 am on 2 March, 2024",
        "session_2": [
            _turn("D2:1", "Tomas", "I adopted a grey parrot called Biscuit.", blip_caption="a parrot on a shelf"),
            _turn("D2:2", "Priya", "I started to learn the cello this week."),
        ],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
    },
    "qa": [
        {"question": "What is Tomas's parrot called?", "answer": "Biscuit", "category": 4, "evidence": ["D2:01"]},
        {
            "question": "Which instrument does Priya learn?",
            "answer": "cello",
            "category": 1,
            "evidence": ["D:2:2; D99:1"],
        },
        {"question": "Who lives in Oslo?", "answer": 1, "category": 5, "evidence": ["D10:1"]},
        {"question": "Which surgeon lives in Oslo?", "answer": "x", "category": 3, "evidence": ["D77:1"]},
    ],
}


def locomo_folder(place: Path, *samples: Mapping[str, Any]) -> Path:
    """Write ``locomo10.json`` with those dialogues (one, if none are given) and return the data folder."""
    (place / "locomo").mkdir(parents=True, exist_ok=True)
    (place / "locomo" / "locomo10.json").write_text(json.dumps(samples or [LOCOMO_SAMPLE]))
    return place


_DIALOGUE = [
    {"role": "system", "content": "Current user persona: a gardener from Leeds."},
    {"role": "user", "content": "User: I have taken up pottery and love it."},
    {"role": "assistant", "content": "Assistant: Wonderful! What do you make?"},
    {"role": "user", "content": "User: I make teapots."},
    {"role": "system", "content": "Current user persona: a gardener from Leeds."},
    {"role": "user", "content": "User: I gave up pottery because the kiln broke."},
    {"role": "assistant", "content": "Assistant: I am sorry to hear that."},
]


def personamem_folder(place: Path, *, dialogues: bool = True) -> Path:
    """Write PersonaMem's two files, or its questions alone: two questions after message 4 and one after message 7."""
    (place / "personamem").mkdir(parents=True)
    options = ["(a) You could throw a teapot.", "(b) You could bake bread.", "(c) Ski.", "(d) Swim."]
    why = ["(a) You were bored.", "(b) The kiln broke, so you gave up pottery.", "(c) You moved.", "(d) It rained."]
    rows = [
        ("q1", "suggest_new_ideas", "What shall I do today?", "(a)", json.dumps(options), 4),
        ("q2", "recall_user_shared_facts", "What do I make of clay?", "(a)", repr(options), 4),
        ("q3", "recalling_the_reasons_behind_previous_updates", "Why did I stop doing pottery?", "(b)", repr(why), 7),
    ]
    names = ("question_id", "question_type", "user_question_or_message", "correct_answer", "all_options")
    with (place / "personamem" / "questions_32k.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow((*names, "shared_context_id", "end_index_in_shared_context"))
        writer.writerows((*row[:5], "c0ffee", row[5]) for row in rows)
    if dialogues:
        (place / "personamem" / "shared_contexts_32k.jsonl").write_text(json.dumps({"c0ffee": _DIALOGUE}) + "\n")
    return place


@dataclass
class Scripted:
    """Answers and grades as told, and keeps what it was asked. ``answers`` are by question; others say nothing useful.

    ``before`` is called with each question before its answer, and may raise.
    """

    answers: Mapping[str, Verdict[Answer] | str] = field(default_factory=dict)
    grades: Mapping[str, Verdict[Grade]] = field(default_factory=dict)
    before: Callable[[str], None] = lambda _: None
    asked: list[AnswerRequest] = field(default_factory=list)
    graded: list[GradeRequest] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def reasoner(self) -> Reasoner:
        """Return the rules with these answers and grades."""
        return replace(rules_reasoner(), name="scripted", version="1", answer=self, grade=self)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        """Return what was told for each question."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0.01)
        self.in_flight -= 1
        verdicts: list[Verdict[Answer]] = []
        for request in requests:
            self.before(request.question)
            self.asked.append(request)
            told = self.answers.get(request.question.split("\n")[0], "something else")
            verdicts.append(Judged(Answer(told)) if isinstance(told, str) else told)
        return verdicts

    async def grade(self, requests: Sequence[GradeRequest]) -> list[Verdict[Grade]]:
        """Return what was told for each question, else whether the texts are equal."""
        self.graded.extend(requests)
        return [self.grades.get(one.question, Judged(Grade(one.given == one.expected))) for one in requests]

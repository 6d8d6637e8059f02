"""FactConsolidation's data: numbered facts of which a later one contradicts an earlier, questions, and what is true.

What a fact tells (relation, subject, value) is read by the templates of the dataset that lie beside it. They serve the
scorer alone: nothing that ingests, searches, dreams or answers knows them. The dataset (MIT) is not in this package.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from mindmem.core import ids
from mindmem.core.bench.scoring import sub_em
from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.records import Source
from mindmem.core.search.tokens import estimate_tokens

__all__ = ["SIZES", "Context", "Fact", "Hop", "Question", "chunks", "digest", "load", "numbers_of"]

SIZES: Final = ("6k", "32k", "64k", "262k")
Hop = Literal["single", "multi"]
_FACTS: Final = "Conflict_Resolution.json"
_CHAINS: Final = "derived_mh_supporting_facts.json"
_CLOZES: Final = "cloze_templates.json"
_QUESTIONS: Final = "question_templates.json"
_FILES: Final = (_FACTS, _CHAINS, _CLOZES, _QUESTIONS)
_LINE: Final = re.compile(r"(\d+)\. (.+)")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a line says; ``latest`` is the number of the last fact about the same relation of the same subject, and
    ``stale`` whether that one says another value."""

    number: int
    relation: str
    subject: str
    value: str
    latest: int
    stale: bool

    @property
    def claim(self) -> tuple[str, str, str]:
        """Return what it says, in whatever line."""
        return self.relation, self.subject, self.value


@dataclass(frozen=True, slots=True)
class Question:
    """A question over one context: ``paths`` are the chains of facts that lead to the answer, of a single hop the one
    latest fact; none where no chain is known. ``rivals`` are the other values that were told of what is asked: an
    answer that lists them besides answers nothing."""

    hop: Hop
    size: str
    number: int
    text: str
    answers: tuple[str, ...]
    paths: tuple[tuple[int, ...], ...]
    rivals: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """A numbered list of facts, in lines that keep their order; ``facts`` are by number."""

    size: str
    text: str
    facts: Mapping[int, Fact]

    @cached_property
    def pairs(self) -> Mapping[int, int]:
        """Return the number of the next fact about the same, by the number of each stale one."""
        following: dict[tuple[str, str], int] = {}
        found: dict[int, int] = {}
        for number in sorted(self.facts, reverse=True):
            fact = self.facts[number]
            if fact.stale:
                found[number] = following[fact.relation, fact.subject]
            following[fact.relation, fact.subject] = number
        return found


def chunks(text: str, tokens: int) -> Iterator[str]:
    """Yield a text in pieces of whole lines, each of at most about ``tokens`` unless one line is longer."""
    lines: list[str] = []
    size = 0
    for line in text.splitlines():
        more = estimate_tokens(line) + 1
        if lines and size + more > tokens:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += more
    if lines:
        yield "\n".join(lines)


def numbers_of(sources: Sequence[Source], contents: Mapping[str, str]) -> list[int]:
    """Return the numbers of the facts on whose line sources lie; one that spans several lines lies on none.

    Args:
        contents: the messages' words by id; sources in others are left out.
    """
    numbers: list[int] = []
    for source in sources:
        content = contents.get(source.message_id, "")
        begin = content.rfind("\n", 0, source.start) + 1
        end = content.find("\n", begin)
        line = content[begin:] if end < 0 else content[begin:end]
        match = _LINE.match(line)
        if match and source.end <= begin + len(line):
            numbers.append(int(match[1]))
    return numbers


def digest(folder: Path) -> str:
    """Return what tells one edition of the data from another.

    Raises:
        NotFound: as :func:`load`.
    """
    place = _place(folder)
    return ids.digest(*((place / name).read_bytes() for name in _FILES), size=8)


def load(folder: Path, sizes: Sequence[str] = SIZES) -> list[tuple[Context, list[Question]]]:
    """Return each context with its questions of both hops.

    Raises:
        NotFound: a file is not there.
        InvalidInput: a file is not of the dataset's form, or there is no such size.
    """
    if not sizes or not set(sizes) <= set(SIZES):
        raise InvalidInput(f"--sizes expects some of {', '.join(SIZES)}, got {bounded(sizes)}.", field="sizes")
    place = _place(folder)
    try:
        files = {name: json.loads((place / name).read_text("utf-8")) for name in _FILES}
        return [_read(files, size) for size in SIZES if size in sizes]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(place)!r} is not FactConsolidation: {bounded(str(error))}.") from error


def _read(files: Mapping[str, Any], size: str) -> tuple[Context, list[Question]]:
    rows = {str(row["metadata"]["source"]): row for row in files[_FACTS]}
    single = rows[f"factconsolidation_sh_{size}"]
    context = Context(size, str(single["context"]), _facts(str(single["context"]), files[_CLOZES]))
    latest = {(fact.relation, fact.subject): fact.latest for fact in context.facts.values()}
    asked = [(relation, _pattern(form)) for relation, form in files[_QUESTIONS].items()]
    values: dict[tuple[str, str], set[str]] = {}
    for fact in context.facts.values():
        values.setdefault((fact.relation, fact.subject), set()).add(fact.value)

    def question(hop: Hop, number: int, text: str, answers: Sequence[Any], paths: Sequence[Sequence[int]]) -> Question:
        golds = tuple(map(str, answers))
        lasts = [context.facts[int(path[-1])] for path in paths]
        told = {value for last in lasts for value in values[last.relation, last.subject]}
        rivals = sorted(value for value in told if not any(sub_em(gold, value) for gold in golds))
        chains = tuple(tuple(map(int, path)) for path in paths)
        return Question(hop, size, number, text, golds, chains, tuple(rivals))

    questions = []
    for number, (text, answers) in enumerate(zip(single["questions"], single["answers"], strict=True)):
        about = ((relation, match["subject"]) for relation, form in asked if (match := form.fullmatch(text)))
        found = next((latest[one] for one in about if one in latest), None)
        questions.append(question("single", number, text, answers, [] if found is None else [[found]]))
    chains = {int(one["q"]): one["paths"] for one in files[_CHAINS] if one["source"] == f"factconsolidation_mh_{size}"}
    multi = rows.get(f"factconsolidation_mh_{size}", {"questions": [], "answers": []})
    questions += [
        question("multi", number, text, answers, chains.get(number) or [])
        for number, (text, answers) in enumerate(zip(multi["questions"], multi["answers"], strict=True))
    ]
    return context, questions


def _facts(text: str, forms: Mapping[str, str]) -> dict[int, Fact]:
    """Read the lines by the templates, of several that fit by the one with most words of its own."""
    patterns = [
        (relation, _pattern(f"{form}.")) for relation, form in sorted(forms.items(), key=lambda one: -len(one[1]))
    ]
    told: dict[int, tuple[str, str, str]] = {}
    for line in text.splitlines():
        if numbered := _LINE.fullmatch(line):
            fits = ((relation, match) for relation, form in patterns if (match := form.fullmatch(numbered[2])))
            relation, match = next(fits, (None, None))
            if relation is None or match is None:
                raise ValueError(f"no template fits {bounded(numbered[2])}")
            told[int(numbered[1])] = relation, match["subject"], match["value"]
    latest = {(relation, subject): number for number, (relation, subject, _) in sorted(told.items())}
    return {
        number: Fact(
            number, relation, subject, value,
            latest[relation, subject], told[latest[relation, subject]][2] != value,
        )
        for number, (relation, subject, value) in told.items()
    }  # fmt: skip


def _pattern(form: str) -> re.Pattern[str]:
    """Return a template, with [X] for the subject and __ for the value, as a pattern."""
    fixed = re.escape(form).replace(re.escape("[X]"), "(?P<subject>.+)").replace("__", "(?P<value>.+)")
    return re.compile(fixed)


def _place(folder: Path) -> Path:
    for place in (folder, folder / "factconsolidation"):
        if all((place / name).is_file() for name in _FILES):
            return place
    raise NotFound(
        f"No {', '.join(_FILES)} in {str(folder)!r} or its subfolder 'factconsolidation'. "
        "Give the data folder with --data."
    )

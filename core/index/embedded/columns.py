"""The filter columns of a partition, and filters as masks over them: every test is one array operation."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.index.embedded.codec import micros
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.filters import METADATA, All, Filter, Negation, Test, value_equals
from mindmem.core.index.port import People
from mindmem.core.text import normalise_name

__all__ = ["CODED", "TIMES", "Columns"]

CODED: Final = (
    "app_id", "session_id", "agent_id", "mem_type", "status", "property_name", "entity_id", "entity_type",
    "entity_name", "speaker",
)  # fmt: skip
TIMES: Final = {
    "validate_from": "valid_from", "validate_to": "valid_to", "created_at": "created_at", "updated_at": "recorded_at",
}  # fmt: skip
"""The wire's name of each time to the file's column."""
NEVER: Final = np.iinfo(np.int64).min
"""Stands for a missing time; no date lies there."""

Bools = npt.NDArray[np.bool_]


class Columns:
    """What filters read, by document. ``contents`` reads all contents from the file, for the rare test on them."""

    def __init__(self, user_id: str, contents: Callable[[], Sequence[str]]) -> None:
        self._user_id = user_id
        self._contents = contents
        self.memory_ids: list[str] = []
        self._place: dict[str, int] = {}
        self._codes = {name: Growing(np.empty(0, dtype=np.int32)) for name in CODED}
        self._tables: dict[str, dict[str, int]] = {name: {} for name in CODED}
        self._times = {name: Growing(np.empty(0, dtype=np.int64)) for name in TIMES.values()}
        self._metadata: list[str | None] = []
        self._parsed: dict[str, list[object]] = {}
        self._bytes_of_text = 0
        self._people: People | None = None

    def __len__(self) -> int:
        return len(self.memory_ids)

    @property
    def nbytes(self) -> int:
        """Return the size of the columns in bytes, Python strings estimated."""
        arrays = sum(codes.nbytes for codes in self._codes.values())
        arrays += sum(times.nbytes for times in self._times.values())
        return arrays + self._bytes_of_text + 200 * len(self.memory_ids)

    def put(self, places: Sequence[int], rows: Mapping[str, Sequence[Any]]) -> None:
        """Set the rows of the documents at ``places`` (ascending; those beyond the end are new and contiguous)."""
        known = int(np.searchsorted(np.asarray(places), len(self)))
        changed = np.asarray(places[:known], dtype=np.int64)
        for name, column in self._codes.items():
            table = self._tables[name]
            for value in dict.fromkeys(rows[name]):
                table.setdefault(value, len(table))
            codes = np.fromiter(map(table.__getitem__, rows[name]), np.int32, len(places))
            column.view[changed] = codes[:known]
            column.append(codes[known:])
        for name, times in self._times.items():
            values = np.fromiter((NEVER if v is None else v for v in rows[name]), np.int64, len(places))
            times.view[changed] = values[:known]
            times.append(values[known:])
        for at, place in enumerate(places[:known]):
            self._metadata[place] = rows["metadata"][at]
        self._metadata.extend(rows["metadata"][known:])
        for at, memory_id in enumerate(rows["memory_id"][known:], start=known):
            self._place[memory_id] = places[at]
            self.memory_ids.append(memory_id)
        self._bytes_of_text += sum(len(text) for text in rows["metadata"] if text)
        self._parsed.clear()
        self._people = None

    def times(self, name: str) -> npt.NDArray[np.int64]:
        """Return a time column of the file (``created_at``, ``recorded_at``, …), ``NEVER`` where missing."""
        return self._times[name].view

    def mask(self, filter_: Filter | None) -> Bools | None:
        """Return which documents pass, None for all."""
        return None if filter_ is None else self._mask(filter_)

    def people(self) -> People:
        """Return who speaks and which other persons memories are about; kept until the next row."""
        if self._people is None:
            speakers = {normalise_name(name) for name in self._tables["speaker"]}
            about = np.unique(self._codes["entity_name"].view[self._equal("entity_type", "person")])
            named = list(self._tables["entity_name"])
            others = {normalise_name(named[code]) for code in about}
            self._people = People(frozenset(speakers - {""}), frozenset(others - speakers - {""}))
        return self._people

    def not_of_subject(self, subject: str) -> Bools:
        """Return which documents are by and about other known persons than the one named (a normalised name). A first
        name stands for the full one and the other way round."""
        wanted = set(subject.split())

        def told(column: str) -> tuple[Bools, Bools]:
            names = [set(normalise_name(name).split()) for name in self._tables[column]]
            same = np.array([bool(name) and (name <= wanted or wanted <= name) for name in names], dtype=np.bool_)
            known = np.array([bool(name) for name in names], dtype=np.bool_)
            codes = self._codes[column].view
            return (same[codes], known[codes]) if len(names) else (np.zeros(0, np.bool_), np.zeros(0, np.bool_))

        spoken, has_speaker = told("speaker")
        about, has_entity = told("entity_name")
        person = self._equal("entity_type", "person")
        return ~(spoken | about) & (has_speaker | (has_entity & person))

    def _mask(self, filter_: Filter) -> Bools:
        match filter_:
            case All(clauses, any_=any_):
                masks = [self._mask(clause) for clause in clauses]
                joined = np.full(len(self), not any_)
                for mask in masks:
                    joined = joined | mask if any_ else joined & mask
                return joined
            case Negation(clauses):
                return ~self._mask(All(clauses, any_=True))
            case Test(field, operator, operand):
                return self._test(field, operator, operand)

    def _test(self, field: str, operator: str, operand: object) -> Bools:
        match operator:
            case "ne":
                return ~self._test(field, "eq", operand)
            case "nin":
                return ~self._test(field, "in", operand)
            case "in":
                found = np.zeros(len(self), dtype=np.bool_)
                for item in operand if isinstance(operand, tuple) else ():
                    found |= self._test(field, "eq", item)
                return found
        if field in TIMES:
            return self._test_time(self.times(TIMES[field]), operator, operand)
        if field == "content":
            return self._test_content(operator, operand)
        if operator not in ("eq", "present"):
            raise InvalidInput(f"Filter field {field!r} has no operator {bounded(operator)}.", field=field)
        if field == "user_id":
            held = bool(self._user_id) if operator == "present" else self._user_id == operand != ""
            return np.full(len(self), held)
        if field == "memory_id":
            return self._test_id(operator, operand)
        if field.startswith(METADATA):
            values = self._values(field[len(METADATA) :])
            if operator == "present":
                return np.array([value not in (None, "", []) for value in values], dtype=np.bool_)
            return np.array(
                [value not in ("", []) and value_equals(value, operand) for value in values], dtype=np.bool_
            )
        if field not in self._codes:
            raise InvalidInput(f"Unknown filter field {bounded(field)}.", field=field)
        return ~self._equal(field, "") if operator == "present" else self._equal(field, operand if operand else None)

    def _equal(self, column: str, value: object) -> Bools:
        code = self._tables[column].get(value) if isinstance(value, str) else None
        codes = self._codes[column].view
        return np.zeros(len(codes), dtype=np.bool_) if code is None else np.asarray(codes == code)

    def _test_id(self, operator: str, operand: object) -> Bools:
        if operator == "present":
            return np.ones(len(self), dtype=np.bool_)
        found = np.zeros(len(self), dtype=np.bool_)
        place = self._place.get(operand) if isinstance(operand, str) else None
        if place is not None:
            found[place] = True
        return found

    def _test_content(self, operator: str, operand: object) -> Bools:
        contents, wanted = self._contents(), str(operand)
        match operator:
            case "present":
                kept = [bool(text) for text in contents]
            case "eq":
                kept = [text == wanted != "" for text in contents]
            case "contains":
                kept = [wanted in text for text in contents]
            case "icontains":
                folded = wanted.casefold()
                kept = [folded in text.casefold() for text in contents]
            case _:
                raise InvalidInput(f"Filter field 'content' has no operator {bounded(operator)}.", field="content")
        return np.array(kept, dtype=np.bool_)

    @staticmethod
    def _test_time(times: npt.NDArray[np.int64], operator: str, operand: object) -> Bools:
        told = np.asarray(times != NEVER)
        if operator == "present":
            return told
        at = micros(operand) if isinstance(operand, datetime) else None
        if at is None:
            return np.zeros(len(times), dtype=np.bool_)
        match operator:
            case "eq":
                return np.asarray(times == at)
            case "gt":
                return np.asarray(times > at)
            case "gte":
                return np.asarray(times >= at)
            case "lt":
                return np.asarray(told & (times < at))
            case "lte":
                return np.asarray(told & (times <= at))
        raise InvalidInput(f"A time has no operator {bounded(operator)}.", field="filters")

    def _values(self, key: str) -> list[object]:
        if key not in self._parsed:
            self._parsed[key] = [None if text is None else json.loads(text).get(key) for text in self._metadata]
        return self._parsed[key]

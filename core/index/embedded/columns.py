"""The filter columns of a partition, and filters as masks over them: every test is one array operation."""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.index.embedded.codec import micros
from mindmem.core.index.embedded.growing import Growing
from mindmem.core.index.embedded.holders import Holders
from mindmem.core.index.embedded.mentions import Mentions
from mindmem.core.index.embedded.recency import Recency, newest
from mindmem.core.index.filters import METADATA, All, Filter, Negation, Test, value_equals
from mindmem.core.index.port import People
from mindmem.core.text import normalise_name

__all__ = ["CODED", "TIMES", "Columns"]

CODED: Final = (
    "app_id", "session_id", "agent_id", "mem_type", "status", "property_name", "entity_id", "entity_type",
    "entity_name", "speaker", "episode",
)  # fmt: skip
TIMES: Final = {
    "validate_from": "valid_from", "validate_to": "valid_to", "created_at": "created_at", "updated_at": "recorded_at",
}  # fmt: skip
"""The wire's name of each time to the file's column."""
NEVER: Final = np.iinfo(np.int64).min
"""Stands for a missing time; no date lies there."""
_LISTED: Final = ("entity_id", "property_name")
"""Columns of so many values that a filter on one of them starts from the list of its documents."""
_MASKS: Final = 8
"""Masks that are kept, of the filters used last."""

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
Rows = slice | npt.NDArray[Any]
_ALL: Final = slice(None)


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
        self._recency = Recency()
        self._mentions = Mentions()
        self._holders: dict[str, Holders] = {}
        self._masks: OrderedDict[Filter, Growing[np.bool_]] = OrderedDict()
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
        arrays += sum(mask.nbytes for mask in self._masks.values())
        arrays += sum(holders.nbytes for holders in self._holders.values())
        arrays += self._mentions.nbytes
        return arrays + self._bytes_of_text + 200 * len(self.memory_ids)

    def put(self, places: npt.NDArray[np.int64], rows: Mapping[str, Sequence[Any]]) -> None:
        """Set the rows of the documents at ``places`` (ascending; those beyond the end are new and contiguous).

        ``rows`` holds ``memory_id``, ``metadata``, ``mentions`` (a JSON array or None), ``coded`` (a JSON array in the
        order of ``CODED``) and the times."""
        known = int(np.searchsorted(places, len(self)))
        self._put_codes(places, known, rows["coded"])
        for name, times in self._times.items():
            values = np.array(rows[name], dtype=np.int64)
            times.view[places[:known]] = values[:known]
            times.append(values[known:])
        for at, place in enumerate(places[:known].tolist()):
            self._metadata[place] = rows["metadata"][at]
        self._metadata.extend(rows["metadata"][known:])
        self._place.update(zip(rows["memory_id"][known:], places[known:].tolist(), strict=True))
        self.memory_ids.extend(rows["memory_id"][known:])
        self._bytes_of_text += sum(len(text) for text in rows["metadata"] if text)
        self._mentions.put(places, rows["mentions"])
        self._recency.put(places, self.times("recorded_at"))
        for filter_, kept in self._masks.items():
            passing = self._mask(filter_, places)
            kept.view[places[:known]] = passing[:known]
            kept.append(passing[known:])
        self._parsed.clear()
        self._people = None

    def times(self, name: str) -> npt.NDArray[np.int64]:
        """Return a time column of the file (``created_at``, ``recorded_at``, …), ``NEVER`` where missing."""
        return self._times[name].view

    def held(self, memory_ids: Sequence[str]) -> list[tuple[str, int]]:
        """Return those of the memories that are here, with their places, in the given order."""
        return [(memory_id, self._place[memory_id]) for memory_id in memory_ids if memory_id in self._place]

    def mask(self, filter_: Filter | None) -> Bools | None:
        """Return which documents pass, None for all. Not to be written to: masks of lasting filters are kept and
        brought up to date row by row, since what is added and searched asks for the same ones again and again."""
        if filter_ is None:
            return None
        if not _lasts(filter_):
            return self._mask(filter_)
        if filter_ not in self._masks:
            self._masks[filter_] = Growing(self._mask(filter_))
            if len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        self._masks.move_to_end(filter_)
        return self._masks[filter_].view

    def places(self, filter_: Filter | None) -> Places:
        """Return where the documents are that pass."""
        listed = self._listed(filter_)
        if listed is not None and filter_ is not None:
            return listed[self._mask(filter_, listed)].astype(np.intp)
        mask = self.mask(filter_)
        return np.arange(len(self)) if mask is None else np.flatnonzero(mask)

    def newest(self, filter_: Filter | None, limit: int, after: int | None) -> Places:
        """Return the places among which the ``limit`` newest (by ``recorded_at``) lie that pass and are no younger
        than ``after``, in no order."""
        times = self.times("recorded_at")
        if self._listed(filter_) is not None:
            return newest(self.places(filter_), times, limit, after)
        mask = self.mask(filter_)

        def passing(block: slice) -> Places:
            if mask is None:
                return np.arange(block.start, block.stop)
            kept: Places = np.flatnonzero(mask[block]) + block.start
            return kept

        return self._recency.newest(times, limit, after, passing)

    def about(self, entity_id: str) -> int:
        """Return how many documents are about an entity, or were."""
        code = self._tables["entity_id"].get(entity_id)
        return 0 if code is None else self._holders_of("entity_id").most(code)

    def people(self) -> People:
        """Return who speaks and which other persons memories are about; kept until the next row."""
        if self._people is None:
            speakers = {normalise_name(name) for name in self._tables["speaker"]}
            about = np.bincount(self._codes["entity_name"].view[self._equal("entity_type", "person")])
            named = list(self._tables["entity_name"])
            others = {normalise_name(named[code]) for code in np.flatnonzero(about)}
            self._people = People(frozenset(speakers - {""}), frozenset(others - speakers - {""}))
        return self._people

    def episodes(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return a number for the episode of each document, the same for those of one, and -1 for those of none."""
        codes = self._codes["episode"].view[places]
        return np.where(codes == self._tables["episode"].get("", -1), np.int32(-1), codes)

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

    def _put_codes(self, places: npt.NDArray[np.int64], known: int, coded: Sequence[str]) -> None:
        # Documents of one speaker about one thing share all these values, so that few different rows are parsed.
        different = {row: at for at, row in enumerate(dict.fromkeys(coded))}
        owners = np.fromiter(map(different.__getitem__, coded), np.intp, len(coded))
        values = zip(*map(json.loads, different), strict=True)
        for (name, column), given in zip(self._codes.items(), values, strict=True):
            table = self._tables[name]
            for value in dict.fromkeys(given):
                table.setdefault(value, len(table))
            codes = np.fromiter(map(table.__getitem__, given), np.int32, len(different))[owners]
            if name in self._holders:
                changed = np.ones(len(places), dtype=np.bool_)
                changed[:known] = column.view[places[:known]] != codes[:known]
                self._holders[name].put(places[changed], codes[changed])
            column.view[places[:known]] = codes[:known]
            column.append(codes[known:])

    def _listed(self, filter_: Filter | None) -> npt.NDArray[np.int32] | None:
        """Return places that hold all documents passing the filter, where it asks for one entity or property."""
        found: list[tuple[int, str, int]] = []
        for test in _needed(filter_):
            if test.field in _LISTED and test.operator == "eq":
                code = self._tables[test.field].get(test.operand) if isinstance(test.operand, str) else None
                if code is None:
                    return np.empty(0, dtype=np.int32)
                found.append((self._holders_of(test.field).most(code), test.field, code))
        mentioned = (
            self._mentions.places(test.operand)
            for test in _needed(filter_)
            if test.field == "mentions" and test.operator == "eq"
        )
        fewest = min(mentioned, key=len, default=None)
        if not found:
            return fewest
        count, field, code = min(found)
        return fewest if fewest is not None and len(fewest) < count else self._holders[field].of(code)

    def _holders_of(self, field: str) -> Holders:
        if field not in self._holders:
            self._holders[field] = Holders(self._codes[field].view)
        return self._holders[field]

    def _mask(self, filter_: Filter, rows: Rows = _ALL) -> Bools:
        match filter_:
            case All(clauses, any_=any_):
                join = np.logical_or if any_ else np.logical_and
                joined = np.full(self._count(rows), not any_)
                for clause in clauses:
                    join(joined, self._mask(clause, rows), out=joined)
                return joined
            case Negation(clauses):
                return ~self._mask(All(clauses, any_=True), rows)
            case Test(field, operator, operand):
                return self._test(field, operator, operand, rows)

    def _test(self, field: str, operator: str, operand: object, rows: Rows) -> Bools:
        match operator:
            case "ne":
                return ~self._test(field, "eq", operand, rows)
            case "nin":
                return ~self._test(field, "in", operand, rows)
            case "in":
                found = np.zeros(self._count(rows), dtype=np.bool_)
                for item in operand if isinstance(operand, tuple) else ():
                    found |= self._test(field, "eq", item, rows)
                return found
        if field in TIMES:
            return self._test_time(self.times(TIMES[field])[rows], operator, operand)
        if field == "content":
            return self._test_content(operator, operand)[rows]
        if operator not in ("eq", "present"):
            raise InvalidInput(f"Filter field {field!r} has no operator {bounded(operator)}.", field=field)
        if field == "user_id":
            held = bool(self._user_id) if operator == "present" else self._user_id == operand != ""
            return np.full(self._count(rows), held)
        if field == "memory_id":
            return self._test_id(operator, operand)[rows]
        if field == "mentions":
            return self._among(self._mentions.any() if operator == "present" else self._mentions.places(operand), rows)
        if field.startswith(METADATA):
            values = self._values(field[len(METADATA) :])
            if operator == "present":
                return np.array([value not in (None, "", []) for value in values], dtype=np.bool_)[rows]
            kept = [value not in ("", []) and value_equals(value, operand) for value in values]
            return np.array(kept, dtype=np.bool_)[rows]
        if field not in self._codes:
            raise InvalidInput(f"Unknown filter field {bounded(field)}.", field=field)
        if operator == "present":
            return ~self._equal(field, "", rows)
        return self._equal(field, operand if operand else None, rows)

    def _among(self, places: npt.NDArray[np.int32], rows: Rows) -> Bools:
        if not isinstance(rows, slice):
            return np.isin(rows, places)
        found = np.zeros(len(self), dtype=np.bool_)
        found[places] = True
        return found

    def _count(self, rows: Rows) -> int:
        return len(self) if isinstance(rows, slice) else len(rows)

    def _equal(self, column: str, value: object, rows: Rows = _ALL) -> Bools:
        code = self._tables[column].get(value) if isinstance(value, str) else None
        codes = self._codes[column].view[rows]
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


def _needed(filter_: Filter | None) -> Iterator[Test]:
    """Yield tests that every passing document passes."""
    match filter_:
        case Test():
            yield filter_
        case All(clauses, any_=False):
            for clause in clauses:
                yield from _needed(clause)


def _lasts(filter_: Filter) -> bool:
    """Return whether the filter is likely to be asked again: it names no moment, id or words."""
    if isinstance(filter_, Test):
        return filter_.field in CODED
    return all(map(_lasts, filter_.clauses))

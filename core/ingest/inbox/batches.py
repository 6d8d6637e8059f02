"""Turn lines into batches of messages: one scope and session each, in the order of the file."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, get_args

from mindmem.core.errors import InvalidInput
from mindmem.core.ids import digest
from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ingest.inbox.lines import BadLine, Line, raw_text
from mindmem.core.ingest.normalise import check_metadata, normalise
from mindmem.core.ledger.port import Quarantined
from mindmem.core.records import Scope
from mindmem.core.records.message import Role

__all__ = ["Batch", "Rejected", "Source", "read_batches"]

MAX_MESSAGES: Final = 200
"""Messages of one batch, that is of one add."""
MAX_CHARACTERS: Final = 60_000
"""Characters of one batch, about 20,000 tokens; a longer message is a batch of its own."""
OPEN_MESSAGES: Final = 50_000
"""Messages held while their batches fill up, over all sessions of a file."""
OPEN_CHARACTERS: Final = 20_000_000
_MESSAGE_KEYS: Final = ("role", "content", "text", "name", "timestamp", "timezone", "caption", "position", "tool_calls")
_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Source:
    """On whose behalf a file is read. ``user_id`` owns the lines that name no user."""

    project_id: str = "default"
    user_id: str | None = None
    max_characters: int = 10_000_000
    """Longer messages are set aside."""


@dataclass(frozen=True, slots=True, repr=False)
class Batch:
    """Messages of one scope and session, for one add; ``lines`` and ``prints`` have one entry a message.

    A print is 64 bits of a message's identity in its file: scope, content and, among equal ones, its number. So a
    message keeps its print when lines are added before or after it.
    """

    file: InboxFile
    scope: Scope
    metadata: Mapping[str, object]
    messages: tuple[Mapping[str, object], ...]
    lines: tuple[int, ...]
    prints: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Batch({self.file.name!r}, {self.place}, {len(self.messages)} messages)"

    @property
    def place(self) -> str:
        """Return the lines that the batch was read from, for people."""
        first, last = self.lines[0], self.lines[-1]
        return f"line {first}" if first == last else f"lines {first}-{last}"

    @property
    def key(self) -> str:
        """Return the idempotency key: the file's name and the identity of each message.

        A run that was killed cuts the same batches again, and so does the next run over a file that grew meanwhile.
        """
        return "inbox:" + digest(self.file.path.name, self.scope.key, *(f"{number:x}" for number in self.prints))

    def split(self) -> tuple["Batch", "Batch"]:
        """Return the two halves of a batch of at least two messages."""
        middle = len(self.messages) // 2
        return self._part(slice(None, middle)), self._part(slice(middle, None))

    def _part(self, cut: slice) -> "Batch":
        return replace(self, messages=self.messages[cut], lines=self.lines[cut], prints=self.prints[cut])

    def rejected(self, kind: str, reason: str) -> "Rejected":
        """Return a batch of one message as an item for quarantine."""
        raw = json.dumps({**_ids(self.scope), **self.messages[0]}, ensure_ascii=False, default=str)
        return Rejected.of(self.file, self.scope, self.lines[0], kind, reason, raw)


@dataclass(frozen=True, slots=True, repr=False)
class Rejected:
    """A line that goes to quarantine. ``kind`` says why without any of its content, for logs and reports."""

    file: InboxFile
    line: int
    kind: str
    item: Quarantined

    def __repr__(self) -> str:
        return f"Rejected({self.file.name!r}, line {self.line}, {self.kind!r})"

    @classmethod
    def of(cls, file: InboxFile, scope: Scope, line: int, kind: str, reason: str, raw: str, nth: int = 0) -> "Rejected":
        """Return the item; its id stays the same when the file is read again, ``nth`` tells equal lines apart."""
        number = "" if raw else str(line)
        quarantine_id = "qua_" + digest("inbox", scope.project_id, str(file.path), number, raw, str(nth))
        item = Quarantined(
            quarantine_id=quarantine_id, scope=scope, origin=file.name, line=line, reason=reason, raw=raw_text(raw)
        )
        return cls(file, line, kind, item)


def read_batches(
    file: InboxFile, lines: Iterable[Line | BadLine], source: Source, is_known: Callable[[int], bool] | None = None
) -> Iterator[Batch | Rejected]:
    """Yield what a file holds: batches in the order in which they are full, bad lines as they come.

    Messages of one session stay in order. Messages whose print ``is_known`` were taken from an earlier state of this
    file and are left out.
    """
    return _Grouping(file, source, is_known or (lambda _: False)).run(lines)


class _Wrong(Exception):
    """A message is not of the expected form. ``kind`` holds nothing of it; ``reason`` may quote a value."""

    def __init__(self, kind: str, reason: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.reason = reason or kind


@dataclass(slots=True)
class _Open:
    scope: Scope
    metadata: Mapping[str, object]
    messages: list[Mapping[str, object]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    prints: list[int] = field(default_factory=list)
    characters: int = 0


_Owner: TypeAlias = tuple[Scope, str]
"""Whose a batch is: scope with session, and metadata as JSON."""


class _Grouping:
    """Batches that fill up, by scope, session and metadata; the oldest is closed early when too much is held."""

    def __init__(self, file: InboxFile, source: Source, is_known: Callable[[int], bool]) -> None:
        self._file = file
        self._source = source
        self._is_known = is_known
        self._open: dict[_Owner, _Open] = {}
        self._held = 0
        self._held_characters = 0
        self._prints: Counter[int] = Counter()
        self._bad: Counter[str] = Counter()

    def run(self, lines: Iterable[Line | BadLine]) -> Iterator[Batch | Rejected]:
        for line in lines:
            if isinstance(line, BadLine):
                yield self._reject(line.number, _Wrong(line.reason), line.raw)
                continue
            try:
                shared, items = _unfolded(line.value)
            except _Wrong as wrong:
                yield self._reject(line.number, wrong, line.raw())
                continue
            for item in items:
                try:
                    message, scope, metadata = self._message(shared, item)
                except _Wrong as wrong:
                    yield self._reject(line.number, wrong, line.raw() if item is line.value else _dumped(item))
                    continue
                yield from self._take(line.number, message, scope, metadata)
        yield from self._closed(list(self._open))

    def _reject(self, number: int, wrong: _Wrong, raw: str) -> Rejected:
        scope = Scope(project_id=self._source.project_id)
        known_as = digest(raw or str(number))
        self._bad[known_as] += 1
        return Rejected.of(self._file, scope, number, wrong.kind, wrong.reason, raw, self._bad[known_as])

    def _message(
        self, shared: Mapping[str, object], item: object
    ) -> tuple[Mapping[str, object], Scope, Mapping[str, object]]:
        given = {"text": item} if isinstance(item, str) else item
        if not isinstance(given, Mapping):
            raise _Wrong(f"A message is {_kind(given)}, not an object or a text.")
        message = {name: given[name] for name in _MESSAGE_KEYS if given.get(name) is not None}
        if shared.get("timezone") is not None:
            message.setdefault("timezone", shared["timezone"])
        metadata = given.get("metadata") or shared.get("metadata") or {}
        if not isinstance(metadata, Mapping):
            raise _Wrong(f"metadata is {_kind(metadata)}, not an object.")
        scope = self._scope({**shared, **given})
        self._check(message, metadata, scope)
        return message, scope, metadata

    def _check(self, message: Mapping[str, object], metadata: Mapping[str, object], scope: Scope) -> None:
        content = message.get("content", message.get("text"))
        if content is None and "tool_calls" not in message:
            raise _Wrong("content is missing.")
        if not isinstance(content, str | list | None):
            raise _Wrong(f"content is {_kind(content)}, not a text or a list of parts.")
        if isinstance(content, str) and len(content) > self._source.max_characters:
            raise _Wrong(f"content has {len(content)} characters; at most {self._source.max_characters} are taken.")
        if "content" in message and "role" not in message:
            raise _Wrong(f"role is missing: give one of {', '.join(get_args(Role))}.")
        if "role" in message and message["role"] not in get_args(Role):
            raise _Wrong(f"role must be one of {', '.join(get_args(Role))}.")
        try:
            normalise(message, scope, zone="UTC", add_id="", max_chars=self._source.max_characters)
            if metadata:
                check_metadata(metadata)
        except InvalidInput as error:
            # A key of the metadata is the person's own word.
            place = error.field.removeprefix("messages[0].").split(".")[0]
            raise _Wrong(f"{place} can't be taken.", str(error)) from None

    def _scope(self, given: Mapping[str, object]) -> Scope:
        project = given.get("project_id")
        if project is not None and project != self._source.project_id:
            raise _Wrong("project_id can't be chosen by a file; it is chosen where the file is taken in.")
        ids = {name: given.get(name) for name in ("user_id", "app_id", "agent_id", "session_id")}
        for name, value in ids.items():
            if value is not None and not isinstance(value, str):
                raise _Wrong(f"{name} is {_kind(value)}, not a text.")
        texts = {name: value for name, value in ids.items() if isinstance(value, str)}
        user_id = texts.get("user_id", self._source.user_id)
        if user_id is None:
            raise _Wrong("user_id is missing.")
        try:
            return Scope.of(
                user_id,
                project_id=self._source.project_id,
                app_id=texts.get("app_id"),
                agent_id=texts.get("agent_id"),
                session_id=texts.get("session_id"),
            )
        except InvalidInput as error:
            raise _Wrong(f"{error.field} is not an id: empty, too long, or with a character that no id has.") from None

    def _take(
        self, line: int, message: Mapping[str, object], scope: Scope, metadata: Mapping[str, object]
    ) -> Iterator[Batch]:
        owner = (scope, _dumped(metadata) if metadata else "")
        print_ = self._print(owner, message)
        if self._is_known(print_):
            return
        size = len(str(message.get("content", message.get("text"))))
        group = self._open.get(owner)
        if group and (len(group.messages) >= MAX_MESSAGES or group.characters + size > MAX_CHARACTERS):
            yield from self._closed([owner])
            group = None
        if group is None:
            group = self._open[owner] = _Open(scope, metadata)
        group.messages.append(message)
        group.lines.append(line)
        group.prints.append(print_)
        group.characters += size
        self._held += 1
        self._held_characters += size
        while self._held > OPEN_MESSAGES or self._held_characters > OPEN_CHARACTERS:
            yield from self._closed([next(iter(self._open))])

    def _print(self, owner: _Owner, message: Mapping[str, object]) -> int:
        scope, metadata = owner
        ids = (scope.user_id, scope.app_id, scope.agent_id, scope.session_id)
        first = int(digest(*ids, metadata, _dumped(message), size=8), 16)
        self._prints[first] += 1
        nth = self._prints[first]
        return first if nth == 1 else int(digest(f"{first:x}", str(nth), size=8), 16)

    def _closed(self, owners: Sequence[_Owner]) -> Iterator[Batch]:
        for owner in owners:
            group = self._open.pop(owner)
            self._held -= len(group.messages)
            self._held_characters -= group.characters
            yield Batch(
                self._file, group.scope, group.metadata, tuple(group.messages), tuple(group.lines), tuple(group.prints)
            )


def _unfolded(value: object) -> tuple[Mapping[str, object], Sequence[object]]:
    if not isinstance(value, Mapping):
        raise _Wrong(f"The line is {_kind(value)}, not an object.")
    if "messages" not in value:
        return {}, [value]
    messages = value["messages"]
    if not isinstance(messages, list):
        raise _Wrong(f"messages is {_kind(messages)}, not a list.")
    if not messages:
        raise _Wrong("messages is empty.")
    return {name: given for name, given in value.items() if name != "messages" and given is not None}, messages


def _ids(scope: Scope) -> dict[str, str]:
    ids = {"user_id": scope.user_id, "app_id": scope.app_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
    return {name: value for name, value in ids.items() if value}


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _kind(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")

"""From what callers hand in to messages: checked, cleaned of what no store can hold, else verbatim.

An utterance that is known by its place gets an id from that place, so that bringing it again is no news: the session
with a timestamp or position, or a file's hash and line. Any other is a new utterance of this add.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias, get_args

from mindmem.core import ids
from mindmem.core.dates import resolve_timestamp, told_zone, zone_of
from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.ingest.parts import plain_form
from mindmem.core.language.words import clean, is_blank
from mindmem.core.records import Message, Scope, Skip
from mindmem.core.records.message import Role
from mindmem.core.redact import redact

__all__ = ["RESERVED_KEYS", "MessageInput", "Normalised", "Origin", "check_metadata", "normalise"]

MessageInput: TypeAlias = str | Mapping[str, object] | Sequence[str | Mapping[str, object]]
"""A text, a message mapping, or a sequence of them in the order in which they were said."""

RESERVED_KEYS: Final = frozenset(
    {"project_id", "user_id", "app_id", "agent_id", "session_id", "memory_id", "change_id", "seq", "recorded_at"}
)
"""Names that a caller's metadata may not use: they say whose a record is and how it came about."""

MAX_METADATA: Final = 65_536
"""Longest metadata as JSON, in characters."""

_ROLES: Final = get_args(Role)
_SCOPE_KEYS: Final = ("project_id", "user_id", "app_id", "agent_id")


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that messages come from: the digest of its content, and the 1-based line of each message in order."""

    file_hash: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Normalised:
    """Messages in their order, and why some were kept out (blank). ``placed`` is True when every id derives from a
    place, so that the ids together identify the request. ``given`` holds all messages, blank ones too, in a form that
    normalises to the same messages and holds no secret: what a queue may keep."""

    messages: tuple[Message, ...]
    skips: tuple[Skip, ...] = ()
    placed: bool = False
    given: tuple[Mapping[str, object], ...] = ()


def normalise(
    messages: MessageInput,
    scope: Scope,
    *,
    zone: str,
    add_id: str,
    add_zone: str | None = None,
    max_chars: int = 10_000_000,
    origin: Origin | None = None,
) -> Normalised:
    """Return the messages of one add, secrets cut out of what was said, by whom and of what is shared.

    Args:
        messages: ``{"role", "content", "name"?, "timestamp"?, "timezone"?, "caption"?, "session_id"?, "position"?}``,
        or
            ``{"text"}``, ``{"url"}``, ``{"file_name", "file_type"?}`` with the same optional keys; a string is a text.
        zone: the project's zone, of messages that bring none.
        add_zone: the zone of the add, if stated: an IANA name or an offset such as "+13:00". A message's own
            ``timezone`` goes before it; it goes before the offset of a timestamp, and that before the project's zone.
        add_id: tells utterances without a place apart from those of other adds.
        max_chars: longest content or caption, in characters.
        origin: the file and lines that they come from, one line a message.

    Raises:
        InvalidInput: names the item's index and field, what was expected and what came.
    """
    items = _items(messages)
    if add_zone is not None:
        zone_of(add_zone)
    if origin is not None and len(origin.lines) != len(items):
        raise InvalidInput(f"origin names {len(origin.lines)} lines for {len(items)} messages.", field="origin")
    kept: list[Message] = []
    skips: list[Skip] = []
    forms: list[Mapping[str, object]] = []
    places: Counter[str] = Counter()
    said: Counter[tuple[str, ...]] = Counter()
    placed = True
    for index, item in enumerate(items):
        reader = _Reader(item, index, max_chars)
        read = _redacted(reader.message(scope, zone, add_id, add_zone))
        given = reader.position()
        message = replace(read, position=places[read.scope.session_id] if given is None else given)
        places[message.scope.session_id] = message.position + 1
        place = "" if origin is None else f"{origin.file_hash}#{origin.lines[index]}"
        if not place and message.scope.session_id and (given is not None or message.timestamp is not None):
            place = _place(message, given, said)
        placed = placed and bool(place)
        message = replace(message, message_id=_identity(message, place or f"{index}", "" if place else add_id))
        forms.append(_form(message, given))
        if is_blank(message.content) and is_blank(message.caption):
            skips.append(Skip(message.message_id, "blank"))
        else:
            kept.append(message)
    return Normalised(tuple(kept), tuple(skips), placed, tuple(forms))


def check_metadata(metadata: Mapping[str, object] | None) -> dict[str, object]:
    """Return the caller's metadata as plain JSON values, secrets cut out; a value's key counts as words before it.

    Raises:
        InvalidInput: not a mapping with text keys, a reserved key, not JSON, or too long.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a mapping, got {_type(metadata)} {bounded(metadata)}.", field="metadata")
    for name in metadata:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(
                f"metadata keys must be non-empty strings, got {_type(name)} {bounded(name)}.", field="metadata"
            )
        if name.strip().casefold() in RESERVED_KEYS:
            raise InvalidInput(
                f"metadata key {name!r} is reserved: it can't override whose the memory is. Use another name.",
                field=f"metadata.{name}",
            )
    checked: dict[str, object] = {}
    for name, value in metadata.items():
        try:
            checked[clean(name)] = json.loads(
                json.dumps(value, ensure_ascii=False, allow_nan=False), object_hook=_clean_keys
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"metadata key {name!r} must hold a JSON value, got {_type(value)} {bounded(value)}.",
                field=f"metadata.{name}",
            ) from error
        checked[clean(name)] = _cleaned(checked[clean(name)], clean(name))
    size = len(json.dumps(checked, ensure_ascii=False))
    if size > MAX_METADATA:
        raise InvalidInput(
            f"metadata has {size} characters as JSON; at most {MAX_METADATA} are allowed.", field="metadata"
        )
    return checked


def _clean_keys(value: dict[str, object]) -> dict[str, object]:
    return {clean(name): inner for name, inner in value.items()}


def _cleaned(value: object, name: str) -> object:
    if isinstance(value, str):
        told = f"{name}: "
        told_clean = redact(told + (text := clean(value)))[0]
        return told_clean.removeprefix(told) if told_clean.startswith(told) else redact(text)[0]
    if isinstance(value, list):
        return [_cleaned(inner, name) for inner in value]
    if isinstance(value, dict):
        return {key: _cleaned(inner, key) for key, inner in value.items()}
    return value


def _items(messages: MessageInput) -> Sequence[object]:
    if isinstance(messages, str | Mapping):
        return (messages,)
    if isinstance(messages, bytes | bytearray) or not isinstance(messages, Sequence):
        raise InvalidInput(
            f"messages must be a string, a mapping, or a sequence of them, got {_type(messages)} {bounded(messages)}.",
            field="messages",
        )
    if not messages:
        raise InvalidInput("messages is empty: give at least one.", field="messages")
    return messages


def _redacted(message: Message) -> Message:
    """Cut secrets out before the id is made, so that no id tells one and a message that was kept is known again."""
    content, name, caption = (redact(text)[0] for text in (message.content, message.name, message.caption))
    return replace(message, content=content, name=name, caption=caption)


def _form(message: Message, position: int | None) -> dict[str, object]:
    return {
        "role": message.role,
        "name": message.name,
        "content": message.content,
        "caption": message.caption,
        "timestamp": message.timestamp.isoformat() if message.timestamp else None,
        "timezone": message.timezone,
        "session_id": message.scope.session_id or None,
        "position": position,
    }


def _identity(message: Message, place: str, add_id: str) -> str:
    scope = message.scope
    return ids.message_id(scope.key, scope.session_id, place, message.role, message.name, message.content, add_id)


def _place(message: Message, given: int | None, said: Counter[tuple[str, ...]]) -> str:
    """The place in the session; without a position, the how-manieth of equal utterances at the same time."""
    when = message.timestamp.isoformat() if message.timestamp else ""
    if given is not None:
        return f"{given}@{when}"
    same = (message.scope.session_id, when, message.role, message.name, message.content)
    said[same] += 1
    return f"{said[same]}.@{when}"


def _type(value: object) -> str:
    return type(value).__name__


class _Reader:
    """Reads one item of ``messages``; every error names its index."""

    def __init__(self, item: object, index: int, max_chars: int) -> None:
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, Mapping):
            raise InvalidInput(
                f"messages[{index}] must be a string or a mapping such as {{'role': 'user', 'content': '…'}},"
                f" got {_type(item)} {bounded(item)}.",
                field=f"messages[{index}]",
            )
        self._item: Mapping[object, object] = plain_form(item, index)
        self._index = index
        self._max_chars = max_chars

    def message(self, scope: Scope, zone: str, add_id: str, add_zone: str | None) -> Message:
        for name in _SCOPE_KEYS:
            if name in self._item:
                raise self._error(name, "stands beside the messages, never inside one", self._item[name])
        zone = self._zone() or add_zone or told_zone(self._item.get("timestamp")) or zone
        return Message(
            message_id="",
            scope=self._scope(scope),
            position=0,
            role=self._role(),
            name=self._text("name", limit=512).strip(),
            content=self._content(),
            timestamp=self._timestamp(zone),
            timezone=zone,
            add_id=add_id,
            caption=self._caption(),
        )

    def position(self) -> int | None:
        value = self._item.get("position")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
            raise self._error("position", "must be a whole number from 0", value)
        return value

    def _content(self) -> str:
        for name in ("content", "text", "url", "file_name"):
            if name in self._item:
                return self._text(name, needed=True)
        raise InvalidInput(
            f"messages[{self._index}].content is missing: a message needs 'role' and 'content', or 'text', 'url' or"
            f" 'file_name'; it has the keys {bounded(sorted(map(str, self._item)))}.",
            field=f"messages[{self._index}].content",
        )

    def _caption(self) -> str:
        caption = self._text("caption")
        kind = self._text("file_type", limit=512) if "file_name" in self._item else ""
        return caption or kind

    def _role(self) -> Role:
        role = self._item.get("role")
        if role is None and "content" in self._item:
            raise self._error("role", f"is missing: expected one of {', '.join(_ROLES)}", None)
        if role is None:
            return "user"
        if role not in _ROLES:
            raise self._error("role", f"must be one of {', '.join(_ROLES)}", role)
        return role  # type: ignore[return-value]  # it is one of the literal's values

    def _timestamp(self, zone: str) -> datetime | None:
        value = self._item.get("timestamp")
        try:
            return resolve_timestamp(value, zone)  # type: ignore[arg-type]  # it refuses other types itself
        except InvalidInput as error:
            raise InvalidInput(
                f"messages[{self._index}].{error}", field=f"messages[{self._index}].timestamp"
            ) from error

    def _zone(self) -> str:
        given = self._text("timezone", limit=64)
        if given:
            try:
                zone_of(given)
            except InvalidInput as error:
                expected = "must be an IANA zone such as 'Europe/Berlin' or an offset such as '+13:00'"
                raise self._error("timezone", expected, given) from error
        return given

    def _scope(self, scope: Scope) -> Scope:
        given = self._item.get("session_id")
        if given is None:
            return scope
        if scope.session_id and given == scope.session_id:
            return scope
        if scope.session_id:
            raise self._error("session_id", f"must be that of the add, {bounded(scope.session_id)}", given)
        try:
            session = Scope.of(need_user=False, session_id=given).session_id  # type: ignore[arg-type]  # checked there
        except InvalidInput as error:
            raise InvalidInput(
                f"messages[{self._index}].{error}", field=f"messages[{self._index}].session_id"
            ) from error
        return replace(scope, session_id=session)

    def _text(self, name: str, *, needed: bool = False, limit: int | None = None) -> str:
        value = self._item.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str):
            raise self._error(name, "must be a string", value)
        limit = self._max_chars if limit is None else limit
        if len(value) > limit:
            raise InvalidInput(
                f"messages[{self._index}].{name} has {len(value)} characters; at most {limit} are allowed. Split it.",
                field=f"messages[{self._index}].{name}",
            )
        return clean(value)

    def _error(self, name: str, expected: str, value: object) -> InvalidInput:
        return InvalidInput(
            f"messages[{self._index}].{name} {expected}, got {_type(value)} {bounded(value)}.",
            field=f"messages[{self._index}].{name}",
        )

"""From a model's text to a validated reply; where that fails, what of it can be kept, item by item."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from mindmem.core.llm.parse import Found, find_json
from mindmem.core.llm.port import Rejected

__all__ = ["Reading", "Trouble", "read_reply"]

R = TypeVar("R", bound=BaseModel)

Trouble = Literal["", "empty", "no_json", "ambiguous", "broken_off", "invalid"]
_NAMED: Final = 5
"""At most so many errors of a validation are told; a model that reads more does not do better."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[R]):
    """What was made of a text. ``trouble`` is empty when it is a whole, valid reply; else ``problem`` tells the model
    what is wrong, without quoting it, and ``value`` is what could be kept (None: nothing), ``kept`` items of it."""

    value: R | None = None
    rejected: tuple[Rejected, ...] = ()
    trouble: Trouble = ""
    problem: str = ""
    kept: int = 0


def read_reply(text: str, reply: type[R], items: str = "", *, broken_off: str = "") -> Reading[R]:
    """Read a reply.

    Args:
        text: what the model wrote.
        reply: the model of the whole.
        items: its list field whose items stand alone: each is kept or rejected by itself. Empty: all or nothing.
        broken_off: why the text is known to end early, if it is; told of a reply that is not whole.
    """
    found = find_json(text)
    objects = _distinct(text, _candidates(found, reply, items))
    if len(objects) == 1:
        return _validated(objects[0], reply, items, broken_off)
    if objects:
        problem = f"The reply holds {len(objects)} different JSON objects; exactly one is wanted."
        return Reading(trouble="ambiguous", problem=problem)
    if not text.strip():
        return Reading(trouble="empty", problem="The reply is empty.")
    return _loose(text, found, reply, items)


def _candidates(found: Sequence[Found], reply: type[BaseModel], items: str) -> list[Found]:
    """Return what may be the reply: objects with one of its fields, and a bare list in the place of its items."""
    names = {_key(reply, name) for name in reply.model_fields}
    fit: list[Found] = []
    for one in found:
        if isinstance(one.value, dict) and names & one.value.keys():
            fit.append(one)
        elif items and isinstance(one.value, list) and all(isinstance(item, dict) for item in one.value):
            fit.append(Found({_key(reply, items): one.value}, one.start, one.end, one.rest))
    if not fit and len(found) == 1 and found[0].value == {}:
        fit = list(found)
    return fit


def _distinct(text: str, found: Sequence[Found]) -> list[Found]:
    """Return each value once, and none whose text only began to repeat a whole one's."""
    by_value = {json.dumps(one.value, sort_keys=True): one for one in reversed(found) if one.whole}
    whole = list(by_value.values())[::-1]
    begun = [one for one in found if not one.whole]
    return whole + [
        one
        for one in begun
        if not any(text[other.start : other.end].startswith(text[one.start : one.end].rstrip()) for other in whole)
    ]


def _validated(found: Found, reply: type[R], items: str, broken_off: str) -> Reading[R]:
    if found.whole:  # what was cut off behind it is chatter
        try:
            return Reading(reply.model_validate_json(json.dumps(found.value)))
        except ValidationError as error:
            trouble: Trouble = "invalid"
            problem = _told(error)
    else:
        trouble, problem = "broken_off", broken_off or "The reply ends before its JSON is closed."
    if not items:
        return Reading(trouble=trouble, problem=problem)
    value, rejected, kept = _by_item(found.value, reply, items)
    if not kept:  # a reply of which nothing is left is a failure, not an empty answer
        return Reading(trouble=trouble, problem=problem)
    if not found.whole:
        rejected.append(Rejected(problem, found.rest or ""))
    return Reading(value, tuple(rejected), trouble, problem, kept)


def _by_item(given: Mapping[str, Any], reply: type[R], items: str) -> tuple[R | None, list[Rejected], int]:
    """Validate each item, then the whole with the good ones; other fields that are wrong and may be left out are."""
    key = _key(reply, items)
    listed = given.get(key)
    if not isinstance(listed, list):
        return None, [], 0
    good, rejected = _sorted_out(listed, reply, items)
    whole: dict[str, Any] = {**given, key: good}
    try:
        return reply.model_validate_json(json.dumps(whole)), rejected, len(good)
    except ValidationError as error:
        for name in {str(one["loc"][0]) for one in error.errors() if one["loc"]} - {key}:
            rejected.append(Rejected(f"{name}: {_told(error)}", json.dumps(whole.pop(name, None), ensure_ascii=False)))
    try:
        return reply.model_validate_json(json.dumps(whole)), rejected, len(good)
    except ValidationError:
        return None, [], 0


def _loose(text: str, found: Sequence[Found], reply: type[R], items: str) -> Reading[R]:
    """Keep the items that stand whole in a text that is no JSON as a whole."""
    problem = "The reply holds no JSON object of the expected form."
    reading: Reading[R] = Reading(trouble="no_json", problem=problem)
    if not items:
        return reading
    loose = [item for one in found for item in (one.value if isinstance(one.value, list) else [one.value])]
    good, _ = _sorted_out(loose, reply, items)
    if not good:
        return reading
    try:
        value = reply.model_validate_json(json.dumps({_key(reply, items): good}))
    except ValidationError:
        return reading
    rejected = Rejected("The reply is no JSON as a whole; the items that could be read were kept.", text)
    return Reading(value, (rejected,), "no_json", problem, len(good))


def _sorted_out(listed: Sequence[Any], reply: type[BaseModel], items: str) -> tuple[list[Any], list[Rejected]]:
    """Return the items that are valid by themselves, as they came, and the others with their reason."""
    arguments = get_args(reply.model_fields[items].annotation)
    adapter: TypeAdapter[Any] = TypeAdapter(arguments[0] if arguments else Any)
    good: list[Any] = []
    rejected: list[Rejected] = []
    for item in listed:
        try:
            adapter.validate_json(json.dumps(item))
            good.append(item)
        except ValidationError as error:
            rejected.append(Rejected(_told(error), json.dumps(item, ensure_ascii=False)))
    return good, rejected


def _key(reply: type[BaseModel], name: str) -> str:
    return reply.model_fields[name].alias or name


def _told(error: ValidationError) -> str:
    """Return where a reply is wrong and how, without what stands there."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(str(part)[:40] for part in one['loc']) or 'reply'}: {one['msg']}" for one in errors[:_NAMED]]
    return "; ".join(told) + (f"; and {len(errors) - _NAMED} more" if len(errors) > _NAMED else "")

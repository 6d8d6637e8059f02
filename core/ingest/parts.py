"""Messages as chat APIs write them, in plain form: content in parts becomes a text, calls of tools compact JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from mindmem.core.errors import InvalidInput, bounded

__all__ = ["plain_form"]

_TEXT: Final = ("text", "input_text", "output_text")
_IMAGE: Final = ("image_url", "input_image", "image")


def plain_form(item: Mapping[object, object], index: int) -> Mapping[object, object]:
    """Return message ``index`` with a text as its content. Text parts are joined by newlines; what image parts say of
    themselves (``text``, ``alt``) becomes the caption, unless there is one. Without content, ``tool_calls`` become
    their names and arguments.

    Raises:
        InvalidInput: a part or a call is not of a known form; the message names it.

    >>> plain_form({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, 0)["content"]
    'Hi'
    """
    content, calls = item.get("content"), item.get("tool_calls")
    if isinstance(content, list | tuple):
        texts, captions = _parts(content, index)
        plain = {**item, "content": "\n".join(texts)}
        if captions and not item.get("caption"):
            plain["caption"] = "\n".join(captions)
        item, content = plain, plain["content"]
    if calls and content in (None, ""):
        return {**item, "content": _calls(calls, index)}
    return item


def _parts(parts: Sequence[object], index: int) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    captions: list[str] = []
    for place, part in enumerate(parts):
        field = f"messages[{index}].content[{place}]"
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(part, Mapping) or kind not in (*_TEXT, *_IMAGE):
            known = ", ".join((*_TEXT, *_IMAGE))
            raise InvalidInput(f"{field} must be a part of type {known}, got {bounded(part)}.", field=field)
        if kind in _TEXT:
            if not isinstance(part.get("text"), str):
                raise InvalidInput(f"{field}.text must be a string, got {bounded(part.get('text'))}.", field=field)
            texts.append(str(part["text"]))
        else:
            captions.extend(said for name in ("text", "alt") if isinstance(said := part.get(name), str) and said)
    return texts, captions


def _calls(calls: object, index: int) -> str:
    field = f"messages[{index}].tool_calls"
    plain: list[dict[str, object]] = []
    for call in calls if isinstance(calls, list | tuple) else [calls]:
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise InvalidInput(
                f"{field} must be a list of {{'function': {{'name', 'arguments'}}}}, got {bounded(call)}.", field=field
            )
        plain.append({"name": function["name"], "arguments": function.get("arguments", "")})
    try:
        return json.dumps(plain[0] if len(plain) == 1 else plain, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{field} must hold JSON values, got {bounded(calls)}.", field=field) from error

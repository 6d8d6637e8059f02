"""Messages as chat APIs write them: parts, images and calls of tools become a text, unknown forms are refused."""

import json

import pytest

from mindmem.core.errors import InvalidInput
from mindmem.core.ingest.normalise import normalise
from mindmem.core.reason.rules.procedures import tool_call
from mindmem.core.records import Message, Scope


def read(item: dict[str, object]) -> Message:
    [message] = normalise([item], Scope(user_id="ann"), zone="UTC", add_id="a").messages
    return message


def test_text_parts_are_joined_and_what_an_image_says_becomes_the_caption() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}, "alt": "a red boat"}
    message = read({"role": "user", "content": [{"type": "text", "text": "Hi"}, image, {"type": "text", "text": "Bo"}]})
    assert (message.content, message.caption) == ("Hi\nBo", "a red boat")


def test_calls_without_content_become_json_that_announces_the_call() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    message = read({"role": "assistant", "content": None, "tool_calls": [call]})
    assert json.loads(message.content) == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    announced = tool_call(message)
    assert announced is not None
    assert announced[0] == "weather"


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"role": "user", "content": [{"type": "hologram"}]}, "messages[0].content[0]"),
        ({"role": "user", "content": ["Hi"]}, "messages[0].content[0]"),
        ({"role": "user", "content": [{"type": "text", "text": 3}]}, "messages[0].content[0]"),
        ({"role": "assistant", "content": None, "tool_calls": [3]}, "messages[0].tool_calls"),
        ({"role": "assistant", "content": None}, "messages[0].content"),
    ],
)
def test_an_unknown_form_is_refused_by_its_place(item: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(item)
    assert refused.value.field == field

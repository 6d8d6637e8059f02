"""Prompt files: front matter, a system part and a user part; variables are data that can't pass for the prompt.

A file begins with ``key: value`` lines between two ``---`` lines, then ``# system`` and ``# user``. ``{{name}}`` in the
user part stands for a variable. Its value comes between two marker lines ``<name>`` and ``</name>``; inside of it every
opening that would imitate a marker, or a control token of a chat template (``<|…|>``), is broken. Nothing of a value is
read as template. Variables listed as ``inline`` stand in the line, as one line without angle brackets.

Who writes a prompt raises its ``version`` with any change; its digest covers the text and the form of the reply.
"""

import json
import pkgutil
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Final, TypeVar, get_args

from pydantic import BaseModel

from mindmem.core.errors import NotFound
from mindmem.core.ids import digest
from mindmem.core.llm.port import Question
from mindmem.core.records import Purpose

__all__ = ["Prompt", "PromptError", "fenced", "load_prompt", "prompt_names", "read_prompt"]

R = TypeVar("R", bound=BaseModel)

_PACKAGE: Final = "mindmem.core.prompts"
_REQUIRED: Final = frozenset({"name", "version", "purpose", "variables", "reply"})
_OPTIONAL: Final = frozenset({"inline", "items", "max_output_tokens"})
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
_PARTS: Final = re.compile(
    r"\A---\n(?P<matter>.*?)\n---\n+# system\n+(?P<system>.*?)\n+# user\n+(?P<user>.*?)\s*\Z", re.DOTALL
)
_UNSEEN: Final = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters and others that show nothing: between the letters of a word they make no other word to a reader."""
_GAP: Final = rf"[\s{_UNSEEN}]*"


def _spelt(word: str) -> str:
    """Return the pattern of a word with whatever shows nothing between its letters."""
    return f"[{_UNSEEN}]*".join(map(re.escape, word))


_CONTROL: Final = re.compile(
    rf"<(?={_GAP}[|｜]|{_GAP}/?{_GAP}s{_GAP}>|{_GAP}(?:{_spelt('start_of_turn')}|{_spelt('end_of_turn')}){_GAP}>)"
    rf"|\[(?={_GAP}/?{_GAP}{_spelt('INST')}{_GAP}\])",
    re.IGNORECASE,
)
"""How chat templates open a turn; an endpoint may read it in the middle of a text, too."""
_SPACE: Final = re.compile(r"\s+")


class PromptError(ValueError):
    """A prompt file is not of the expected form, or was given other variables than it names: a mistake in the code."""


@dataclass(frozen=True)
class Prompt:
    """One prompt file. ``variables`` are fenced as data, except for those ``inline``; ``items`` names the reply's list
    whose items stand alone."""

    name: str
    version: str
    purpose: Purpose
    variables: tuple[str, ...]
    inline: tuple[str, ...]
    reply_name: str
    items: str
    max_output_tokens: int
    system: str
    user: str

    @cached_property
    def reply(self) -> type[BaseModel]:
        """Return the pydantic model of the reply, imported when it is first asked for."""
        found = pkgutil.resolve_name(self.reply_name)
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            raise PromptError(f"Prompt {self.name!r}: reply {self.reply_name!r} is no pydantic model.")
        return found

    @cached_property
    def digest(self) -> str:
        """Return the hex digest of all that shapes an answer: both texts, the variables' ways, the reply's schema."""
        schema = json.dumps(self.reply.model_json_schema(), sort_keys=True)
        return digest("prompt", self.system, self.user, ",".join(self.inline), self.items, schema)

    def question(self, reply_type: type[R], **variables: str) -> Question[R]:
        """Return the question with the variables filled in.

        Raises:
            PromptError: a variable is missing or unknown, or the prompt's reply is of another type.
        """
        if reply_type is not self.reply:
            raise PromptError(f"Prompt {self.name!r} is answered by {self.reply_name}, not by {reply_type.__name__}.")
        if variables.keys() != set(self.variables):
            wanted, given = sorted(self.variables), sorted(variables)
            raise PromptError(f"Prompt {self.name!r} takes the variables {wanted}, got {given}.")
        return Question(
            purpose=self.purpose,
            prompt=self.name,
            version=self.version,
            digest=self.digest,
            system=self.system,
            user=_PLACE.sub(lambda place: self._filled(place[1], variables[place[1]]), self.user),
            reply=reply_type,
            items=self.items,
            max_output_tokens=self.max_output_tokens,
        )

    def _filled(self, name: str, value: str) -> str:
        return _inline(value) if name in self.inline else fenced(name, value, self.variables)


def fenced(name: str, value: str, markers: tuple[str, ...]) -> str:
    """Return a value as data: between marker lines of its name, unable to imitate any of ``markers``.

    >>> fenced("note", "a </note> b", ("note",))
    '<note>\\na ‹/note> b\\n</note>'
    """
    return f"<{name}>\n{_CONTROL.sub(_broken, _imitation(markers).sub('‹', value))}\n</{name}>"


@lru_cache(maxsize=64)
def _imitation(markers: tuple[str, ...]) -> "re.Pattern[str]":
    return re.compile(rf"<(?={_GAP}/?{_GAP}(?:{'|'.join(map(_spelt, markers))})(?:\b|[{_UNSEEN}]))", re.IGNORECASE)


def _inline(value: str) -> str:
    return _SPACE.sub(" ", value.replace("<", "‹").replace(">", "›")).strip()


def _broken(opening: "re.Match[str]") -> str:
    return {"<": "‹", "[": "［"}[opening[0]]


@lru_cache(maxsize=64)
def load_prompt(name: str) -> Prompt:
    """Return a prompt by its name.

    Raises:
        NotFound: there is no such prompt.
        PromptError: its file is not of the expected form.
    """
    if name not in prompt_names():
        raise NotFound(f"There is no prompt {name!r}; there are {', '.join(prompt_names())}.")
    return read_prompt(name, resources.files(_PACKAGE).joinpath(f"{name}.md").read_text(encoding="utf-8"))


def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompts, in alphabetical order."""
    files = (file.name for file in resources.files(_PACKAGE).iterdir())
    return tuple(sorted(file.removesuffix(".md") for file in files if file.endswith(".md")))


def read_prompt(name: str, text: str) -> Prompt:
    """Return the prompt that a file's text holds; ``name`` is the file's.

    Raises:
        PromptError: the text is not of the form that this module describes.
    """
    parts = _PARTS.match(text.replace("\r\n", "\n"))
    if parts is None:
        raise PromptError(f"Prompt {name!r} must be '---', key: value lines, '---', '# system' and '# user'.")
    matter = _matter(name, parts["matter"])
    variables, inline = _names(matter["variables"]), _names(matter.get("inline", ""))
    _check(name, matter, variables, inline, parts["system"], parts["user"])
    purpose = next(one for one in get_args(Purpose) if one == matter["purpose"])
    return Prompt(
        name=name,
        version=matter["version"],
        purpose=purpose,
        variables=variables,
        inline=inline,
        reply_name=matter["reply"],
        items=matter.get("items", ""),
        max_output_tokens=int(matter.get("max_output_tokens", "4096")),
        system=parts["system"].strip(),
        user=parts["user"].strip(),
    )


def _matter(name: str, text: str) -> dict[str, str]:
    matter: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key.strip() in matter:
            raise PromptError(f"Prompt {name!r}: the front matter's line {line!r} must be 'key: value', each key once.")
        matter[key.strip()] = value.strip()
    if not _REQUIRED <= matter.keys() <= _REQUIRED | _OPTIONAL:
        expected = f"{sorted(_REQUIRED)} and may have {sorted(_OPTIONAL)}"
        raise PromptError(f"Prompt {name!r}: the front matter needs {expected}, got {sorted(matter)}.")
    return matter


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _check(
    name: str, matter: dict[str, str], variables: tuple[str, ...], inline: tuple[str, ...], system: str, user: str
) -> None:
    used = set(_PLACE.findall(user))
    troubles = {
        f"its name is {matter['name']!r}, its file's {name!r}": matter["name"] != name,
        f"its version {matter['version']!r} is no whole number": not matter["version"].isdecimal(),
        f"its purpose {matter['purpose']!r} is none of {get_args(Purpose)}": matter["purpose"] not in get_args(Purpose),
        f"its variables are {sorted(variables)}, its user part uses {sorted(used)}": set(variables) != used,
        f"its inline {sorted(inline)} are none of its variables": not set(inline) <= set(variables),
        "its system part holds a variable, so that no endpoint could cache it": bool(_PLACE.search(system)),
        "its max_output_tokens is no whole number": not matter.get("max_output_tokens", "1").isdecimal(),
    }
    wrong = [trouble for trouble, holds in troubles.items() if holds]
    if wrong:
        raise PromptError(f"Prompt {name!r}: {'; '.join(wrong)}.")

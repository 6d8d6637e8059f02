"""What the forms of replies are made of: spelling is forgiven (case, spaces, a list of one, null), meaning isn't."""

import re
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "Form",
    "Name",
    "Reference",
    "References",
    "Sentence",
    "Share",
    "Short",
    "When",
    "choice",
    "listed",
    "number",
    "plain",
    "references",
]

_MOST: Final = 1_000_000
_MOST_REFERENCES: Final = 100
_NUMBER: Final = re.compile(r"\s*[\[(]?\s*[A-Z]?(\d{1,6})\s*[\])]?\s*", re.IGNORECASE)


def plain(value: Any) -> Any:
    """Return a value as text: null and an empty list are nothing, a list of one is that one."""
    if value is None or value == []:
        return ""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def choice(value: Any) -> Any:
    """Return a choice as it is spelt here: "Works for" is works_for."""
    value = plain(value)
    return re.sub(r"[\s-]+", "_", value.strip().lower()) if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """Return a list; null is an empty one."""
    return [] if value is None else value


def number(value: Any) -> Any:
    """Return a reference as a number: 3, "3", "[3]" and "M3" are 3, nothing is 0."""
    if value is None or value in ("", []):
        return 0
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else value


def references(value: Any) -> Any:
    """Return the entries of a list, or a bare one, that can be references: a wrong number spoils no right one."""
    entries = value if isinstance(value, list) else [] if value is None else [value]
    read = (number(int(one) if isinstance(one, float) and one.is_integer() else one) for one in entries)
    return [one for one in read if type(one) is int and 0 < one <= _MOST][:_MOST_REFERENCES]


Name = Annotated[str, BeforeValidator(plain), Field(max_length=200)]
Short = Annotated[str, BeforeValidator(plain), Field(max_length=500)]
Sentence = Annotated[str, BeforeValidator(plain), Field(max_length=4_000)]
When = Annotated[str, BeforeValidator(plain), Field(max_length=60)]
Reference = Annotated[int, BeforeValidator(number), Field(ge=0, le=_MOST)]
References = Annotated[list[Reference], BeforeValidator(references), Field(max_length=_MOST_REFERENCES)]
Share = Annotated[float, Field(ge=0, le=1)]


class Form(BaseModel):
    """A part of a reply; what it says beyond its fields is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

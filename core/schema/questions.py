"""Bound property names: the schema's property, and behind a dot the finer one where it asks another question.

A schema's properties are broad ("occupation"), an extractor's are fine ("works_at", "works_as"). Were both kept under
the broad name, one value would replace another that stays true, so timelines run on the whole bound name
("occupation.works_at") and readers of a schema's property take all that begins with it.
"""

from typing import Final

__all__ = ["bound_name", "fine_name", "same_question", "schema_property", "under"]

_SAME: Final = (
    "lives_in residence resides_in stays_in moves_to moves_into relocates_to based_in home hometown home_town",
    "address home_address mailing_address street_address lives_at",
    "works_at works_for employed_by employed_at employer joins company",
    "occupation works_as job profession position is_profession trade career role",
    "phone phone_number telephone_number mobile_number cell_number telephone mobile",
    "email email_address e-mail",
    "located_in location headquartered_in situated_in headquarters",
    "married_to spouse wed_to marries_to husband wife",
    "status progress state",
    "likes preference loves dislikes hates fond_of fan_of enjoys",
)
"""Names that ask one question, the rules extractor's first."""
_QUESTION: Final = {name: line.split()[0] for line in _SAME for name in line.split()}
_GROUP: Final = {line.split()[0]: tuple(line.split()) for line in _SAME}


def bound_name(prop: str, fine: str) -> str:
    """Return the name under which a claim is kept that falls under a schema's property.

    >>> bound_name("residence", "moves_to"), bound_name("occupation", "works_at"), bound_name("hobby", "")
    ('residence', 'occupation.works_at', 'hobby')
    """
    asked = _QUESTION.get(fine, fine)
    return prop if asked in ("", prop, _QUESTION.get(prop, prop)) else f"{prop}.{asked}"


def fine_name(bound: str) -> str:
    """Return the name that an extractor would give to a bound property.

    >>> fine_name("residence"), fine_name("occupation.works_at"), fine_name("hobby")
    ('lives_in', 'works_at', 'hobby')
    """
    _, dot, fine = bound.partition(".")
    return fine if dot else _QUESTION.get(bound, bound)


def same_question(name: str) -> tuple[str, ...]:
    """Return the names that ask what ``name`` asks, itself among them."""
    return _GROUP.get(_QUESTION.get(name, ""), (name,))


def schema_property(bound: str) -> str:
    """Return the schema's property of a bound name.

    >>> schema_property("occupation.works_at")
    'occupation'
    """
    return bound.partition(".")[0]


def under(bound: str, prop: str) -> bool:
    """Return whether a bound name is that property or a finer one of it.

    >>> under("occupation.works_at", "occupation"), under("occupations", "occupation")
    (True, False)
    """
    return bound == prop or bound.startswith(f"{prop}.")

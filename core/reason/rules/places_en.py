"""English places and employers: which phrases after "live in" and "work at" name one, and which only tell how."""

from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.entities import TECHNOLOGY
from mindmem.core.reason.rules.phrases_en import Phrases, Value

__all__ = ["idle", "manner", "placed"]

_PART_OF: Final = frozenset(
    "downtown central northern southern eastern western north south east west upstate rural suburban greater inner"
    " outer mainland metropolitan midtown uptown old".split()
)
_HOMES: Final = frozenset(
    "house flat apartment cottage studio condo bungalow loft dorm villa cabin van houseboat townhouse duplex mansion"
    " trailer farmhouse chalet penthouse maisonette yurt boat caravan suburb village town city".split()
)
_EMPLOYERS: Final = frozenset(
    "bank hospital school university college company startup start-up firm clinic shop store restaurant hotel bakery"
    " library museum factory lab laboratory office agency studio farm pharmacy cafe café bar supermarket warehouse"
    " kindergarten nonprofit charity ngo bookstore bookshop salon gym newspaper magazine publisher brewery winery zoo"
    " nursery practice court airport".split()
)
_UNITS: Final = frozenset(
    "team department group division unit branch field sector industry trade profession business domain lab kitchen"
    " garage workshop call-centre call-center mine shipyard theatre theater church embassy ministry".split()
)
"""Parts of an employer, and fields."""
_NO_PLACE: Final = frozenset(
    "fear hope peace poverty sin luxury comfort denial misery squalor exile harmony chaos isolation solitude silence"
    " style town bed pajamas pyjamas sweats jeans leggings darkness limbo dread pain agony bliss shame secret secrecy"
    " hiding sync color colour theory practice fantasy memories memory dreams books fiction reality anticipation"
    " night nights noon midnight dawn dusk sunrise sunset weekends home height heights sea ease scale speed school"
    " church shifts teams pairs person remote lockdown"
    " christmas easter thanksgiving halloween ramadan hanukkah diwali constant perpetual complete total"
    " relative".split()
)
"""What "in" and "at" join to living and working that is no place: states, times, trades, festivals."""


def idle(value: Value) -> bool:
    """Return whether what follows "in" and "at" tells how or when rather than where ("silence", "night")."""
    return value.text.lower().split()[0] in _NO_PLACE


def manner(value: Value) -> bool:
    """Return whether what follows "work in" tells how: "a hurry", but neither "a bank" nor "a small team"."""
    low = value.text.lower().split()
    return idle(value) or (low[0] in ("a", "an") and not value.name and low[-1] not in _EMPLOYERS | _UNITS)


def placed(name: str, value: Value, phrases: Phrases) -> str:
    """Return the property of a place: ``name`` for one with a name, a looser one for a kind, "" for what is none.

    "Rome" is where somebody lives; "a small flat" is their dwelling, beside it; "the moment" and "fear" are neither.
    A message in lower case throughout may name its place so, too.
    """
    words = value.text.split()
    low = [word.lower() for word in words]
    if set(low) & {"moment", "past", "present"} or idle(value) or low[0] in TECHNOLOGY:
        return ""
    if low[0].endswith(("'s", "’s")) and len(words) > 1 and words[-1].islower():
        return ""  # "Tom's basement"
    if words[0][:1].isupper() or any(sign.isupper() for sign in words[0][1:]) or not words[0].isascii():
        return name
    if low[0] in ("a", "an"):
        kinds = _HOMES if name in ("lives_in", "resides_in", "stays_in") else _EMPLOYERS
        return ("dwelling" if kinds is _HOMES else "workplace") if low[-1] in kinds else ""
    if words[0][:1].isdigit():
        return name if value.name else ""
    if low[0] in _PART_OF and value.name:
        return name
    plain = len(words) <= 2 and low[0] not in lexicon.DEICTIC | {"the"} and phrases.beside() == phrases.beside().lower()
    return name if plain else ""

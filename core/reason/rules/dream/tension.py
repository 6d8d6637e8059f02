"""Tension: an event that doesn't go with what somebody says of themselves. It refutes nothing, so it is only flagged.

Diets are the one kind that rules know: what they leave out is general knowledge, the rest a model has to judge.
"""

import re
from typing import Final

from mindmem.core.language.words import stem, words
from mindmem.core.records import Memory

__all__ = ["in_tension"]

_MEAT: Final = (
    "meat steak beef pork ham bacon lamb veal chicken turkey duck sausage salami burger ribs fish salmon tuna shrimp"
    " prawn crab lobster oyster sushi"
).split()
_ANIMAL: Final = "cheese milk butter cream yoghurt yogurt egg eggs honey".split()
_LEFT_OUT: Final = {
    "vegetarian": frozenset(map(stem, _MEAT)),
    "vegan": frozenset(map(stem, (*_MEAT, *_ANIMAL))),
    "pescatarian": frozenset(map(stem, _MEAT[: _MEAT.index("fish")])),
}
_LEFT_OUT_CHINESE: Final = re.compile(r"牛排|牛肉|猪肉|鸡肉|羊肉|鸭肉|火腿|培根|海鲜|烤鱼|吃鱼|吃肉")
_DIET_CHINESE: Final = re.compile(r"素食|吃素|纯素")
_ATE: Final = re.compile(
    r"\b(?:ate|eaten|eat|eating|had|having|ordered|cooked|grilled|tried|tasted)\b|吃了?|点了", re.IGNORECASE
)
_NOT_REALLY: Final = re.compile(
    r"\b(?:no|not|never|vegan|vegetarian|veggie|plant|mock|without|instead)\b|n['’]t\b|没|不|素", re.IGNORECASE
)


def in_tension(state: Memory, event: Memory) -> bool:
    """Return whether ``event`` tells that its speaker ate what the diet in ``state`` leaves out."""
    if state.mem_type != "profile" or {"negated", "past"} & set(state.flags) or state.speaker != event.speaker:
        return False
    text = event.content
    if event.mem_type != "episodic" or not _ATE.search(text) or _NOT_REALLY.search(text):
        return False
    if _DIET_CHINESE.search(state.content):
        return _LEFT_OUT_CHINESE.search(text) is not None
    diet = next((name for name in _LEFT_OUT if name in words(state.content)), None)
    return diet is not None and not _LEFT_OUT[diet].isdisjoint(map(stem, words(text)))

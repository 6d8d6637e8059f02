"""Dreaming's judgements by one model, as one bundle; the survey of all memories stays with the rules."""

from typing import Final

from mindmem.core.ids import digest
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.dream_port import DreamReasoner
from mindmem.core.reason.llm.dream.act import LlmActionPlanner
from mindmem.core.reason.llm.dream.detect import LlmDetector
from mindmem.core.reason.rules.dream.survey import RulesSurveyor
from mindmem.core.settings import LlmSettings

__all__ = ["PROMPTS", "llm_dream_reasoner"]

PROMPTS: Final = ("dream_detect", "dream_act")
"""The prompts of this family."""


def llm_dream_reasoner(
    model: Model, settings: LlmSettings, *, fallback: DreamReasoner | None = None
) -> DreamReasoner:  # fmt: skip
    """Return dreaming's judgements by a model. The version changes with any of the prompts.

    Args:
        model: answers the questions.
        settings: bounds of the output.
        fallback: judges what stays unreadable, its reasons marked; None: that cluster stays pending.

    The survey reads tens of thousands of memories at once and decides nothing but what is looked at together: that is
    done by the rules in any case.
    """
    return DreamReasoner(
        name="llm",
        version=digest("prompts", *(load_prompt(name).digest for name in PROMPTS), size=6),
        survey=RulesSurveyor(),
        detect=LlmDetector(model, settings, fallback.detect if fallback else None),
        act=LlmActionPlanner(model, settings, fallback.act if fallback else None),
    )

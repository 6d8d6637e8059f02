"""The llm family: five judgements by one model, and by the rules where its extraction stays unreadable."""

from typing import Final

from mindmem.core.ids import digest
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.answer import LlmAnswerer
from mindmem.core.reason.llm.extract import LlmExtractor
from mindmem.core.reason.llm.grade import LlmGrader
from mindmem.core.reason.llm.plan_search import LlmPlanner
from mindmem.core.reason.llm.resolve import LlmResolver
from mindmem.core.reason.port import Reasoner
from mindmem.core.settings import LlmSettings

__all__ = ["PROMPTS", "llm_reasoner"]

PROMPTS: Final = ("extract", "conflict", "answer", "judge", "plan_search")
"""The prompts of this family."""


def llm_reasoner(model: Model, settings: LlmSettings, *, fallback: Reasoner | None = None) -> Reasoner:
    """Return the reasoner that asks a model. Its version changes with any of its prompts.

    Args:
        model: answers the questions.
        settings: bounds of the output.
        fallback: judges extractions and resolutions that stay unreadable, its candidates marked; None: they fail.
    """
    return Reasoner(
        name="llm",
        version=digest("prompts", *(load_prompt(name).digest for name in PROMPTS), size=6),
        extract=LlmExtractor(model, settings, fallback.extract if fallback else None),
        resolve=LlmResolver(model, settings, fallback.resolve if fallback else None),
        answer=LlmAnswerer(model, settings),
        grade=LlmGrader(model, settings),
        plan_search=LlmPlanner(model, settings),
        recalls=True,
    )

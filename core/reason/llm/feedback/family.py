"""The judgements of feedback by one model, as one bundle."""

from typing import Final

from mindmem.core.ids import digest
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.feedback_port import FeedbackReasoner
from mindmem.core.reason.llm.feedback.detect import LlmSignalDetector
from mindmem.core.reason.llm.feedback.plan import LlmCorrectionPlanner
from mindmem.core.settings import LlmSettings

__all__ = ["PROMPTS", "llm_feedback_reasoner"]

PROMPTS: Final = ("feedback_detect", "feedback_plan")
"""The prompts of this family."""


def llm_feedback_reasoner(
    model: Model, settings: LlmSettings, *, fallback: FeedbackReasoner | None = None
) -> FeedbackReasoner:  # fmt: skip
    """Return the judgements of feedback by a model. The version changes with any of the prompts.

    Args:
        model: answers the questions.
        settings: bounds of the output.
        fallback: judges what stays unreadable; None: it goes to quarantine, and nothing is changed.
    """
    return FeedbackReasoner(
        name="llm",
        version=digest("prompts", *(load_prompt(name).digest for name in PROMPTS), size=6),
        detect=LlmSignalDetector(model, settings, fallback.detect if fallback else None),
        plan=LlmCorrectionPlanner(model, settings, fallback.plan if fallback else None),
    )

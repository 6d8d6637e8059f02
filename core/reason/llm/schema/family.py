"""The bundle of MindSchema's judgements by one model, and by the rules where a reply stays unreadable."""

from typing import Final

from mindmem.core.ids import digest
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.schema.bind import LlmBinder
from mindmem.core.reason.llm.schema.describe import LlmDescriber
from mindmem.core.reason.llm.schema.match import LlmMatcher
from mindmem.core.reason.llm.schema.synthesise import LlmSynthesiser
from mindmem.core.reason.llm.segment import LlmSegmenter
from mindmem.core.reason.rules.segment import RulesSegmenter
from mindmem.core.reason.schema_port import SchemaReasoner
from mindmem.core.settings import LlmSettings

__all__ = ["PROMPTS", "llm_schema_reasoner"]

PROMPTS: Final = ("segment", "select_types", "bind", "match", "synthesise", "describe")
"""The prompts of this family."""


def llm_schema_reasoner(
    model: Model, settings: LlmSettings, *, fallback: SchemaReasoner | None = None, catch_all: bool = True
) -> SchemaReasoner:
    """Return MindSchema's judgements by a model. The version changes with any of the prompts.

    Args:
        model: answers the questions.
        settings: bounds of the output.
        fallback: judges what stays unreadable, its outcome marked where it has a place for marks; None: that fails.
            Where a dialogue parts is told by the rules in any case, lest it is not parted at all.
        catch_all: whether what fits no property is kept under the schema's catch-all one.
    """
    return SchemaReasoner(
        name="llm",
        version=digest("prompts", *(load_prompt(name).digest for name in PROMPTS), size=6),
        segment=LlmSegmenter(model, settings, fallback.segment if fallback else RulesSegmenter()),
        bind=LlmBinder(model, settings, fallback.bind if fallback else None, catch_all=catch_all),
        match=LlmMatcher(model, settings, fallback.match if fallback else None),
        synthesise=LlmSynthesiser(model, settings, fallback.synthesise if fallback else None),
        describe=LlmDescriber(model, settings, fallback.describe if fallback else None),
    )

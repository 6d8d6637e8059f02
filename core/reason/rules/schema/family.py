"""The bundle of MindSchema's judgements that needs no model."""

from mindmem.core.reason.rules.schema.bind import RulesBinder
from mindmem.core.reason.rules.schema.describe import RulesDescriber
from mindmem.core.reason.rules.schema.match import RulesMatcher
from mindmem.core.reason.rules.schema.synthesise import RulesSynthesiser
from mindmem.core.reason.rules.segment import RulesSegmenter
from mindmem.core.reason.schema_port import SchemaReasoner

__all__ = ["rules_schema_reasoner"]


def rules_schema_reasoner(*, catch_all: bool = True) -> SchemaReasoner:
    """Return MindSchema's judgements by rules; ``catch_all`` keeps what fits no property under the catch-all one."""
    return SchemaReasoner(
        name="rules",
        version="1",
        segment=RulesSegmenter(),
        bind=RulesBinder(catch_all=catch_all),
        match=RulesMatcher(),
        synthesise=RulesSynthesiser(),
        describe=RulesDescriber(),
    )

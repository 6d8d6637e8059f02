"""Dreaming's judgements by rules, as one bundle."""

from mindmem.core.reason.dream_port import DreamReasoner
from mindmem.core.reason.rules.dream.act import RulesActionPlanner
from mindmem.core.reason.rules.dream.detect import RulesDetector
from mindmem.core.reason.rules.dream.survey import RulesSurveyor

__all__ = ["rules_dream_reasoner"]


def rules_dream_reasoner() -> DreamReasoner:
    """Return the default: rules, no key, no network."""
    return DreamReasoner("rules", "1", RulesSurveyor(), RulesDetector(), RulesActionPlanner())

"""Feedback's judgements by rules, as one bundle."""

from mindmem.core.reason.feedback_port import FeedbackReasoner
from mindmem.core.reason.rules.feedback.detect import RulesSignalDetector
from mindmem.core.reason.rules.feedback.plan import RulesCorrectionPlanner

__all__ = ["rules_feedback_reasoner"]


def rules_feedback_reasoner() -> FeedbackReasoner:
    """Return the default: rules, no key, no network."""
    return FeedbackReasoner("rules", "1", RulesSignalDetector(), RulesCorrectionPlanner())

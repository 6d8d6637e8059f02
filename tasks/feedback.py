"""The task of feedback: corrections in what some users said to the assistant lately."""

from mindmem.core.feedback.receipt import FeedbackPass
from mindmem.tasks.runtime import Store, run_id, step

__all__ = ["correct_sessions"]


@step("correct-sessions", "look for corrections in recent sessions")
def correct_sessions(store: Store, user_id: str | None) -> FeedbackPass:
    """Carry out the corrections that were said since the last pass, of one user or of the whole project."""
    return store.memory().feedback_pass(user_id=user_id, run_id=run_id(), actor="flow")

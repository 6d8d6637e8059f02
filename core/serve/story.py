"""The demo's story: two conversations, what a store makes of them, three questions, a correction, an undo.

Everything here goes through the public API; nothing is prepared. The command only prints what :func:`play` returns.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mindmem.core.records import Change, Memory, Message, Receipt, SearchResult

if TYPE_CHECKING:
    from mindmem.core.memory import Memory as Store

__all__ = ["QUESTIONS", "SESSIONS", "Answer", "Story", "Told", "play"]

USER: Final = "mara"
ZONE: Final = "Europe/Lisbon"


@dataclass(frozen=True, slots=True)
class Told:
    """One conversation: its id and its lines (who, when, what)."""

    session_id: str
    lines: tuple[tuple[str, str, str], ...]

    def messages(self) -> list[dict[str, str]]:
        """Return the lines in the form that ``add`` takes."""
        return [
            {"role": "user", "name": name, "timestamp": at, "timezone": ZONE, "content": text}
            for name, at, text in self.lines
        ]


SESSIONS: Final = (
    Told(
        "moving",
        (
            ("Mara", "2024-03-04T18:02", "Big news! I moved to Lisbon last month."),
            ("Jonas", "2024-03-04T18:03", "Wow! I still live in Hamburg with my two cats."),
            ("Mara", "2024-03-04T18:05", "I joined the climbing gym, my locker number is 217."),
            ("Jonas", "2024-03-04T18:06", "Funny, my locker number is 271."),
            ("王芳", "2024-03-04T18:08", "我下周二去北京出差。"),
            ("Mara", "2024-03-04T18:10", "For the photo site use the password: tR4m-28-Alfama-x9"),
        ),
    ),
    Told(
        "porto",
        (
            ("Jonas", "2024-05-21T09:14", "How is life by the sea?"),
            ("Mara", "2024-05-21T09:15", "Actually, I live in Porto now, since May 1st."),
            ("Mara", "2024-05-21T09:16", "I work at a bakery there."),
        ),
    ),
)
QUESTIONS: Final = ("Where does Mara live?", "What is Jonas's locker number?", "王芳什么时候去北京？")
MISTAKE: Final = "I am allergic to peanuts."
"""Pasted into the wrong conversation; the story takes it back."""
ASKED_TWICE: Final = "What is Mara allergic to?"
"""Asked before and after the mistake is undone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what search found for it, best first."""

    question: str
    result: SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happened: the memories in the order of their sources, the stored form of every supporting message by its
    text as it was said, the answers, the timeline of the corrected claim, and the undone mistake."""

    receipts: tuple[Receipt, ...]
    memories: tuple[Memory, ...]
    stored: tuple[Message, ...]
    answers: tuple[Answer, ...]
    timeline: tuple[Memory, ...]
    mistake: Receipt
    before_undo: SearchResult
    undone: Change
    after_undo: SearchResult


def play(store: "Store") -> Story:
    """Tell the story to a store and return what it made of it."""
    receipts = tuple(store.add(told.messages(), user_id=USER, session_id=told.session_id) for told in SESSIONS)
    memories = tuple(sorted(store.scroll(user_id=USER).memories, key=_told_order))
    stored = {message.message_id: message for memory in memories for message in store.evidence(memory.memory_id)}
    answers = tuple(
        Answer(question, store.search(question, user_id=USER, top_k=3, evidence=True)) for question in QUESTIONS
    )
    corrected = answers[0].result.hits
    timeline = tuple(store.timeline(corrected[0].memory.memory_id)) if corrected else ()
    line = {"role": "user", "name": "Mara", "timestamp": "2024-05-21T09:20", "timezone": ZONE, "content": MISTAKE}
    mistake = store.add([line], user_id=USER, session_id="porto")
    before = store.search(ASKED_TWICE, user_id=USER, top_k=1)
    undone = store.undo(mistake.changes[-1].change_id)
    return Story(
        receipts=receipts,
        memories=memories,
        stored=tuple(stored.values()),
        answers=answers,
        timeline=timeline,
        mistake=mistake,
        before_undo=before,
        undone=undone,
        after_undo=store.search(ASKED_TWICE, user_id=USER, top_k=1),
    )


def _told_order(memory: Memory) -> tuple[str, str]:
    said = memory.observed_at.isoformat() if memory.observed_at else ""
    return said, memory.content

"""The records: frozen values that every layer speaks in."""

from mindmem.core.records.change import Change, Counts, Receipt
from mindmem.core.records.edge import Edge, Relation
from mindmem.core.records.entity import Entity
from mindmem.core.records.llm_call import LlmCall, Purpose, Spent
from mindmem.core.records.memory import Memory, MemType, Source, Status, TimePrecision
from mindmem.core.records.message import Message, Turn, Window
from mindmem.core.records.plan import Action, Operation, Plan, Skip
from mindmem.core.records.query import Explanation, Hit, Page, SearchResult
from mindmem.core.records.scope import Partition, Scope

__all__ = [
    "Action",
    "Change",
    "Counts",
    "Edge",
    "Entity",
    "Explanation",
    "Hit",
    "LlmCall",
    "MemType",
    "Memory",
    "Message",
    "Operation",
    "Page",
    "Partition",
    "Plan",
    "Purpose",
    "Receipt",
    "Relation",
    "Scope",
    "SearchResult",
    "Skip",
    "Source",
    "Spent",
    "Status",
    "TimePrecision",
    "Turn",
    "Window",
]

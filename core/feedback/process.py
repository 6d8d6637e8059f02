"""Carry out the corrections of one message: detect, recall, search where that is too little, decide, apply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core import retrieve
from mindmem.core.apply import Request
from mindmem.core.errors import ScopeChanged
from mindmem.core.feedback.changes import Decided, Outcome, State, planned, settled
from mindmem.core.feedback.claims import adopted, claim_of, sentence
from mindmem.core.feedback.receipt import Corrected, FeedbackReceipt
from mindmem.core.feedback.terms import bound, plain
from mindmem.core.identity import traces
from mindmem.core.ingest.failure import ExtractionFailed, reply_aside
from mindmem.core.ingest.memories import entity_of_name, new_memory
from mindmem.core.language.words import is_blank
from mindmem.core.lifecycle import derived
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.feedback_port import Correction, CorrectionRequest, Signal, SignalRequest
from mindmem.core.reason.port import Candidate, Failed, Judged, Verdict
from mindmem.core.records import Action, Change, Memory, Message, Plan, Scope
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

__all__ = ["Round", "correct", "signals_of"]

_TRIES: Final = 8
_FOUND: Final = 10
"""Memories that the one supplemental search brings at most."""
_CONTEXT: Final = 300
"""Characters of what was said before that go into a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Messages in order, the last of which carries ``signals``; ``recalled`` are ids of memories that the assistant had
    at hand. ``known`` says that the message is in the store already."""

    scope: Scope
    messages: tuple[Message, ...]
    signals: tuple[Signal, ...]
    recalled: tuple[str, ...] = ()
    known: bool = False

    @property
    def message(self) -> Message:
        """Return the message that carries the signals."""
        return self.messages[-1]

    @property
    def before(self) -> str:
        """Return what was said right before it: the assistant's last words and the user's, as far as they are given."""
        return "\n".join(one.content for one in self.messages[-3:-1])


async def signals_of(services: Services, requests: Sequence[SignalRequest]) -> list[tuple[Signal, ...]]:
    """Return the signals of each request. What a model wrote that can't be read gives none and goes to quarantine.

    Raises:
        ExtractionFailed: a model was asked and may answer later; or feedback that was handed in could not be read.
        BudgetReached: the model may not be asked any more.
    """
    verdicts = await services.feedback_reasoner.detect.detect(requests)
    return [_heard(services, request, verdict) for request, verdict in zip(requests, verdicts, strict=True)]


def _heard(
    services: Services, request: SignalRequest, verdict: Verdict[tuple[Signal, ...]]
) -> tuple[Signal, ...]:  # fmt: skip
    if isinstance(verdict, Judged):
        return verdict.value
    if isinstance(verdict, Failed):
        last = request.messages[-1]
        if not verdict.transient:
            _set_aside(services, last, verdict)
        if verdict.transient or request.explicit:
            why = f"Feedback could not be read: {verdict.reason}"
            raise ExtractionFailed(why, transient=verdict.transient, raw=verdict.raw)
    return ()


def _set_aside(services: Services, message: Message, failed: Failed) -> None:
    """Keep a reply that can't be used where people look for such."""
    item = reply_aside(message.scope, message.message_id, "feedback", failed.reason, failed.raw)
    services.ledger.quarantine([item])


async def correct(services: Services, work: Round, request: Request) -> FeedbackReceipt:
    """Decide what a round's signals change on the scope's present state, apply it as one change, and say what was done.

    Raises:
        ExtractionFailed: a model was asked and may answer later; nothing was written.
        BudgetReached: the model may not be asked any more; nothing was written.
        StoreBusy, StoreUnavailable: the store can't be written; nothing was.
    """
    with charged_to(work.scope, request.run_id):
        for attempt in range(_TRIES):
            base = services.ledger.scope_state(work.scope.partition).version
            caught_up(services)
            decided, searched = await _decided(services, work)
            plan, outcomes = planned(
                decided, work.scope, {work.message.message_id: work.message}, _fresh(services, work),
                _state(services, work, decided, base),
            )  # fmt: skip
            corrections = tuple(
                Corrected(one.signal, outcome.op, outcome.reason, outcome.memory_id, outcome.targets, query)
                for one, outcome, query in zip(decided, outcomes, searched, strict=True)
            )
            if not plan.actions:
                return FeedbackReceipt(corrections=corrections, reason=_why(corrections))
            plan = derived(services, _traced(services, plan, outcomes))
            try:
                change = services.applier.apply(plan, replace(request, result=_result(plan)))
            except ScopeChanged:
                if attempt == _TRIES - 1:
                    raise
                continue
            return FeedbackReceipt(changes=(change,), corrections=corrections, actions=_recorded(plan, change))
    raise AssertionError("unreachable")


async def _decided(services: Services, work: Round) -> tuple[list[Decided], list[str]]:
    own = _own(services, work)
    given = _owned(work.scope, services.projector.index.get(list(work.recalled)).values())
    decided: list[Decided] = []
    searched: list[str] = []
    for signal in work.signals:
        known = given
        claim = await _claim(services, work, signal, sentence(signal.statement))
        asked = CorrectionRequest(
            signal=replace(signal, statement=sentence(signal.statement)) if not signal.fragment else signal,
            claim=claim,
            recalled=_shown(services, given, own),
            own=_shown(services, own),
            speaker=work.message.name or "user",
            before=work.before,
        )
        verdict = await _asked(services, asked)
        query = ""
        if not isinstance(verdict, Judged) or verdict.value.op == "search":
            query = (verdict.value.query if isinstance(verdict, Judged) else "") or _query(signal, work.before)
            found = _search(services, work.scope, query) if not is_blank(query) else []
            known = list({one.memory_id: one for one in (*known, *found)}.values())
            asked = replace(asked, recalled=_shown(services, known, own), last=True)
            verdict = await _asked(services, asked)
        correction = verdict.value if isinstance(verdict, Judged) else Correction("none", "nobody can tell")
        if isinstance(verdict, Failed):
            _set_aside(services, work.message, verdict)
            correction = Correction("none", "what the model wrote can't be read; it is in quarantine")
        decided.append(await _vetted(services, work, asked, correction, (*known, *own)))
        searched.append(query)
    return settled(decided), searched


async def _asked(services: Services, request: CorrectionRequest) -> Verdict[Correction]:
    [verdict] = await services.feedback_reasoner.plan.plan([request])
    if isinstance(verdict, Failed) and verdict.transient:
        raise ExtractionFailed(f"Feedback could not be judged: {verdict.reason}", transient=True)
    return verdict


def _shown(services: Services, known: Sequence[Memory], but: Sequence[Memory] = ()) -> tuple[Memory, ...]:
    apart = {one.memory_id for one in but}
    return tuple(plain(services, one) for one in known if one.memory_id not in apart)


async def _vetted(
    services: Services, work: Round, asked: CorrectionRequest, wanted: Correction, known: Sequence[Memory]
) -> Decided:  # fmt: skip
    """Return what may be done: targets among what was shown, as they are, and a claim for all that is to be kept."""
    shown = {one.memory_id: one for one in known}
    targets = tuple(shown[name] for name in dict.fromkeys(wanted.targets) if name in shown)
    if wanted.op in ("none", "delete", "search"):  # what changes nothing may still be at odds with what is said next
        return Decided(asked.signal, wanted, asked.claim if wanted.op == "none" else None, targets)
    claim = asked.claim
    if claim is None or wanted.content != claim.content:
        claim = await _claim(services, work, replace(asked.signal, fragment=False), wanted.content)
    if claim is None:
        return Decided(asked.signal, Correction("none", "there is nothing to keep"))
    about = adopted(claim, wanted, targets[0]) if targets else claim
    if about is claim or about.property_name == claim.property_name:
        about = await bound(services, work.message, about)
    return Decided(asked.signal, wanted, about, targets)


async def _claim(services: Services, work: Round, signal: Signal, content: str) -> Candidate | None:
    if signal.fragment or not any(map(str.isalnum, content)):
        return None
    zone = work.message.timezone or services.settings.timezone
    return await claim_of(services.reasoner.extract, work.message, signal, content, zone)


# -- what is known


def _own(services: Services, work: Round) -> tuple[Memory, ...]:
    """Return the active memories that were made of the message itself."""
    if not work.known:
        return ()
    owner = work.scope.partition
    edges = services.reader.edges(owner, dst=[work.message.message_id], relation="EXTRACTED_FROM")
    found = services.projector.index.get(sorted({edge.src for edge in edges})).values()
    return tuple(one for one in found if one.status == "active" and one.order == 1 and _only(one, work.message))


def _only(memory: Memory, message: Message) -> bool:
    return all(source.message_id == message.message_id for source in memory.sources)


def _owned(scope: Scope, memories: object) -> list[Memory]:
    """Those active memories that are of this very owner and were said, not synthesised."""
    owner = scope.without_session()
    return [
        one
        for one in memories  # type: ignore[attr-defined]
        if one.status == "active" and one.order == 1 and one.scope.without_session() == owner
    ]


def _search(services: Services, scope: Scope, query: str) -> list[Memory]:
    request = retrieve.Request(query=query, scope=scope.without_session(), top_k=_FOUND, strategy="fast")
    return _owned(scope, [hit.memory for hit in retrieve.search(services, request).hits])


def _query(signal: Signal, before: str) -> str:
    """Return the question for what a signal is about: its own words, and what it answers to where they say little."""
    said = " ".join(part for part in (signal.rejected, signal.statement) if part)
    return f"{said} {before[-_CONTEXT:]}".strip() if signal.fragment or not said else said


def _state(services: Services, work: Round, decided: Sequence[Decided], base: int) -> State:
    claims = [one.claim for one in decided if one.claim is not None]
    messages = {work.message.message_id: work.message}
    memories = [new_memory(claim, work.scope, messages) for claim in claims]
    hashes = sorted({memory.content_hash for memory in memories})
    active = services.ledger.active_claims(work.scope.key, hashes)
    index = services.projector.index
    stored = index.get(sorted(active.values()))
    named = {memory.entity_id for memory in memories} | {
        mention.entity_id or entity_of_name(work.scope, mention.name) for claim in claims for mention in claim.mentions
    }
    return State(
        base=base,
        claims={name: stored[memory_id] for name, memory_id in active.items() if memory_id in stored},
        recorded=index.get(sorted({memory.memory_id for memory in memories})),
        entities=frozenset(services.ledger.heads("entity", sorted(named - {""}))),
        now=services.clock.now(),
    )


def _fresh(services: Services, work: Round) -> frozenset[str]:
    name = work.message.message_id
    return frozenset() if work.known or services.ledger.heads("message", [name]) else frozenset({name})


# -- applying


def _traced(services: Services, plan: Plan, outcomes: Sequence[Outcome]) -> Plan:
    """Return the plan with what goes along with memories that are taken out."""
    gone = {name for outcome in outcomes if outcome.op == "delete" for name in outcome.targets}
    if not gone:
        return plan
    memories = [action.memory for action in plan.actions if action.memory.memory_id in gone]
    edges, entities = traces(services, plan.scope.partition, memories)
    kept = {action.memory.entity_id for action in plan.actions if action.memory.status == "active"}
    orphaned = tuple(one for one in entities if one.entity_id not in kept)
    return replace(plan, edges=(*plan.edges, *edges), entities=(*plan.entities, *orphaned))


def _why(corrections: Sequence[Corrected]) -> str:
    return "; ".join(dict.fromkeys(one.reason for one in corrections))


def _result(plan: Plan) -> str:
    told = [(action.op, action.memory.memory_id, action.reason) for action in plan.actions]
    return json.dumps({"actions": told}, ensure_ascii=False)


def _recorded(plan: Plan, change: Change) -> tuple[Action, ...]:
    stamp: Mapping[str, object] = {
        "recorded_at": change.recorded_at, "change_id": change.change_id, "seq": change.seq,
    }  # fmt: skip
    return tuple(replace(action, memory=replace(action.memory, **stamp)) for action in plan.actions)  # type: ignore[arg-type]

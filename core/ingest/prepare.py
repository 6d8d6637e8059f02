"""The first half of an add: from messages to deduplicated candidates with their vectors, without any lock.

normalise, redact, turns, windows, recall of what is known around them, extract, dedupe, embed. Nothing of it is
written, so it can be done for several adds at a time, on one state of the store.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mindmem.core import ids
from mindmem.core.embed.port import Embedding
from mindmem.core.errors import bounded
from mindmem.core.ingest.dedupe import Deduped, dedupe
from mindmem.core.ingest.failure import ExtractionFailed, reply_aside
from mindmem.core.ingest.memories import new_memory
from mindmem.core.ingest.recall import passages, recall_window
from mindmem.core.ingest.request import AddRequest, add_id_of, checked, earlier, identified, repeated
from mindmem.core.ingest.shown import Pins, recovered
from mindmem.core.ingest.turns import group_turns
from mindmem.core.ingest.windows import pack_windows
from mindmem.core.ledger.port import Joined, Quarantined
from mindmem.core.llm.port import charged_to
from mindmem.core.reason.port import Candidate, Envelope, Extraction, Failed, Judged, Unsure, Verdict
from mindmem.core.records import Memory, Message, Receipt, Skip, Window
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

if TYPE_CHECKING:
    from mindmem.core.schema.steps import Subgraph

__all__ = ["Heard", "Prepared", "enveloped", "listen", "parted", "prepare"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Heard:
    """A checked add with what is new in it, cut into windows; ``said`` are its messages, known ones too."""

    request: AddRequest
    metadata: Mapping[str, object]
    fresh: tuple[Message, ...]
    skips: tuple[Skip, ...]
    windows: tuple[Window, ...]
    digest: str
    joined: tuple[Joined, ...] = ()
    episodes: tuple[tuple[Message, ...], ...] = ()
    """Schema mode: the messages by episode."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an add comes to before the store's state is looked at; ``rejected`` are what extraction could not read."""

    request: AddRequest
    metadata: Mapping[str, object]
    messages: tuple[Message, ...]
    skips: tuple[Skip, ...]
    candidates: Deduped
    memories: tuple[Memory, ...]
    embeddings: Mapping[str, Embedding]
    windows: int
    digest: str
    rejected: tuple[Quarantined, ...] = ()
    joined: tuple[Joined, ...] = ()
    subgraph: "Subgraph | None" = None
    """Schema mode: the episodes, and what the candidates are bound to."""


def listen(services: Services, request: AddRequest) -> Heard | Receipt:
    """Check an add, and those joined with it, and cut what is new in them into windows; the receipt of one that was
    committed before.

    Raises:
        InvalidInput, Conflict: see ``Memory.add``.
    """
    heard = [_listen(services, part) for part in request.joined or (request,)]
    new = [part for part in heard if isinstance(part, Heard)]
    if not new:
        return heard[0]
    return new[0] if len(new) == 1 else _together(services, new)


def _together(services: Services, parts: Sequence[Heard]) -> Heard:
    """Return several adds as one: the first one's request, and the messages of all."""
    first, *others = parts
    fresh = _placed(parts)
    scopes = {part.request.scope for part in parts}
    scope = first.request.scope if len(scopes) == 1 else first.request.scope.without_session()
    return replace(
        first,
        request=replace(first.request, scope=scope, joined=tuple(part.request for part in parts)),
        fresh=fresh,
        skips=tuple(skip for part in parts for skip in part.skips),
        windows=_windows(services, fresh, fresh),
        joined=tuple(Joined(part.request.key, part.digest, part.request.done) for part in others),
    )


def _placed(parts: Sequence[Heard]) -> tuple[Message, ...]:
    """Return the messages of all parts; where nobody gave their positions, they go on from one part to the next."""
    messages: list[Message] = []
    following: Counter[str] = Counter()
    for part in parts:
        items = part.request.messages
        told = isinstance(items, Sequence) and any(
            isinstance(one, Mapping) and one.get("position") is not None for one in items
        )
        begin = Counter() if told else Counter(following)
        for message in part.fresh:
            session = message.scope.session_id
            messages.append(replace(message, position=message.position + begin[session]))
            following[session] = max(following[session], messages[-1].position + 1)
    return tuple(messages)


def _listen(services: Services, request: AddRequest) -> Heard | Receipt:
    request = replace(request, add_id=request.add_id or add_id_of(request))
    normalised, metadata = checked(services, request)
    request, digest = identified(request, normalised, metadata)
    before = earlier(services, request, digest)
    if before is not None:
        return before
    known = services.ledger.heads("message", [message.message_id for message in normalised.messages])
    fresh = tuple(message for message in normalised.messages if message.message_id not in known)
    if known and not fresh:
        if request.done:
            services.ledger.drop_pending(request.done)
        changes = [services.ledger.change(change_id) for change_id in {head.change_id for head in known.values()}]
        newest = max((change for change in changes if change), key=lambda change: change.seq)
        return repeated(services, newest.change_id, {"add_id": request.add_id})
    return Heard(
        request=request,
        metadata=metadata,
        fresh=fresh,
        skips=(*normalised.skips, *(Skip(known_id, "known already") for known_id in known)),
        windows=_windows(services, fresh, normalised.messages),
        digest=digest,
    )


def _windows(services: Services, fresh: Sequence[Message], said: Sequence[Message]) -> tuple[Window, ...]:
    settings = services.settings.ingest
    turns = group_turns(fresh, settings.turn_gap_seconds)
    windows = pack_windows(turns, soft_tokens=settings.soft_tokens, hard_tokens=settings.hard_tokens)
    if windows and len(fresh) < len(said):
        return (replace(windows[0], before=_heard_before(windows[0], fresh, said)), *windows[1:])
    return windows


def _heard_before(window: Window, fresh: Sequence[Message], said: Sequence[Message]) -> tuple[Message, ...]:
    """Return the last messages that were known already and came right before a window: its context."""
    first = window.evidence[0].message_id
    place = next((i for i, message in enumerate(said) if message.message_id == first), 0)
    new = {message.message_id for message in fresh}
    return tuple(message for message in said[max(0, place - 4) : place] if message.message_id not in new)


async def parted(services: Services, heard: Heard) -> Heard:
    """Return an add with its episodes, and with windows that follow them; in vanilla mode as it is.

    Raises:
        BudgetReached: the reasoner's model may not be asked any more.
    """
    if services.settings.ingest.mode == "vanilla" or not heard.fresh:
        return heard
    from mindmem.core.schema import adding
    from mindmem.core.schema.segment import episode_windows

    settings = services.settings.ingest
    with charged_to(heard.request.scope, heard.request.run_id):
        episodes = await adding.parted(services, heard.fresh)
    windows = episode_windows(episodes, soft_tokens=settings.soft_tokens, hard_tokens=settings.hard_tokens)
    first = replace(windows[0], before=heard.windows[0].before)
    return replace(heard, windows=(first, *windows[1:]), episodes=tuple(episode.messages for episode in episodes))


def enveloped(
    services: Services, adds: Sequence[Heard], shown: Mapping[str, Pins] | None = None
) -> list[tuple[Envelope, ...]]:
    """Return the envelopes of each add, all on the store's present state, with what is known around each window.

    Args:
        shown: what adds that were prepared before had been shown, by idempotency key: they are shown it again.
    """
    if not services.reasoner.recalls:
        return [_envelopes(services, add, [()] * len(add.windows)) for add in adds]
    caught_up(services)
    shown = shown or {}
    vectors = _vectors(services, [add for add in adds if add.request.key not in shown])
    made = []
    for add in adds:
        pins, scope = shown.get(add.request.key), add.request.scope
        if pins is not None and len(pins) == len(add.windows):
            recalled = recovered(pins, scope.partition, services.reader.histories)
        else:
            recalled = [_recalled(services, add, window, vectors) for window in add.windows]
        made.append(_envelopes(services, add, recalled))
    return made


def _envelopes(services: Services, add: Heard, recalled: Sequence[tuple[Memory, ...]]) -> tuple[Envelope, ...]:
    zone, scope = add.request.timezone or services.settings.timezone, add.request.scope
    return tuple(
        Envelope(scope=scope, window=window, timezone=zone, recalled=known)
        for window, known in zip(add.windows, recalled, strict=True)
    )


def _vectors(services: Services, adds: Sequence[Heard]) -> dict[str, Embedding]:
    texts = list(dict.fromkeys(text for add in adds for window in add.windows for text in passages(window)))
    if services.embedder is None or not texts:
        return {}
    return dict(zip(texts, services.embedder.embed(texts, "query"), strict=True))


def _recalled(services: Services, add: Heard, window: Window, vectors: Mapping[str, Embedding]) -> tuple[Memory, ...]:
    scope = add.request.scope
    hashes = sorted({ids.content_hash(message.content) for message in window.evidence})
    return recall_window(
        window,
        scope,
        index=services.projector.index,
        claims=services.ledger.active_claims(scope.key, hashes),
        vectors=[vectors[text].vector for text in passages(window)] if vectors else (),
    )


async def prepare(services: Services, heard: Heard, envelopes: Sequence[Envelope]) -> Prepared:
    """Extract an add's windows, all in one call, and return what they hold.

    Raises:
        ExtractionFailed: a window could not be judged.
        BudgetReached: the reasoner's model may not be asked any more.
    """
    request = heard.request
    with charged_to(request.scope, request.run_id):
        verdicts = await services.reasoner.extract.extract(envelopes) if envelopes else []
        found = _judged(verdicts)
        extracted = [(one.window, _vetted(one, of)) for one, of in zip(envelopes, found, strict=True)]
        deduped = dedupe(extracted)
        subgraph = None
        if services.settings.ingest.mode == "schema":
            from mindmem.core.schema.adding import bound

            zone = heard.request.timezone
            subgraph = await bound(services, request.scope, zone, deduped.candidates, heard.episodes)
            deduped = replace(deduped, candidates=subgraph.candidates)
        owners = {message.message_id: message for message in heard.fresh}
        memories = [new_memory(one, request.scope, owners, heard.metadata) for one in deduped.candidates]
        # An embedder may ask an endpoint, too: other adds go on meanwhile.
        embed = services.applier.embed
        embeddings = await asyncio.to_thread(embed, memories) if services.reasoner.recalls else embed(memories)
    return Prepared(
        request=request,
        metadata=heard.metadata,
        messages=heard.fresh,
        skips=(*heard.skips, *deduped.skips),
        candidates=deduped,
        memories=tuple(memories),
        embeddings=embeddings,
        windows=len(extracted),
        digest=heard.digest,
        rejected=_rejected(request, extracted),
        joined=heard.joined,
        subgraph=subgraph,
    )


def _judged(verdicts: Sequence[Verdict[Extraction]]) -> list[Extraction]:
    """Return the extractions, or raise what went wrong: of an add, all windows are judged or none is."""
    failures = [verdict for verdict in verdicts if not isinstance(verdict, Judged)]
    if not failures:
        return [verdict.value for verdict in verdicts if isinstance(verdict, Judged)]
    # What may pass goes first: when the add is tried again, its other windows get another chance, too.
    worst = next((one for one in failures if isinstance(one, Failed) and one.transient), failures[0])
    raw = "\n\n".join(one.raw for one in failures if isinstance(one, Failed) and one.raw)
    if isinstance(worst, Unsure):
        raise ExtractionFailed(f"The reasoner could not tell what the messages say: {worst.reason}", transient=False)
    raise ExtractionFailed(f"Extraction failed: {worst.reason}", transient=worst.transient, raw=raw)


def _vetted(envelope: Envelope, extraction: Extraction) -> Extraction:
    """Return the extraction without hints at memories that the extractor was not shown."""
    shown = {memory.memory_id for memory in envelope.recalled}

    def vetted(candidate: Candidate) -> Candidate:
        hint = candidate.hint
        if hint is None or not hint.target or hint.target in shown:
            return candidate
        log.warning("a hint names an unknown memory %s: taken as new", bounded(hint.target, 40))
        return replace(candidate, hint=None)

    return replace(extraction, candidates=tuple(map(vetted, extraction.candidates)))


def _rejected(request: AddRequest, extracted: Sequence[tuple[Window, Extraction]]) -> tuple[Quarantined, ...]:
    items = (
        reply_aside(request.scope, window.evidence[0].message_id, f"reply:{request.add_id}", reason, raw)
        for window, extraction in extracted
        for reason, raw in extraction.rejected
    )
    return tuple({item.quarantine_id: item for item in items}.values())

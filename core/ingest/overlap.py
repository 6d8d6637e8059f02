"""Several adds at a time, where a model is asked: their extractions overlap, their commits keep the order.

A wave of adds is prepared on one state of the store, whatever the number of calls in flight, so what comes of it does
not depend on that number. Then each user's adds are committed in the order in which they came; users don't wait for
each other, since what one says changes nothing for another. Without a model a wave is one add.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from mindmem.core.cancel import Cancelled, until_cancelled
from mindmem.core.errors import BudgetReached, EmbedderMismatch, ModelUnavailable
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.pipeline import commit
from mindmem.core.ingest.prepare import Heard, Prepared, enveloped, listen, parted, prepare
from mindmem.core.ingest.request import AddRequest
from mindmem.core.ingest.shown import Pins, note, noted
from mindmem.core.reason.port import Envelope
from mindmem.core.records import Partition, Receipt
from mindmem.core.services import Services

__all__ = ["Outcome", "add_wave", "stops", "unanswered", "wave_size"]

Outcome: TypeAlias = Receipt | Exception


def wave_size(services: Services) -> int:
    """Return how many adds are prepared at a time."""
    return services.settings.ingest.overlap if services.reasoner.recalls else 1


def stops(outcomes: Sequence[Outcome]) -> Exception | None:
    """Return the error after which further adds would only fail as well, None where they may go on.

    That is a budget that is spent, a run that was cancelled, a store that can't be written now, and a model that
    answered for none of the adds. An add that alone could not be judged stops nobody.
    """
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    unheard = [error for error in errors if unanswered(error)]
    if unheard and len(unheard) == len(outcomes):
        return unheard[0]
    return next((error for error in errors if _halts(error)), None)


def unanswered(error: Exception) -> bool:
    """Whether no model has said anything of an add: neither the reasoner's nor the embedder, or not the right one."""
    if isinstance(error, ExtractionFailed):
        return not error.raw
    return isinstance(error, ModelUnavailable | EmbedderMismatch)


def _halts(error: Exception) -> bool:
    """Whether an error is no matter of the add that met it."""
    if isinstance(error, ExtractionFailed):
        return False
    return isinstance(error, BudgetReached | Cancelled) or bool(getattr(error, "transient", False))


async def add_wave(services: Services, requests: Iterator[AddRequest]) -> list[Outcome]:
    """Carry out the next adds of ``requests``, and return what came of each, in order; empty when there are no more.

    A wave ends early at an add that is refused at once, so that the caller can bring it in another form in its place.
    What follows the error that ``stops`` names is not tried: it gets the same error.
    """
    wave = _Wave(services)
    for request in requests:
        if not wave.take(request) or len(wave.outcomes) == wave_size(services):
            break
    try:
        await until_cancelled(wave.run())
    except Cancelled as error:
        wave.outcomes = [outcome or error for outcome in wave.outcomes]
    return [outcome for outcome in wave.outcomes if outcome is not None]


@dataclass(slots=True)
class _Wave:
    """The adds of a wave, by place; ``outcomes`` has None where one is still to be carried out."""

    services: Services
    outcomes: list[Outcome | None] = field(default_factory=list)
    halted: Exception | None = None
    heard: dict[int, Heard] = field(default_factory=dict)

    def take(self, request: AddRequest) -> bool:
        """Hear one more add; False where it was refused."""
        try:
            heard = listen(self.services, request)
        except Exception as error:
            self.outcomes.append(error)
            return False
        if isinstance(heard, Receipt):
            self.outcomes.append(heard)
        else:
            self.heard[len(self.outcomes)] = heard
            self.outcomes.append(None)
        return True

    async def run(self) -> None:
        """Prepare all adds at once, and commit them by partition in order."""
        if not self.heard:
            return
        try:
            parting = (parted(self.services, heard) for heard in self.heard.values())
            self.heard = dict(zip(self.heard, await asyncio.gather(*parting), strict=True))
            envelopes = self._enveloped()
        except Exception as error:
            self.outcomes = [outcome or error for outcome in self.outcomes]
            return
        lanes: dict[Partition, list[int]] = defaultdict(list)
        preparing: dict[int, asyncio.Future[Prepared]] = {}
        for (place, heard), shown in zip(self.heard.items(), envelopes, strict=True):
            lanes[heard.request.scope.partition].append(place)
            preparing[place] = asyncio.ensure_future(prepare(self.services, heard, shown))
        try:
            await asyncio.gather(*(self._commit(lane, preparing) for lane in lanes.values()))
            # What was asked is paid for: its reply comes to the cache though the wave has stopped.
            await asyncio.gather(*preparing.values(), return_exceptions=True)
        finally:
            for task in preparing.values():
                task.cancel()

    def _enveloped(self) -> list[tuple[Envelope, ...]]:
        services, adds = self.services, list(self.heard.values())
        if not services.reasoner.recalls or wave_size(services) == 1:
            return enveloped(services, adds)
        project = services.settings.project_id
        shown = noted(services.ledger, project, [heard.request.key for heard in adds])
        made = enveloped(services, adds, shown)
        new: dict[str, Pins] = {
            heard.request.key: [[(one.memory_id, one.revision) for one in each.recalled] for each in envelopes]
            for heard, envelopes in zip(adds, made, strict=True)
            if heard.request.key and heard.request.key not in shown
        }
        if new:
            note(services.ledger, project, new)
        return made

    async def _commit(self, lane: Sequence[int], preparing: Mapping[int, Awaitable[Prepared]]) -> None:
        for place in lane:
            if self.halted is None:
                self.outcomes[place] = await self._outcome(preparing[place])
            else:
                self.outcomes[place] = self.halted

    async def _outcome(self, preparing: Awaitable[Prepared]) -> Outcome:
        try:
            return await commit(self.services, await preparing)
        except Exception as error:
            if _halts(error):
                self.halted = error
            return error

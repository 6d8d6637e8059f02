"""Extractors that wait as an endpoint makes them wait, and do as a test says: rules in all else."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from mindmem.core.reason.port import Envelope, Extraction, Reasoner, Verdict
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.services import rules_reasoner

__all__ = ["Script", "WaitingExtractor", "waiting"]

Script = Callable[[Envelope], Verdict[Extraction] | Exception | None]
"""What is said of a window instead of what the rules say; an exception is raised."""


class WaitingExtractor:
    """Waits ``seconds`` for each window, ``most`` of them at a time, and notes what it was asked."""

    def __init__(self, seconds: float = 0.0, most: int = 16, script: Script | None = None) -> None:
        self.calls: list[Sequence[Envelope]] = []
        self.seconds = seconds
        self.most = most
        self.script = script
        self.in_flight = self.peak = 0

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        self.calls.append(envelopes)
        return list(await asyncio.gather(*map(self._window, envelopes)))

    async def _window(self, envelope: Envelope) -> Verdict[Extraction]:
        while self.in_flight >= self.most:
            await asyncio.sleep(self.seconds / 20)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.in_flight -= 1
        said = self.script(envelope) if self.script else None
        if isinstance(said, Exception):
            raise said
        if said is not None:
            return said
        [verdict] = await RulesExtractor().extract([envelope])
        return verdict


def waiting(extractor: WaitingExtractor) -> Reasoner:
    """Return the rules with that extractor, as a family that asks an endpoint."""
    return replace(rules_reasoner(), name="scripted", extract=extractor, recalls=True)

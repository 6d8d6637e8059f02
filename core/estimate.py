"""What an ingest would ask of models: the files are read and cut as the ingest would, and nothing is asked or written.

What is sent is measured on the very prompts, so it is as good as the estimate of tokens. What comes back is not known
before: it is taken from the usual number and length of memories, as is what is recalled. What binding to a schema asks
is taken from the number of memories alone.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mindmem.core.errors import InvalidInput
from mindmem.core.ids import random_id
from mindmem.core.ingest.inbox.batches import Batch, Rejected, Source, read_batches
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.lines import read_lines
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.normalise import normalise
from mindmem.core.ingest.turns import group_turns
from mindmem.core.ingest.windows import pack_windows
from mindmem.core.ledger.port import Ledger
from mindmem.core.llm.budget import price_of
from mindmem.core.prompts.library import Prompt, load_prompt
from mindmem.core.reason.llm.evidence import evidence_of, render_context, render_evidence
from mindmem.core.reason.llm.replies import ExtractReply
from mindmem.core.reason.llm.resolve import BATCH
from mindmem.core.reason.llm.schema import bind, describe, match
from mindmem.core.reason.port import Envelope
from mindmem.core.records import Window
from mindmem.core.records.llm_call import Purpose
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import Settings
from mindmem.core.spending import existing_ledger

__all__ = ["Estimate", "Forecast", "estimate_ingest"]

_MEMORIES_PER_MESSAGE: Final = 0.5
_CLAIM_TOKENS: Final = 40
"""A memory as one line: recalled, asked about, or embedded with its context."""
_ITEM_TOKENS: Final = 120
"""A memory as an item of an extraction's reply, with all its fields."""
_DECISION_TOKENS: Final = 40
_SCHEMA_TOKENS: Final = 1_500
"""The types and properties that one question of binding shows."""
_NAMES_PER_MEMORY: Final = 0.5
_MEMORIES_PER_ENTITY: Final = 6
_NEAR: Final = 5
"""Claims and known entities that stand beside one name."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one prompt (empty: the embedder) would come to; ``cost`` is None where the settings have no price."""

    prompt: str
    purpose: Purpose
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What an ingest would take in and ask. ``known`` files were taken before, ``set_aside`` lines can't be read."""

    files: int
    known: int
    messages: int
    set_aside: int
    windows: int
    forecasts: tuple[Forecast, ...]

    @property
    def cost(self) -> float | None:
        """Return what all of it would cost; None where a price is missing."""
        costs = [forecast.cost for forecast in self.forecasts]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def estimate_ingest(settings: Settings, path: Path, user_id: str | None = None) -> Estimate:
    """Return what ``mindmem ingest`` would ask for the files at ``path`` if a model were the reasoner.

    Raises:
        InvalidInput: there is nothing at ``path``.
        StoreUnavailable: the ledger, which knows what was taken before, can't be read.
    """
    count = _Count(settings)
    source = Source(settings.project_id, user_id, settings.ingest.max_message_chars)
    with existing_ledger(settings) as ledger:
        for file in find_files(path):
            if isinstance(file, InboxFile):
                count.file(file, source, ledger)
    return count.estimate()


class _Count:
    """Counts what files hold."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prompt = load_prompt("extract")
        self._fixed = _schema_tokens(self._prompt) + settings.ingest.recall_top * _CLAIM_TOKENS
        self.files = self.known = self.messages = self.set_aside = self.windows = 0
        self.calls = self.input_tokens = self.evidence = 0

    def file(self, file: InboxFile, source: Source, ledger: Ledger | None) -> None:
        log = InboxLog(ledger, source) if ledger else None
        if log and log.finished(file):
            self.known += 1
            return
        self.files += 1
        taken = log.known(file) if log else frozenset()
        for item in read_batches(file, read_lines(file.path), source, taken.__contains__):
            if isinstance(item, Rejected):
                self.set_aside += 1
                continue
            for window in self._windows(item):
                self._window(item, window)

    def _windows(self, batch: Batch) -> Sequence[Window]:
        knobs = self._settings.ingest
        try:
            said = normalise(
                batch.messages, batch.scope, zone=self._settings.timezone, add_id=random_id("add"),
                max_chars=knobs.max_message_chars,
            )  # fmt: skip
        except InvalidInput:
            self.set_aside += len(batch.messages)
            return ()
        self.messages += len(said.messages)
        turns = group_turns(said.messages, knobs.turn_gap_seconds)
        return pack_windows(turns, soft_tokens=knobs.soft_tokens, hard_tokens=knobs.hard_tokens)

    def _window(self, batch: Batch, window: Window) -> None:
        zone = self._settings.timezone
        envelope = Envelope(scope=batch.scope, window=window, timezone=zone)
        shown, _ = evidence_of(envelope)
        self.windows += 1
        if not shown:
            return
        question = self._prompt.question(
            ExtractReply, zone=zone, recalled="", context=render_context(envelope, shown),
            evidence=render_evidence(shown, zone),
        )  # fmt: skip
        self.calls += 1
        self.evidence += len(shown)
        self.input_tokens += self._fixed + estimate_tokens(question.system) + estimate_tokens(question.user)

    def estimate(self) -> Estimate:
        return Estimate(
            files=self.files,
            known=self.known,
            messages=self.messages,
            set_aside=self.set_aside,
            windows=self.windows,
            forecasts=tuple(self._forecasts()),
        )

    def _forecasts(self) -> Iterator[Forecast]:
        settings = self._settings
        memories = round(self.evidence * _MEMORIES_PER_MESSAGE)
        yield self._forecast(
            self._prompt.name, self._prompt.purpose, self.calls, self.input_tokens, memories * _ITEM_TOKENS
        )
        conflict = load_prompt("conflict")
        asked = -(-memories // BATCH)
        fixed = estimate_tokens(conflict.system) + estimate_tokens(conflict.user) + _schema_tokens(conflict)
        beside = memories * (1 + settings.ingest.recall_top) * _CLAIM_TOKENS
        yield self._forecast(
            conflict.name, conflict.purpose, asked, asked * fixed + beside, memories * _DECISION_TOKENS
        )
        if settings.ingest.mode == "schema":
            yield from self._of_schema(memories)
        if settings.embedder == "openai":
            requests = -(-memories // settings.embed.batch)
            yield self._forecast("", "embed", requests, memories * _CLAIM_TOKENS, 0)

    def _of_schema(self, memories: int) -> Iterator[Forecast]:
        """What is asked in the mode ``schema`` beside: where episodes end, and what their memories belong to."""
        names = round(memories * _NAMES_PER_MEMORY)
        entities = -(-memories // _MEMORIES_PER_ENTITY)
        said = max(0, self.input_tokens - self.calls * (self._fixed + estimate_tokens(self._prompt.system)))
        binds = max(min(self.calls, memories), -(-memories // bind.BATCH))
        asked = (
            ("segment", self.calls, said, self.calls * _DECISION_TOKENS),
            ("bind", binds, said + binds * _SCHEMA_TOKENS + memories * _CLAIM_TOKENS, memories * _DECISION_TOKENS),
            ("match", -(-names // match.BATCH), names * 2 * _NEAR * _CLAIM_TOKENS, names * _CLAIM_TOKENS),
            ("synthesise", entities, memories * _CLAIM_TOKENS, entities * _ITEM_TOKENS),
            ("describe", -(-entities // describe.BATCH), memories * _CLAIM_TOKENS, entities * _ITEM_TOKENS),
        )
        for name, calls, sent, written in asked:
            prompt = load_prompt(name)
            fixed = estimate_tokens(prompt.system) + estimate_tokens(prompt.user) + _schema_tokens(prompt)
            yield self._forecast(name, prompt.purpose, calls, calls * fixed + sent, written)

    def _forecast(self, prompt: str, purpose: Purpose, calls: int, sent: int, written: int) -> Forecast:
        llm = self._settings.llm
        model = self._settings.embed.model if purpose == "embed" else llm.model_for(purpose)
        return Forecast(prompt, purpose, model, calls, sent, written, price_of(llm, model, sent, written))


def _schema_tokens(prompt: Prompt) -> int:
    return estimate_tokens(json.dumps(prompt.reply.model_json_schema()))

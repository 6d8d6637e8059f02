"""How to ask so that an endpoint understands: found out by the first calls of a model, then known to all of them.

Calls of a model never spoken to go out together in the first guess, so that nothing waits where that one is right.
Where it is refused, one caller at a time asks in other dialects; the others who were refused, at most as many as may be
in flight at once, wait for what it learns and ask again. Where it learns nothing, nobody waits any more.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from mindmem.core.errors import BudgetReached, ModelUnavailable
from mindmem.core.llm.dialect import Dialect, Dialects, reads_over
from mindmem.core.llm.port import Completion
from mindmem.core.llm.retry import Fault, Place

__all__ = ["Misread", "Understanding"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Misread:
    """A request that was not understood: why, and the dialect to try next.

    ``transient`` says whether it might be another time; ``instead`` is the reply of a model that read over its schema.
    """

    other: Dialect
    why: str
    transient: bool = False
    instead: Completion | None = None


Ask = Callable[[Dialect], Awaitable[Completion | Misread]]


class Understanding:
    """What the models of one address understand. Safe for threads and event loops."""

    def __init__(self, dialects: Dialects, base_url: str, structure: Literal["auto", "schema", "json", "text"]) -> None:
        """``dialects`` hold what is known; a ``structure`` other than "auto" is kept whatever an endpoint says."""
        self._dialects = dialects
        self._base_url = base_url
        self._structure = structure
        self._faltered: set[str] = set()

    async def answer(self, place: Place, schema: Mapping[str, Any] | None, ask: Ask) -> Completion:
        """Return what ``ask`` makes of the dialect that is known or guessed, or else of one that is understood.

        Raises:
            BudgetReached, ModelUnavailable: see ``ask``; ModelUnavailable also where no dialect is understood.
        """
        dialect = self._known(place.model) or self._first_guess()
        heard = await self._heard(place, schema, ask, dialect)
        if isinstance(heard, Completion):
            return heard
        if place.model not in self._faltered:
            async with self._dialects.gate(self._base_url, place.model):
                if self._known(place.model) in (None, dialect) and place.model not in self._faltered:
                    return await self._find_out(place, schema, ask, dialect, heard)
        return await self._find_out(place, schema, ask, dialect, heard)

    def after(self, dialect: Dialect, fault: Fault, body: Mapping[str, Any]) -> Misread | Fault:
        """Return what to try after a refusal of ``body``; the fault where that is about something else."""
        other = dialect.after(fault, body, fixed=not self._auto)
        return fault if other is None else Misread(other, fault.why, fault.transient)

    async def _find_out(
        self, place: Place, schema: Mapping[str, Any] | None, ask: Ask, dialect: Dialect, heard: Misread
    ) -> Completion:
        """Ask in one dialect after another until one is understood. A reply that read over its schema is what there is
        where that fails: it may be readable, and is paid for."""
        given: Completion | Misread = heard
        instead: Completion | None = None
        tried = {dialect}
        try:
            while isinstance(given, Misread):
                known = self._known(place.model)
                if given.instead is not None and known == dialect:
                    return given.instead  # others' replies followed the schema: an accident
                instead = instead or given.instead
                if known is None or known in tried:
                    if given.other in tried:
                        raise ModelUnavailable(given.why, transient=given.transient)
                    log.info("%s From now on asked as %s.", given.why, given.other)
                    known = given.other
                dialect = known
                tried.add(dialect)
                given = await self._heard(place, schema, ask, dialect, sure=instead is None)
        except (ModelUnavailable, BudgetReached):
            self._faltered.add(place.model)
            if instead is None:
                raise
            return instead
        self._faltered.discard(place.model)
        if instead is None:
            return given
        return replace(
            given,
            input_tokens=instead.input_tokens + given.input_tokens,
            output_tokens=instead.output_tokens + given.output_tokens,
            counted=instead.counted and given.counted,
        )

    async def _heard(
        self, place: Place, schema: Mapping[str, Any] | None, ask: Ask, dialect: Dialect, *, sure: bool = True
    ) -> Completion | Misread:
        """Ask in one dialect, and keep it where it was understood. Not ``sure``: one odd reply led to it, which may
        have been an accident, and need not be believed for ever."""
        given = await ask(dialect)
        if isinstance(given, Misread):
            return given
        known = self._known(place.model)
        if known is None and self._auto and dialect.structure == "schema" and _ignored(given, schema):
            why = f"{place} does not follow schemas, which can be written into the prompt."
            return Misread(replace(dialect, structure="json"), why, instead=given)
        told = schema is not None or dialect != self._first_guess()
        if told and (known is None or (sure and known != dialect)):
            self._dialects.keep(self._base_url, place.model, dialect, lasting=sure and self._auto)
        return given

    def _known(self, model: str) -> Dialect | None:
        known = self._dialects.known(self._base_url, model)
        return known and (known if self._auto else replace(known, structure=self._first_guess().structure))

    @property
    def _auto(self) -> bool:
        return self._structure == "auto"

    def _first_guess(self) -> Dialect:
        # OpenAI's newer models refuse the older name; many other servers read over the newer one.
        official = urlsplit(self._base_url).hostname == "api.openai.com"
        return Dialect(
            structure="schema" if self._structure == "auto" else self._structure,
            tokens="max_completion_tokens" if official else "max_tokens",
        )


def _ignored(completion: Completion, schema: Mapping[str, Any] | None) -> bool:
    """Return whether a whole reply shows that its schema was not followed."""
    return schema is not None and completion.finish == "stop" and reads_over(completion.text, schema)

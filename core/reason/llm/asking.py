"""Asking many questions at once; the completer bounds how many are in flight."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from mindmem.core.llm.port import Question
from mindmem.core.settings import LlmSettings

__all__ = ["bounded_output", "gathered"]

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


async def gathered(awaitables: Sequence[Awaitable[T]]) -> list[T]:
    """Return the results in order once all are there; then raise the first error, if any.

    Nothing is left running behind an error, and what was asked beside it comes to the cache.
    """
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    values: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        values.append(result)
    return values


def bounded_output(question: Question[R], settings: LlmSettings) -> Question[R]:
    """Return the question with its output within the settings' bound."""
    return replace(question, max_output_tokens=min(question.max_output_tokens, settings.max_output_tokens))

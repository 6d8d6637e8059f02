"""From settings to the model that reasoners ask."""

from typing import TYPE_CHECKING

from mindmem.core.clock import Clock
from mindmem.core.llm.port import CallLog
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from mindmem.core.llm.model import LlmModel

__all__ = ["open_model"]


def open_model(settings: Settings, log: CallLog, clock: Clock) -> "LlmModel":
    """Open the endpoint of ``settings.llm`` with the budget and cache that they name; close the model at the end.

    Nothing is asked, and no connection made, until the first question.

    Raises:
        InvalidInput: money is limited, but a model has no price; or the endpoint's address can't be meant.
    """
    from mindmem.core.llm.budget import Budget
    from mindmem.core.llm.cache import ReplyCache
    from mindmem.core.llm.client import OpenAICompleter
    from mindmem.core.llm.connections import address
    from mindmem.core.llm.dialect import Dialects
    from mindmem.core.llm.model import LlmModel

    folder = settings.home / "cache"
    budget = Budget(settings, log, clock)
    completer = OpenAICompleter(settings.llm, dialects=Dialects(folder), clock=clock)
    return LlmModel(
        completer,
        settings.llm,
        project_id=settings.project_id,
        endpoint=address(settings.llm),
        log=log,
        budget=budget,
        cache=ReplyCache(folder / "llm", settings.llm.cache_bytes) if settings.llm.cache_bytes else None,
        clock=clock,
        close=completer.close,
    )

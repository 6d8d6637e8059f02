"""MindMem: a self-evolving memory layer for AI agents.

>>> from mindmem import Memory
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindmem.core.async_memory import AsyncMemory
    from mindmem.core.errors import MindMemError
    from mindmem.core.memory import Memory
    from mindmem.core.settings import Settings

__all__ = ["AsyncMemory", "Memory", "MindMemError", "Settings", "__version__"]

__version__ = "0.1.0"
_HOME = {
    "AsyncMemory": "mindmem.core.async_memory",
    "Memory": "mindmem.core.memory",
    "MindMemError": "mindmem.core.errors",
    "Settings": "mindmem.core.settings",
}


def __getattr__(name: str) -> Any:
    """Import a public name at first use, so that ``import mindmem`` alone stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'mindmem' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)

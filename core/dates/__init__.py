"""Times in text and in messages: spans found by rules, resolved against the message's own time and zone."""

from mindmem.core.dates.find import find_times
from mindmem.core.dates.spans import TimeSpan
from mindmem.core.dates.timestamps import resolve_timestamp, told_zone
from mindmem.core.dates.zones import zone_of

__all__ = ["TimeSpan", "find_times", "resolve_timestamp", "told_zone", "zone_of"]

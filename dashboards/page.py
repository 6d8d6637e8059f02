"""Page: one entry of the navigation. A file in ``views`` that holds a ``PAGE`` is one; nothing else lists it."""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from mindmem.dashboards import views
from mindmem.dashboards.store import Store

__all__ = ["Page", "discover"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, a Material icon such as ``:material/search:``, its place among the pages, what draws it."""

    title: str
    icon: str
    order: int
    render: Callable[[Store], None]


def discover() -> dict[str, Page]:
    """Return the pages of the package ``views`` by file name, which is also their path in the address, in order.

    Raises:
        TypeError: a file there holds no ``PAGE``.
    """
    found: dict[str, Page] = {}
    for module in pkgutil.iter_modules(views.__path__):
        page = getattr(import_module(f"{views.__name__}.{module.name}"), "PAGE", None)
        if not isinstance(page, Page):
            raise TypeError(f"{module.name}.py in dashboards/views holds no PAGE = Page(title, icon, order, render).")
        found[module.name] = page
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))

"""Screenshots of the dashboard, made from the demo's story: for the README, or of every page to be looked at.

    python .github/screenshots.py                    # the README's, into .github/screenshots
    python .github/screenshots.py --all DIR          # every page, narrow and wide, light and dark

Needs Playwright and a Chromium (``--chromium PATH``, default: /usr/bin/chromium). Exits with 1 when a page logs an
error, asks another machine for something, is wider than the window, or (``--axe FILE``) breaks a serious rule of axe.
"""

import argparse
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
WIDTHS: Final = (390, 1440)
THEMES: Final = ("light", "dark")
README: Final = {
    "overview-light": ("", "light"),
    "timelines-dark": ("timelines?entity={entity}", "dark"),
    "dreaming-light": ("dreaming?run={run}", "light"),
    "search-light": ("search?q=Where+does+Mara+live%3F&user=mara", "light"),
}
README_HEIGHT: Final = 1000
"""Pixels after which a picture of the README is cut."""
PAGES: Final = {
    "overview": "",
    "timelines": "timelines?entity={entity}",
    "search": "search?q=Where+does+Mara+live%3F&user=mara",
    "memories": "memories",
    "memory": "memories?memory={memory}",
    "dreaming": "dreaming",
    "dreaming-run": "dreaming?run={run}",
    "feedback": "feedback",
    "agentic": "search?q=Where+does+Mara+work+and+live%3F&user=mara&strategy=agentic",
    "ingestion": "ingestion",
    "cost": "cost",
    "schema": "schema",
}
LATER: Final = (
    ("2024-06-11T08:30", "Mara", "I work as a pastry chef at Padaria Ribeiro now."),
    ("2024-07-02T19:12", "Mara", "My favourite dessert is pastel de nata."),
    ("2024-09-15T10:05", "Mara", "I live in Braga now."),
    ("2024-09-15T10:07", "Jonas", "I live in Berlin now, the cats love it."),
    ("2024-11-20T21:40", "Mara", "I work as a teacher at the cooking school in Braga now."),
    ("2025-02-03T18:00", "Mara", "My locker number is 318 now."),
)
"""Said after the story, so that timelines have something to show."""
NIGHTS: Final = (
    ("I live in Faro.", "I live in Evora now.", "I have two dogs."),
    ("I work at a school.", "My favourite colour is green.", "My favourite colour is blue now."),
    ("I live in Sintra now.", "My locker number is 12.", "My locker number is 31 now."),
    ("I live in Cascais now.", "My favourite colour is red now.", "I have three dogs now."),
)
"""Said between nights by somebody whose adds resolve nothing, so that dreams have something to do."""


def main() -> int:
    """Take the pictures and report what is wrong with the pages."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--all", type=Path, metavar="DIR", dest="everything")
    given.add_argument("--home", type=Path, help="an existing store instead of the demo's")
    given.add_argument("--only", default="", help="pages whose name holds this")
    given.add_argument("--chromium", default="/usr/bin/chromium")
    given.add_argument("--axe", type=Path, help="axe.min.js, to check the pages with")
    options = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="mindmem-shots-") as scratch:
        home = options.home or Path(scratch) / "demo"
        if options.home is None:
            tell(home)
        ids = of_interest(home)
        with served(home) as address:
            troubles = list(shoot(address, ids, options))
    for trouble in troubles:
        sys.stderr.write(trouble + "\n")
    return 1 if troubles else 0


def tell(home: Path) -> None:
    """Play the demo's story, and what was said after it."""
    from mindmem import Memory
    from mindmem.core.serve import story

    with Memory(home) as memory:
        story.play(memory)
        for at, name, text in LATER:
            line = {"role": "user", "name": name, "timestamp": at, "timezone": story.ZONE, "content": text}
            memory.add([line], user_id=story.USER, session_id=at[:10])
        memory.feedback("No, I meant Coimbra, not Braga.", user_id=story.USER, name="Mara")
        memory.feedback("For emails to my boss, please use a formal tone.", user_id=story.USER, name="Mara")
        memory.enqueue("I play the cello.", user_id="jonas")
    dream(home)


def dream(home: Path) -> None:
    """Let some nights pass over what adds did not resolve, and leave a proposal that waits."""
    from mindmem import Memory
    from mindmem.core.settings import Settings

    settings = Settings.load(home=home, ingest={"resolve_updates": False, "resolve_merges": False},
                             dream={"min_age_hours": 0.0, "cap": 1.0})  # fmt: skip
    with Memory(settings=settings) as memory:
        for night, told in enumerate(NIGHTS):
            for place, text in enumerate(told):
                at = f"2025-03-{night * 7 + place + 1:02d}T20:00"
                line = {"role": "user", "name": "Ines", "timestamp": at, "content": text}
                memory.add([line], user_id="ines", session_id=at[:10])
            memory.dream("ines", dry_run=night == len(NIGHTS) - 1)


def of_interest(home: Path) -> dict[str, str]:
    """Return the ids that addresses need: an entity with a timeline, one of its memories, a run of a dream."""
    from mindmem import Memory

    with Memory(home) as memory:
        found = memory.list(page_size=1000).memories
        runs = [change.run_id for change in memory.changes(limit=200) if change.kind == "dream" and change.run_id]
    best = max(found, key=lambda one: (one.entity_name == "Mara", one.property_name == "lives_in"))
    return {"entity": best.entity_id, "memory": best.memory_id, "run": next(iter(runs), "")}


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Run the dashboard on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "dashboards" / "app.py"), "--server.port",
               str(port), "--", "--home", str(home)]  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(f"{address}/_stcore/health", process)
            yield address
        finally:
            process.terminate()


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Wait until an address of this machine answers, two minutes at most."""
    for _ in range(240):
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        if process.poll() is not None:
            break
        time.sleep(0.5)
    raise SystemExit(f"The dashboard does not answer at {url}.")


def shoot(address: str, ids: dict[str, str], options: argparse.Namespace) -> Iterator[str]:
    """Take the pictures, and yield what is wrong."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu", "--force-prefers-reduced-motion"]
        )
        for name, path, theme, width, folder in wanted(options):
            context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900})
            page = context.new_page()
            page.set_default_timeout(90_000)
            yield from (f"{name}: {trouble}" for trouble in look(page, address, path.format(**ids), options.axe))
            file = folder / f"{name}.png"
            size = page.viewport_size or {"width": width, "height": 900}
            tall = size["height"] if options.everything else min(size["height"], README_HEIGHT)
            page.screenshot(path=file, clip={"x": 0, "y": 0, "width": width, "height": tall})
            sys.stdout.write(f"{file} ({file.stat().st_size // 1024} kB)\n")
            context.close()
        browser.close()


def wanted(options: argparse.Namespace) -> Iterator[tuple[str, str, str, int, Path]]:
    """Yield name, path, theme, width in pixels and folder of each picture."""
    folder = options.everything or ROOT / ".github" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    if options.everything is None:
        yield from ((name, path, theme, 1280, folder) for name, (path, theme) in README.items())
        return
    for name, path in PAGES.items():
        if options.only in name:
            yield from ((f"{name}-{theme}-{width}", path, theme, width, folder) for width in WIDTHS for theme in THEMES)


def look(page: Any, address: str, path: str, axe: Path | None) -> Iterator[str]:
    """Open a page, wait until it is drawn, make the window as tall as it is, and yield what is wrong with it."""
    heard: list[str] = []
    page.on("console", lambda said: heard.append(f"console: {said.text}") if worrying(said) else None)
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("request", lambda asked: heard.append(f"asked {asked.url}") if foreign(asked.url, address) else None)
    page.goto(f"{address}/{path}")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_selector("h1, .mm-title", state="visible")
    page.wait_for_timeout(2_500)
    if page.locator('[data-testid="stException"]').count():
        heard.append("shows an exception")
    main = page.locator('[data-testid="stMain"]')
    height, inner, outer = main.evaluate("one => [one.scrollHeight, one.scrollWidth, one.clientWidth]")
    if inner > outer + 1:
        heard.append(f"is {inner} pixels wide in a window of {outer}")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": min(max(height, 700), 2_600)})
    page.wait_for_timeout(1_200)
    if axe is not None:
        page.add_script_tag(path=axe)
        found = page.evaluate("async () => (await axe.run()).violations")
        heard += [
            f"axe {one['impact']}: {one['id']} at {[node['target'] for node in one['nodes']][:3]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
    yield from heard


def worrying(said: Any) -> bool:
    """Return whether a line of the console is an error of a page. On a page below the root, Streamlit first asks for
    its health below that page, and finds it at the root."""
    return said.type == "error" and not ("404" in said.text and "/_stcore/" in said.location.get("url", ""))


def foreign(url: str, address: str) -> bool:
    """Return whether an address is another machine's."""
    return url.startswith(("http", "ws")) and not url.partition("://")[2].startswith(address.partition("://")[2])


if __name__ == "__main__":
    sys.exit(main())

"""Prefect's REST API in a few lines, for processes that must stay small: importing Prefect costs seconds and 80 MB."""

import http.client
import json
import time
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from mindmem.core.errors import MindMemError

__all__ = ["Api", "NoServer"]

_TIMEOUT: Final = 30.0
_BUSY: Final = 503
"""What the server says while its SQLite database is locked; nothing was done then."""
_PAUSE: Final = 0.5


class NoServer(MindMemError):
    """Nobody answers at the Prefect server's address; the message says how to start one."""

    code = "no_server"
    transient = True


class Api:
    """The server at ``url`` (such as ``http://127.0.0.1:4200/api``), spoken to without a proxy.

    Every method raises NoServer when it can't be reached or answers with an error.
    """

    def __init__(self, url: str, *, tries: int = 6) -> None:
        self._url = url.rstrip("/")
        self._tries = tries
        self._opener = build_opener(ProxyHandler({}))

    def healthy(self) -> bool:
        """Return whether the server answers that it is well."""
        try:
            return self.get("health") is True
        except NoServer:
            return False

    def get(self, path: str) -> Any:
        """Return what a GET is answered with, as parsed JSON."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> Any:
        """Return what a POST of a JSON body is answered with."""
        return self._ask("POST", path, body)

    def patch(self, path: str, body: object) -> None:
        """Send a PATCH with a JSON body."""
        self._ask("PATCH", path, body)

    def delete(self, path: str) -> None:
        """Send a DELETE."""
        self._ask("DELETE", path, None)

    def deployment(self, name: str) -> dict[str, Any]:
        """Return a deployment by ``flow/name``."""
        found: dict[str, Any] = self.get(f"deployments/name/{name}")
        return found

    def runs(self, deployment_id: str, states: tuple[str, ...], **more: object) -> list[dict[str, Any]]:
        """Return up to 200 flow runs of a deployment whose state is of these types, the latest expected ones first."""
        body = {
            "deployments": {"id": {"any_": [deployment_id]}},
            "flow_runs": {"state": {"type": {"any_": list(states)}}, **more},
            "sort": "EXPECTED_START_TIME_DESC",
        }
        found: list[dict[str, Any]] = self.post("flow_runs/filter", body)
        return found

    def start(self, deployment_id: str, tag: str) -> str:
        """Create a run of a deployment that is due now, and return its id."""
        made = self.post(f"deployments/{deployment_id}/create_flow_run", {"tags": [tag]})
        return str(made["id"])

    def _ask(self, method: str, path: str, body: object) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}/{path}", data, {"Content-Type": "application/json"}, method=method)
        for left in reversed(range(self._tries)):
            try:
                with self._opener.open(request, timeout=_TIMEOUT) as answer:
                    text = answer.read()
            except HTTPError as error:
                if error.code == _BUSY and left:
                    time.sleep(_PAUSE)
                    continue
                raise NoServer(f"The Prefect server at {self._url} refused {method} {path}: {error.code}.") from error
            except (URLError, OSError, http.client.HTTPException) as error:
                raise NoServer(f"No Prefect server answers at {self._url}.") from error
            try:
                return json.loads(text) if text else None
            except ValueError as error:
                raise NoServer(f"What answers at {self._url} is not a Prefect server.") from error
        raise AssertionError("at least one try")

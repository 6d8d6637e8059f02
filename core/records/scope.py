"""Scope: who a record belongs to. Every read, write and background job is scoped."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.ids import digest

__all__ = ["MAX_ID", "Partition", "Scope"]

MAX_ID = 512
"""Longest id of a scope, in characters."""


class Partition(NamedTuple):
    """The unit of versioning and of search: one user of one project."""

    project_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The five ids of a record's owner; an unset id is the empty string.

    Ids may hold any characters. Build one from a caller's words with :meth:`of`, which refuses what can't be an id.
    """

    project_id: str = "default"
    user_id: str = ""
    app_id: str = ""
    agent_id: str = ""
    session_id: str = ""

    @classmethod
    def of(
        cls,
        user_id: str | None = None,
        *,
        project_id: str = "default",
        app_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        need_user: bool = True,
    ) -> "Scope":
        """Return a checked scope.

        Raises:
            InvalidInput: an id is not a string, is empty or blank, is over 512 characters, or ``user_id`` is missing.
        """
        if need_user and user_id is None:
            raise InvalidInput(
                "user_id is missing: say whose memory this is, for example user_id='ann'.", field="user_id"
            )
        given = {
            "project_id": project_id,
            "user_id": user_id,
            "app_id": app_id,
            "agent_id": agent_id,
            "session_id": session_id,
        }
        return cls(**{name: _checked(name, value) for name, value in given.items()})

    @property
    def partition(self) -> Partition:
        """Return the project and user that this scope lies in."""
        return Partition(self.project_id, self.user_id)

    @property
    def key(self) -> str:
        """Return the digest within which a claim is unique: project, user, app and agent, but not the session."""
        return digest("scope", self.project_id, self.user_id, self.app_id, self.agent_id)

    def without_session(self) -> "Scope":
        """Return the same owner without a session."""
        return replace(self, session_id="")


def _checked(name: str, value: str | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, got {type(value).__name__} {bounded(value)}.", field=name)
    if not value.strip():
        raise InvalidInput(f"{name} is empty: leave it out, or give an id with at least one character.", field=name)
    if len(value) > MAX_ID:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {MAX_ID} are allowed.", field=name)
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidInput(f"{name} holds a NUL or a lone surrogate, which no table can store.", field=name)
    return value

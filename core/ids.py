"""Identifiers: content-derived digests where the same input must get the same id, random ones elsewhere.

Parts are length-prefixed before hashing, so ids may hold any characters (``a:b``, ``a/b``, emoji) and never collide by
being joined.
"""

import hashlib
import re
import unicodedata
import uuid

__all__ = [
    "change_id",
    "content_hash",
    "digest",
    "entity_id",
    "memory_id",
    "message_id",
    "normalise_claim",
    "random_id",
]

_SPACE = re.compile(r"\s+")


def digest(*parts: str | bytes, size: int = 16) -> str:
    """Return the hex BLAKE2b digest (``size`` bytes) of length-prefixed parts.

    >>> digest("a", "bc") == digest("ab", "c")
    False
    """
    hasher = hashlib.blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(raw).to_bytes(8, "big"))
        hasher.update(raw)
    return hasher.hexdigest()


def normalise_claim(content: str) -> str:
    """Return the form of a claim under which two sayings are the same: NFKC, case-folded, one space, no closing stop.

    >>> normalise_claim("  Ann lives in  Berlin. ")
    'ann lives in berlin'
    """
    folded = unicodedata.normalize("NFKC", content).casefold()
    return _SPACE.sub(" ", folded).strip().rstrip(".!。！ ")


def content_hash(content: str) -> str:
    """Return the digest of a claim's normalised form; equal hashes mean the same claim said again."""
    return digest("content", normalise_claim(content))


def memory_id(scope_key: str, entity_id: str, property_name: str, content: str, first_source: str) -> str:
    """Return the stable id of a new memory (design, section 3)."""
    return "mem_" + digest("memory", scope_key, entity_id, property_name, content, first_source)


def message_id(scope_key: str, session_id: str, position: str, role: str, name: str, content: str, add_id: str) -> str:
    """Return the id of an utterance; ``position`` is its place in the session or file, ``add_id`` tells utterances
    without any place apart."""
    return "msg_" + digest("message", scope_key, session_id, position, role, name, content, add_id)


def entity_id(scope_key: str, name: str) -> str:
    """Return the id of the entity that this normalised name denotes in that scope."""
    return "ent_" + digest("entity", scope_key, name)


def episode_id(scope_key: str, first_message: str) -> str:
    """Return the id of the episode that begins with this message."""
    return "epi_" + digest("episode", scope_key, first_message)


def random_id(prefix: str) -> str:
    """Return ``prefix_`` and 32 random hex digits."""
    return f"{prefix}_{uuid.uuid4().hex}"


def change_id() -> str:
    """Return a new id for a change."""
    return random_id("chg")

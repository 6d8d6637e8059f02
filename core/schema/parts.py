"""What a name is looked up by: the parts that an entity is listed under, and those that a new name asks for.

Two names that may stand for each other (``names.fits``) share a part, so an index of parts answers which of any number
of entities a name may denote. The first character of a part tells its sort.
"""

from collections.abc import Iterable

from mindmem.core.schema.names import abbreviation, first_names, initials, name_key, short_forms, titled

__all__ = ["near_parts", "part", "parts_of"]

_WHOLE, _FIRST, _LAST, _ENDS, _HEAD, _LETTERS, _INITIALS = "=<>|,.^"


def part(name: str) -> str:
    """Return the part that exactly the spellings of one name share.

    >>> part("Dr. José Álvarez's") == part("jose alvarez")
    True
    """
    return _WHOLE + name_key(name)


def parts_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the parts that the bearer of these names is listed under, each once."""
    return tuple(dict.fromkeys(one for name in names for one in _parts(name)))


def _parts(name: str) -> Iterable[str]:
    key = name_key(name)
    words = key.split()
    yield _WHOLE + key
    if len(words) > 1:
        yield _LAST + words[-1]
    if len(words) in (2, 3):
        yield _FIRST + words[0]
    if len(words) == 3:
        yield f"{_ENDS}{words[0]} {words[-1]}"
    if "," in name:
        yield _HEAD + name_key(name.split(",")[0])
    if short := abbreviation(name):
        yield _LETTERS + short
    for letters in initials(name):
        if letters[:1] == key[:1]:
            yield _INITIALS + letters


def near_parts(name: str) -> tuple[str, ...]:
    """Return the parts of the names that this one may stand for, or that may stand for it; never that of itself.

    >>> near_parts("Ann Lee")[:4]
    ('=ann', '=lee', '|ann lee', ',ann lee')
    """
    key = name_key(name)
    words = key.split()
    if not words:
        return ()
    first, *rest = words
    full = sorted(first_names(first))
    given = list(dict.fromkeys((*full, *sorted(short_forms(first)))))
    asked = [_WHOLE + " ".join((one, *rest)) for one in given if one != first]
    if rest:
        asked += [_WHOLE + one for one in given] if len(words) in (2, 3) else []
        asked.append(_WHOLE + words[-1])
    else:
        asked += [_FIRST + one for one in full]
        asked += [_LAST + first] if titled(name) else []
    if len(words) == 2:
        asked.append(f"{_ENDS}{key}")
    elif len(words) == 3:
        asked.append(_WHOLE + f"{first} {words[-1]}")
    asked.append(_WHOLE + name_key(name.split(",")[0]) if "," in name else _HEAD + key)
    if len(name.replace(".", "")) <= 8:
        asked += [_INITIALS + abbreviation(name)] if abbreviation(name) else []
        asked += [_LETTERS + letters for letters in sorted(initials(name)) if letters[:1] == key[:1]]
    elif rest:
        asked.append(_WHOLE + "".join(word[0] for word in words))
    return tuple(dict.fromkeys(one for one in asked if one != _WHOLE + key))

"""Cardinality: which properties take one value at a time, told from all of a user's memories together.

What the words of the sentences say comes first. Where they say nothing, two stories are weighed for how many values the
subjects have. *Values that replace each other*: some subjects were given a second one, hardly any a third. *Values that
add up*: who has a second one has a third as readily as others have a second. Each property has rates of its own, drawn
around rates that all properties of a story share; so a property of a few subjects borrows from the others (empirical
Bayes: Beta-geometric counts, rates and shares by expectation and maximisation, with priors that a small store does not
outweigh). Where the odds are not plainly on one side, nobody can tell.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, lgamma, log
from typing import Final

__all__ = ["Evidence", "cardinalities"]

_SURE: Final = 0.95
"""Least probability of one value at a time at which values are taken to replace each other."""
_THIRDS: Final = 0.1
"""Share of the subjects with a second value that may have a third where only the corpus says that values replace each
other: the shape of what adds up is not always the one that is assumed here."""
_LEAST: Final = 5
"""Subjects from which on a corpus tells anything of a property whose words say nothing."""
_DENIED: Final = 0.3
"""Share of sentences whose words say "several" from which on that is believed."""
_STATED: Final = 0.5
"""Share of sentences whose words say "one" from which on that is believed, unless the values plainly add up."""
_ROUNDS: Final = 12
_SPREADS: Final = (6.0, 12.0, 24.0)
"""How closely the rates of properties may keep to the shared ones, as a number of subjects; the likeliest is taken."""
_CHANGED: Final = (0.3, 4.0)
_AGAIN: Final = (0.04, 25.0)
_MORE: Final = (0.55, 8.0)
"""Shared rates before anything was seen, each with the number of subjects that it counts as: a second value that
replaces the first, a third that replaces the second, one more value beside the others."""
_SHARE: Final = (0.25, 0.85)
"""Bounds of the share of properties with one value among those whose words say nothing."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is seen of one property: the number of values of each subject, the cues of its sentences (see ``Topic``),
    and ``lean``: log odds, from how such sentences are built, that it takes one value at a time."""

    counts: Sequence[int]
    cues: Counter[bool | None] = field(default_factory=Counter)
    lean: float = 0.0

    @property
    def stated(self) -> bool | None:
        """What the sentences' own words say: one at a time, several, or nothing."""
        told = sum(self.cues.values())
        if self.cues[False] and self.cues[False] >= _DENIED * told:
            return False
        return True if self.cues[True] and self.cues[True] >= _STATED * told else None


def cardinalities(seen: Mapping[str, Evidence]) -> dict[str, bool]:
    """Return which properties take one value at a time (True) and which several (False); missing: nobody can tell.

    >>> cardinalities({"emblem": Evidence([1, 2], Counter({True: 3})), "moored at": Evidence([1, 2])})
    {'emblem': True}
    """
    tallies = {name: _Tally.of(evidence.counts) for name, evidence in seen.items()}
    rates = _rates(seen, tallies)
    found: dict[str, bool] = {}
    for name, evidence in seen.items():
        match evidence.stated:
            case False:
                found[name] = False
            case True if not _plainly_adds_up(evidence.counts):
                found[name] = True
            case None if len(evidence.counts) >= _LEAST:
                odds = rates.odds(tallies[name])
                probability = _probability(odds + log(rates.share / (1 - rates.share)) + evidence.lean)
                # The shared rates alone tell nothing of a property: its own subjects have to speak for it.
                if probability >= _SURE and odds > 0 and _thirds(evidence.counts) <= _THIRDS:
                    found[name] = True
                elif probability <= 1 - _SURE:
                    found[name] = False
    return found


def _plainly_adds_up(counts: Sequence[int]) -> bool:
    several, many = sum(count > 1 for count in counts), sum(count > 2 for count in counts)
    return several >= 5 and many >= 0.25 * several


def _thirds(counts: Sequence[int]) -> float:
    return sum(count > 2 for count in counts) / max(1, sum(count > 1 for count in counts))


@dataclass(frozen=True, slots=True)
class _Tally:
    """Subjects of a property, those with a second value, and values beyond the second one."""

    subjects: int
    several: int
    beyond: int

    @classmethod
    def of(cls, counts: Sequence[int]) -> "_Tally":
        return cls(len(counts), sum(count > 1 for count in counts), sum(max(0, count - 2) for count in counts))


@dataclass(frozen=True, slots=True)
class _Rates:
    """What the properties of each story share; ``share`` of those whose words say nothing take one value."""

    changed: float = _CHANGED[0]
    again: float = _AGAIN[0]
    more: float = _MORE[0]
    share: float = 0.5
    spread: float = _SPREADS[0]

    def odds(self, tally: _Tally) -> float:
        """Return the log odds of a tally under values that replace each other, against values that add up."""
        return self._replaced(tally) - self._added(tally)

    def likelihood(self, tallies: Iterable[tuple[_Tally, float]]) -> float:
        """Return the log probability of tallies, each with its probability of values that replace each other."""
        return sum(single * self._replaced(one) + (1 - single) * self._added(one) for one, single in tallies)

    def _replaced(self, tally: _Tally) -> float:
        changed = self._chance(self.changed, tally.several, tally.subjects - tally.several)
        return changed + self._chance(self.again, tally.beyond, tally.several)

    def _added(self, tally: _Tally) -> float:
        return self._chance(self.more, tally.several + tally.beyond, tally.subjects)

    def _chance(self, rate: float, hits: int, misses: int) -> float:
        """Return the log probability of hits and misses at a property's own rate, drawn around the shared one."""
        a, b = self.spread * rate, self.spread * (1 - rate)
        return _log_beta(a + hits, b + misses) - _log_beta(a, b)


def _rates(seen: Mapping[str, Evidence], tallies: Mapping[str, _Tally]) -> _Rates:
    rates = _Rates()
    silent = [name for name, evidence in seen.items() if evidence.stated is None]
    for _ in range(_ROUNDS if silent else 0):
        single = {
            name: _probability(rates.odds(tallies[name]) + log(rates.share / (1 - rates.share)) + evidence.lean)
            if evidence.stated is None
            else float(evidence.stated)
            for name, evidence in seen.items()
        }
        expected = sum(single[name] for name in silent)
        rates = _Rates(
            _shared(_CHANGED, [(single[name], one.several, one.subjects) for name, one in tallies.items()]),
            _shared(_AGAIN, [(single[name], one.beyond, one.several + one.beyond) for name, one in tallies.items()]),
            _shared(
                _MORE,
                [
                    (1 - single[name], one.several + one.beyond, one.subjects + one.several + one.beyond)
                    for name, one in tallies.items()
                ],
            ),
            min(max((expected + 1) / (len(silent) + 2), _SHARE[0]), _SHARE[1]),
        )
        weighed = [(tallies[name], single[name]) for name in seen]
        rates = max((replace(rates, spread=one) for one in _SPREADS), key=lambda one: one.likelihood(weighed))
    return rates


def _shared(prior: tuple[float, float], parts: Sequence[tuple[float, int, int]]) -> float:
    """Return the mean rate of properties, each weighed by its probability of belonging to the story."""
    mean, strength = prior
    hits = sum(weight * hit for weight, hit, _ in parts)
    tries = sum(weight * tried for weight, _, tried in parts)
    return (mean * strength + hits) / (strength + tries)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _probability(log_odds: float) -> float:
    return 1 / (1 + exp(-max(min(log_odds, 700.0), -700.0)))

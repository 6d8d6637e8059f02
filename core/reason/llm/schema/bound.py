"""From what a model says of an episode to bound candidates, relations and aliases, as far as it was shown them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Reply
from mindmem.core.reason.llm.candidates import without_roles
from mindmem.core.reason.llm.evidence import Shown
from mindmem.core.reason.llm.memories import one_line
from mindmem.core.reason.llm.schema.episode import Episode, Part
from mindmem.core.reason.llm.schema.offered import by_name, property_of
from mindmem.core.reason.llm.schema.replies import Binding, BindReply, Related, StatedAlias
from mindmem.core.reason.llm.schema.said import Said, akin, cleaned, proper
from mindmem.core.reason.port import Candidate
from mindmem.core.reason.rules.schema.aliases import USER
from mindmem.core.reason.rules.schema.properties import Binding as Placed
from mindmem.core.reason.rules.schema.properties import placed
from mindmem.core.reason.schema_port import Relation
from mindmem.core.records.schema import CATCH_ALL
from mindmem.core.redact import redact
from mindmem.core.schema.names import incompatible
from mindmem.core.schema.questions import bound_name

__all__ = ["Reader", "Reading"]

_NARRATED: Final = "episodic"
_MEANS_USER: Final = frozenset({"user", "the user", "i", "me", "speaker", "the speaker", "用户", "该用户", "我"})
_TITLE: Final = 120  # characters
_SUMMARY: Final = 400
_FOUNDED: Final = 0.4
"""Least part of a title's or summary's content words that stands in the episode."""
_CAPITAL: Final = re.compile(r"[^\W\d_a-z]|\d")


@dataclass(frozen=True, slots=True)
class Reading:
    """What of one reply can be stood by: candidates by their place in the request; ``rejected`` are reason and raw."""

    candidates: Mapping[int, Candidate]
    title: str
    summary: str
    relations: tuple[Relation, ...]
    aliases: tuple[tuple[str, str], ...]
    rejected: tuple[tuple[str, str], ...]


class Reader:
    """Reads replies about one part of an episode."""

    def __init__(self, episode: Episode, part: Part, *, catch_all: bool = True) -> None:
        self._episode = episode
        self._part = part
        self._catch_all = catch_all
        self._rejected: list[tuple[str, str]] = []

    def read(self, reply: Reply[BindReply]) -> Reading:
        """Return what of a reply can be stood by."""
        self._rejected = [(one.reason, one.raw) for one in reply.rejected]
        said = reply.value
        candidates: dict[int, Candidate] = {}
        for binding in said.bindings:
            if not 1 <= binding.candidate <= len(self._part.places):
                self._reject("names no candidate", binding)
            elif (place := self._part.places[binding.candidate - 1]) not in candidates:
                candidates[place] = self._candidate(place, binding)
        relations = [found for one in said.relations if (found := self._relation(one, candidates)) is not None]
        aliases = [pair for one in said.aliases if (pair := self._alias(one)) is not None]
        return Reading(
            candidates,
            self._founded(said.title, _TITLE),
            self._founded(said.summary, _SUMMARY),
            tuple(relations),
            tuple(aliases),
            tuple(self._rejected),
        )

    def _reject(self, reason: str, item: BaseModel) -> None:
        self._rejected.append((reason, item.model_dump_json()))

    def _candidate(self, place: int, binding: Binding) -> Candidate:
        """The candidate at its place in the schema, and by its fuller name; what does not hold is as the rules say."""
        plain = self._episode.plain.candidates[place]
        found = self._placed(self._episode.candidates[place], plain, binding)
        if found is not None:
            plain = replace(
                plain,
                entity_type=found.entity_type,
                property_name=found.property_name,
                single_valued=found.single_valued,
            )
        name = cleaned(binding.entity)
        if not name or normalise_claim(name) == normalise_claim(plain.entity_name):
            return plain
        if refused := self._not_its_name(plain, name):
            self._reject(refused, binding)
            return plain
        others = tuple(one for one in plain.mentions if normalise_claim(one.name) != normalise_claim(name))
        return replace(plain, entity_name=name, mentions=others)

    def _placed(self, candidate: Candidate, plain: Candidate, binding: Binding) -> Placed | None:
        kind = by_name(self._part.types, binding.type)
        if kind is None:
            self._reject("its type was not offered", binding)
            return None
        if candidate.entity_name.casefold() in self._episode.speakers and incompatible("person", kind.name):
            self._reject("who speaks is not of that type", binding)
            return None
        prop = property_of(kind, binding.property)
        if prop is not None:
            narrated = candidate.mem_type == _NARRATED
            fine, single = candidate.property_name, candidate.single_valued
            return placed(kind, prop, fine, narrated=narrated, single_valued=single)
        if cleaned(binding.property) not in ("", CATCH_ALL):
            self._reject("its property is none of its type's", binding)
            if plain.entity_type == kind.name:
                return None
        kept = self._catch_all and kind.property(CATCH_ALL) is not None
        name = bound_name(CATCH_ALL, candidate.property_name) if kept else candidate.property_name
        return Placed(kind.name, name, candidate.single_valued)

    def _not_its_name(self, candidate: Candidate, name: str) -> str:
        """Why a name does not take the place of the one that a candidate has; empty where it may."""
        known = candidate.entity_name
        if not proper(name) or not self._episode.told.holds(name):
            return "no name, or one that nobody said"
        if known.casefold() in self._episode.speakers:
            return "who speaks keeps the name"
        if proper(known):
            return "" if akin(known, name) else "another name than the one that was said"
        if name.casefold() in _MEANS_USER or name in (candidate.speaker, USER) or Said([known]).holds(name):
            return "the name of somebody else"  # "Mia's brother" is not Mia
        return ""

    # ------------------------------------------------------------------ relations and aliases

    def _relation(self, one: Related, bound: Mapping[int, Candidate]) -> Relation | None:
        number = one.candidate
        place = self._part.places[number - 1] if 1 <= number <= len(self._part.places) else -1
        source, target = (self._end(name, place, bound) for name in (one.source, one.target))
        own = {USER, *(claim.entity_name for claim in (*self._episode.candidates, *bound.values()))}
        named = all(proper(name) or name in own for name in (source, target))
        if not named or normalise_claim(source) == normalise_claim(target):
            self._reject("joins no two names", one)
            return None
        if place < 0:
            if any(said.holds(source) and said.holds(target) for said in self._messages()):
                return Relation(source, target, one.kind)
            self._reject("no message names both", one)
            return None
        claim = self._episode.candidates[place]
        if claim.polarity < 0 or ("past" in claim.flags and claim.valid_to is None):
            self._reject("the claim denies it, or it is over", one)
            return None
        said = self._claimed(claim, bound.get(place, claim))
        if not (said.holds(source) and said.holds(target)):
            self._reject("the claim and its messages do not name both", one)
            return None
        return Relation(source, target, one.kind, place, claim.valid_from or claim.observed_at, claim.valid_to)

    def _end(self, name: str, place: int, bound: Mapping[int, Candidate]) -> str:
        """The name of one end: a speaker's for "user", the fuller one that its candidate was given."""
        plain = cleaned(name)
        if plain.casefold() in _MEANS_USER:
            users = {one.message.name for one in self._part.shown if one.message.role == "user"}
            named = {self._episode.candidates[place].speaker} if place >= 0 else users
            return (named.pop() if len(named) == 1 else "") or USER
        if (
            place in bound
            and plain
            and normalise_claim(plain) == normalise_claim(self._episode.candidates[place].entity_name)
        ):
            return bound[place].entity_name
        return plain

    def _claimed(self, claim: Candidate, bound: Candidate) -> Said:
        rests = {source.message_id for source in claim.sources}
        told = [text for one in self._trusted() if one.message.message_id in rests for text in _texts(one)]
        mentions = (one.name for one in claim.mentions)
        return Said([claim.content, claim.entity_name, bound.entity_name, claim.speaker, *mentions, *told])

    def _messages(self) -> Iterator[Said]:
        return (Said(_texts(one)) for one in self._trusted())

    def _trusted(self) -> Iterator[Shown]:
        return (one for one in self._part.shown if one.message.message_id not in self._episode.commanding)

    def _alias(self, one: StatedAlias) -> tuple[str, str] | None:
        alias, name = cleaned(one.alias), cleaned(one.name)
        number = one.message
        shown = self._part.shown[number - 1] if 1 <= number <= len(self._part.shown) else None
        if shown is None or shown.message.message_id in self._episode.commanding:
            self._reject("names no message that may state it", one)
            return None
        if name.casefold() in _MEANS_USER:
            name = shown.message.name or USER
        speakers = self._episode.speakers
        if not alias or not name or normalise_claim(alias) == normalise_claim(name):
            self._reject("joins no two names", one)
        elif not Said([shown.text]).holds(alias) or not (name == USER or self._episode.told.holds(name)):
            self._reject("a name that its message does not hold", one)
        elif alias.casefold() in speakers or (alias.isascii() and not _CAPITAL.search(alias)):
            self._reject("no name that only one thing has", one)
        else:
            return alias, name
        return None

    def _founded(self, text: str, long: int) -> str:
        """A title or summary, empty where it says more than the episode."""
        plain = redact(one_line(without_roles(text), long))[0]
        if not has_substance(plain):
            return ""
        told = self._episode.told
        if told.new_numbers(plain) or told.share(plain) < _FOUNDED:
            self._rejected.append(("a title or summary of something else", plain))
            return ""
        return plain


def _texts(shown: Shown) -> list[str]:
    message = shown.message
    return [shown.text, message.caption, message.name or (USER if message.role == "user" else "")]

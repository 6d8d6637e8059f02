"""SchemaBinder without a model: types and properties by the schema's words, relations and aliases by structure."""

from collections.abc import Sequence
from dataclasses import replace

from mindmem.core.reason.port import Candidate, Judged, Verdict
from mindmem.core.reason.rules.schema.aliases import stated_aliases
from mindmem.core.reason.rules.schema.episode import tell
from mindmem.core.reason.rules.schema.heard import UNTRUSTED, commanding
from mindmem.core.reason.rules.schema.kinds import kind_of, retyped
from mindmem.core.reason.rules.schema.properties import Lexicon
from mindmem.core.reason.rules.schema.relations import relations_of
from mindmem.core.reason.schema_port import SchemaBound, SchemaRequest
from mindmem.core.records.schema import Schema
from mindmem.core.schema.names import abbreviation

__all__ = ["RulesBinder"]

_NARRATED = frozenset({"episodic", "tool_trace", "file_knowledge"})
_KEPT = frozenset({"tool_trace", "experience", "skill_candidate", "file_knowledge"})
"""Types that have names of their own for what they hold."""

_PERSONAL = frozenset(
    "married_to age likes occupation works_at studies_at allergic_to birthday diet marital_status speaks"
    " hometown"
    " graduates_from born_in sister brother mother father wife husband".split()
)
"""Properties that only people have."""


class RulesBinder:
    """Binds by rules; the words of the last schema are kept, since an add follows an add."""

    def __init__(self, *, catch_all: bool = True) -> None:
        self._catch_all = catch_all
        self._last: tuple[Schema, Lexicon] | None = None

    async def bind(self, requests: Sequence[SchemaRequest]) -> list[Verdict[SchemaBound]]:
        """Return one judgement per request, in order."""
        return [Judged(self._bound(request)) for request in requests]

    def _bound(self, request: SchemaRequest) -> SchemaBound:
        lexicon = self._lexicon(request.schema)
        speakers = frozenset(message.name.casefold() for message in request.messages if message.name)
        deaf = commanding(request.messages, request.candidates)
        heard = [message for message in request.messages if message.message_id not in deaf]
        told = tell(heard, request.timezone)
        return SchemaBound(
            candidates=tuple(self._candidate(one, lexicon, speakers) for one in request.candidates),
            title=told.title,
            summary=told.summary,
            relations=relations_of(heard, request.candidates),
            aliases=stated_aliases(heard),
        )

    def _lexicon(self, schema: Schema) -> Lexicon:
        if self._last is None or self._last[0] is not schema:
            self._last = (schema, Lexicon(schema))
        return self._last[1]

    def _candidate(self, candidate: Candidate, lexicon: Lexicon, speakers: frozenset[str]) -> Candidate:
        if UNTRUSTED in candidate.flags:
            return candidate
        kind = candidate.entity_type
        # Where somebody lives and where something is based are told alike: letters may stand for either.
        either = candidate.property_name == "lives_in" and bool(abbreviation(candidate.entity_name))
        if either and kind == "person":
            kind = "thing"
        if kind in ("", "thing"):
            personal = candidate.property_name in _PERSONAL
            kind = "person" if personal else kind_of(candidate.entity_name, candidate.content, speakers)
        mentions = retyped(candidate.mentions, candidate.content, speakers)
        if candidate.mem_type in _KEPT:
            return replace(candidate, mentions=mentions)
        binding = lexicon.bind(
            kind,
            candidate.property_name,
            candidate.content,
            catch_all=self._catch_all,
            narrated=candidate.mem_type in _NARRATED,
            single_valued=candidate.single_valued,
        )
        return replace(
            candidate,
            entity_type=kind if either and kind == "thing" else binding.entity_type or kind,
            property_name=binding.property_name,
            single_valued=binding.single_valued,
            mentions=mentions,
        )

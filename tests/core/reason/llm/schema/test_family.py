"""MindSchema's llm family: its prompts, its bundle, how services choose it, and records like those of the rules."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from support.builders import SCOPE, candidate, memory, message
from support.model_server import ModelServer, Request, reply
from support.scripted_model import ScriptedModel

from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.schema.family import PROMPTS, llm_schema_reasoner
from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.schema.family import rules_schema_reasoner
from mindmem.core.reason.schema_port import KeyRequest, MatchRequest, SchemaReasoner, SchemaRequest, SynthesisRequest
from mindmem.core.records import Entity
from mindmem.core.records.schema import EPISODE
from mindmem.core.schema.registry import preset
from mindmem.core.services import open_services
from mindmem.core.settings import LlmSettings, Settings

MOST_TOKENS = 900
SAID = message("My sister Lucy moved to Porto. Everybody calls me Annie.", name="Ann")
MOVED = candidate("Ann's sister Lucy moved to Porto.", SAID, about="Lucy", prop="lives_in", value="Porto")
CATS = tuple(
    memory(f"Ann adopted the cat {name}.", prop="pet", value=name, day=n) for n, name in enumerate(("Mo", "Bo"))
)
ANSWERS: dict[str, dict[str, Any]] = {
    "bind": {
        "bindings": [{"candidate": 1, "type": "person", "property": "residence"}],
        "title": "Lucy moves",
        "summary": "Ann told that her sister Lucy moved to Porto.",
        "relations": [{"source": "Lucy", "target": "Porto", "kind": "location", "candidate": 1}],
        "aliases": [{"alias": "Annie", "name": "Ann", "message": 1}],
    },
    "match": {"matches": [{"name": 1, "verdict": "same", "entity": 1, "confidence": 0.9}]},
    "synthesise": {
        "properties": [
            {
                "property": "patterns",
                "content": "Ann adopted two cats, Mo and Bo.",
                "kind": "collection",
                "evidence": [1, 2],
                "confidence": 0.9,
            }
        ]
    },
    "describe": {"entities": [{"entity": 1, "keys": ["adopted the cat Mo"], "other_words": ["pets"]}]},
}


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_is_small(name: str) -> None:
    with warnings.catch_warnings():  # the package reads its own data in a deprecated way
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        prompt, encoding = load_prompt(name), bpe_openai.get_encoding("o200k_base")
        assert len(encoding.encode(prompt.system)) + len(encoding.encode(prompt.user)) < MOST_TOKENS


def test_the_version_names_the_prompts() -> None:
    bundle = llm_schema_reasoner(ScriptedModel(), LlmSettings())
    assert bundle.name == "llm"
    assert bundle.version == llm_schema_reasoner(ScriptedModel(), LlmSettings()).version != ""


async def judgements(family: SchemaReasoner) -> list[Any]:
    """What a family makes of one episode, one name, one entity with memories."""
    lucy, ann = Entity("ent_l", 1, SCOPE, "person", "Lucy Lee"), Entity("ent_a", 1, SCOPE, "person", "Ann")
    schema = preset("general")
    episode = SchemaRequest(scope=SCOPE, schema=schema, messages=(SAID,), candidates=(MOVED,))
    verdicts = [
        *await family.bind.bind([episode]),
        *await family.match.match([MatchRequest("Lucy", "person", ("Lucy moved to Porto.",), (lucy,))]),
        *await family.synthesise.synthesise([SynthesisRequest(ann, schema.by_name["person"], CATS)]),
        *await family.describe.describe([KeyRequest(ann, CATS)]),
    ]
    return [verdict.value for verdict in verdicts if isinstance(verdict, Judged)]


def by_prompt(question: Any) -> dict[str, Any]:
    return ANSWERS[question.prompt]


@pytest.mark.parametrize(
    "family",
    [rules_schema_reasoner(), llm_schema_reasoner(ScriptedModel(always=by_prompt), LlmSettings())],
    ids=["rules", "llm"],
)
async def test_both_families_make_records_of_the_same_kinds(family: SchemaReasoner) -> None:
    bound, match, drawn, described = await judgements(family)
    [one] = bound.candidates
    assert (one.entity_type, one.property_name, one.single_valued) == ("person", "residence", True)
    assert bound.title
    assert "Porto" in bound.summary
    assert ("Lucy", "Porto", "location", 0) in {(r.source, r.target, r.kind, r.candidate) for r in bound.relations}
    assert ("Annie", "Ann") in bound.aliases
    assert match.entity_id == "ent_l"
    order_2 = {prop.name for prop in preset("general").by_name["person"].of_order(2)}
    assert drawn
    assert {conclusion.property_name for conclusion in drawn} <= order_2
    assert all(set(conclusion.parents) == {cat.memory_id for cat in CATS} for conclusion in drawn)
    assert 0 < len(described.search_fields) <= 10


# ---------------------------------------------------------------------- services


def settings(home: Path, **llm: Any) -> Settings:
    return Settings(home=home, reasoner="llm", embedder="none", llm=LlmSettings(retries=0, **llm))


def episode() -> SchemaRequest:
    schema = preset("general")
    assert EPISODE in schema.by_name
    return SchemaRequest(scope=SCOPE, schema=schema, messages=(SAID,), candidates=(MOVED,))


async def test_services_judge_schemas_by_the_family_of_their_settings(tmp_path: Path) -> None:
    services = open_services(Settings(home=tmp_path, embedder="none"))
    try:
        assert services.schema_reasoner.name == "rules"
    finally:
        services.close()


async def test_the_model_of_the_settings_is_asked_and_one_serves_both_reasoners(tmp_path: Path) -> None:
    def answer(request: Request) -> Any:
        return reply(json.dumps(ANSWERS["bind"]))

    with ModelServer(answer) as server:
        services = open_services(settings(tmp_path, base_url=server.url, model="any"))
        try:
            model = services.model
            [found] = await services.schema_reasoner.bind.bind([episode()])
            assert services.model is model
            assert services.schema_reasoner is services.schema_reasoner
        finally:
            services.close()
        assert len(server.requests) == 1
    assert isinstance(found, Judged)
    assert found.value.candidates[0].property_name == "residence"


@pytest.mark.parametrize(("fallback", "judged"), [("none", False), ("rules", True)])
async def test_a_model_that_writes_nonsense_is_replaced_by_the_rules_where_settings_allow(
    tmp_path: Path, fallback: str, judged: bool
) -> None:
    with ModelServer(lambda request: reply("I would rather not.")) as server:
        services = open_services(settings(tmp_path, base_url=server.url, model="any", fallback=fallback))
        try:
            [found] = await services.schema_reasoner.bind.bind([episode()])
        finally:
            services.close()
    assert isinstance(found, Judged) is judged

"""What every search index must do with entities: names, links in text, likeness, revisions; never exact scores."""

from dataclasses import replace

import pytest
from support.documents import ANN, entity, make, make_entity

from mindmem.core.index.documents import entity_document
from mindmem.core.index.filters import parse_filter
from mindmem.core.index.port import EntityDocument, SearchIndex
from mindmem.core.records import Partition, Scope
from mindmem.core.schema.parts import near_parts, part

BOB = Scope(user_id="bob")


def fill(index: SearchIndex, *entities: EntityDocument) -> None:
    index.apply([], entities=entities, watermark=index.watermark() + 1)


def spelt(index: SearchIndex, text: str, scope: Scope = ANN) -> dict[str, tuple[str, ...]]:
    """Return what stands where a name was found, with its bearers."""
    return {text[link.start : link.end]: link.entity_ids for link in index.linked(scope.partition, text)}


def like(index: SearchIndex, text: str, k: int = 10) -> list[str]:
    return [scored.entity_id for scored in index.similar_entities(ANN.partition, text, k=k)]


# -- records


def test_entities_come_back_whole_and_the_newest_revision_wins(index: SearchIndex) -> None:
    full = entity(
        "José Álvarez", "Pepe", entity_type="person", description="Ann's uncle", search_fields=("family", "Madrid")
    )
    fill(index, entity_document(replace(full, revision=2, description="her uncle")), entity_document(full))
    fill(index, entity_document(full))
    assert index.entities([full.entity_id, "ent_none"]) == {
        full.entity_id: replace(full, revision=2, description="her uncle")
    }
    assert index.entities([]) == {}


def test_an_older_watermark_leaves_entities_out_too(index: SearchIndex) -> None:
    index.apply([], entities=[make_entity("Rome")], watermark=7)
    index.apply([], entities=[make_entity("Oslo")], watermark=6)
    assert set(index.entities(["ent_Rome", "ent_Oslo"])) == {"ent_Rome"}


def test_entities_are_written_beside_memories_and_are_no_memories(index: SearchIndex) -> None:
    index.apply([make("Ann lives in Rome", entity_id="ent_Ann", mentions=("ent_Rome",))],
                entities=[make_entity("Ann"), make_entity("Rome")], watermark=1)  # fmt: skip
    assert index.count(ANN.partition, None) == 1
    assert index.count(ANN.partition, parse_filter({"mentions": "ent_Rome"})) == 1
    assert set(spelt(index, "Did Ann see Rome?")) == {"Ann", "Rome"}


def test_pages_of_entities_join_without_gap_or_repeat(index: SearchIndex) -> None:
    fill(index, *(make_entity(f"Thing {number:02}") for number in range(7)))
    fill(index, make_entity("Gone", status="archived"), make_entity("Other", merged_into="ent_Thing 01"))
    seen: list[str] = []
    cursor = None
    while True:
        page = index.scan_entities(ANN.partition, cursor=cursor, limit=3)
        seen += [one.name for one in page.entities]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [f"Thing {number:02}" for number in range(7)]
    with pytest.raises(ValueError, match="cursor"):
        index.scan_entities(ANN.partition, cursor="nonsense")


# -- names


def test_a_name_or_alias_names_whatever_its_case_and_accents(index: SearchIndex) -> None:
    fill(index, make_entity("José Álvarez", "Pepe"), make_entity("北京"))
    assert index.named(ANN.partition, ["jose alvarez", "PEPE", " 北京 ", "Jose"]) == {
        "jose alvarez": ("ent_José Álvarez",),
        "pepe": ("ent_José Álvarez",),
        "北京": ("ent_北京",),
    }


def test_homonyms_are_both_named(index: SearchIndex) -> None:
    fill(index, make_entity("Jordan", entity_id="ent_land"), make_entity("Jordan", entity_id="ent_friend"))
    assert index.named(ANN.partition, ["Jordan"]) == {"jordan": ("ent_friend", "ent_land")}
    assert spelt(index, "I met Jordan") == {"Jordan": ("ent_friend", "ent_land")}


def test_a_merged_entitys_names_lead_to_the_one_it_became(index: SearchIndex) -> None:
    fill(index, make_entity("Bobby"), make_entity("Robert Smith"), make_entity("Rob"))
    fill(index, make_entity("Rob", revision=2, merged_into="ent_Bobby"))
    fill(index, make_entity("Bobby", revision=2, merged_into="ent_Robert Smith"))
    robert = ("ent_Robert Smith",)
    assert index.named(ANN.partition, ["Rob", "Bobby"]) == {"rob": robert, "bobby": robert}
    assert spelt(index, "She met Bobby and Robert Smith") == {"Bobby": robert, "Robert Smith": robert}
    assert like(index, "Rob or Bobby Smith") == ["ent_Robert Smith"]


def test_a_revision_takes_old_names_out_and_a_way_back_puts_them_in(index: SearchIndex) -> None:
    fill(index, make_entity("Initech", "the firm"))
    fill(index, make_entity("Acme", revision=2, entity_id="ent_Initech"))
    assert index.named(ANN.partition, ["Initech", "the firm", "Acme"]) == {"acme": ("ent_Initech",)}
    assert spelt(index, "Acme was Initech") == {"Acme": ("ent_Initech",)}
    assert like(index, "Initech") == []
    fill(index, make_entity("Initech", "the firm", revision=3))
    assert spelt(index, "Acme was Initech") == {"Initech": ("ent_Initech",)}


def test_an_archived_entity_is_kept_and_no_longer_named(index: SearchIndex) -> None:
    fill(index, make_entity("Rome", description="where Ann lives"))
    assert (spelt(index, "In Rome"), like(index, "Rome")) == ({"Rome": ("ent_Rome",)}, ["ent_Rome"])
    fill(index, make_entity("Rome", revision=2, status="archived", description="where Ann lives"))
    assert index.named(ANN.partition, ["Rome"]) == {}
    assert (spelt(index, "In Rome"), like(index, "Rome")) == ({}, [])
    assert index.entities(["ent_Rome"])["ent_Rome"].status == "archived"
    fill(index, make_entity("Rome", revision=3, description="where Ann lives"))
    assert spelt(index, "In Rome") == {"Rome": ("ent_Rome",)}


def test_names_never_cross_users_and_a_project_has_all(index: SearchIndex) -> None:
    fill(index, make_entity("Rex", entity_id="ent_a"), make_entity("Rex", entity_id="ent_b", scope=BOB))
    assert index.named(BOB.partition, ["Rex"]) == {"rex": ("ent_b",)}
    assert spelt(index, "Rex barks", BOB) == {"Rex": ("ent_b",)}
    assert index.named(Partition("default", ""), ["Rex"]) == {"rex": ("ent_a", "ent_b")}
    assert index.named(Partition("other", ""), ["Rex"]) == {}
    assert [one.entity_id for one in index.scan_entities(Partition("default", "")).entities] == ["ent_a", "ent_b"]


# -- parts of names


def test_whoever_has_one_of_the_parts_bears_it_archived_and_merged_ones_too(index: SearchIndex) -> None:
    def bearing(*asked: str, owner: Partition = ANN.partition) -> list[str]:
        return index.bearing(owner, asked)

    fill(index, make_entity("Ann Lee"), make_entity("Lee"), make_entity("Oslo"), make_entity("Ann", scope=BOB))
    whole = part("Lee")
    assert bearing(whole) == ["ent_Lee"]
    assert bearing(*near_parts("Ann")) == ["ent_Ann Lee"]
    assert bearing(*near_parts("Ann"), whole) == ["ent_Ann Lee", "ent_Lee"]
    assert bearing(*near_parts("Ann Lee"), owner=BOB.partition) == ["ent_Ann"]
    assert bearing(part("Ann"), whole, owner=Partition("default", "")) == ["ent_Ann", "ent_Lee"]
    assert bearing(part("Rome")) == bearing() == []
    fill(index, make_entity("Lee", revision=2, status="archived"), make_entity("Oslo", revision=2, merged_into="ent_X"))
    assert bearing(whole, part("Oslo")) == ["ent_Lee", "ent_Oslo"]
    fill(index, make_entity("Bergen", revision=3, entity_id="ent_Oslo"))
    assert bearing(part("Oslo"), part("Bergen")) == ["ent_Oslo"]
    assert bearing(part("Oslo")) == []


def test_many_parts_are_asked_for_at_once(index: SearchIndex) -> None:
    fill(index, *(make_entity(f"Thing {number}") for number in range(30)))
    asked = [part(f"Thing {number}") for number in range(1_500)]
    assert len(index.bearing(ANN.partition, asked)) == 30


# -- links


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Where does Ann live?", {"Ann": "Ann"}),
        ("where does ann live", {"ann": "Ann"}),
        ("Ann's house, Ann-Marie's boat", {"Ann": "Ann", "Ann-Marie": "Ann-Marie"}),
        ("Annabel is not known", {}),
        ("The University of Paris in Paris", {"University of Paris": "University of Paris", "Paris": "Paris"}),
        ("a Paris-based firm", {"Paris": "Paris"}),
        ("We use node.js, not Java", {"node.js": "Node.js"}),
        ("i play association football and dance salsa", {"association football": "association football",
                                                         "salsa": "salsa"}),
        ("Salsa is fun", {"Salsa": "salsa"}),
        ("She asked Will about it", {"Will": "Will"}),
        ("Will it rain? They will see.", {}),
        ("ask will about it", {}),
        ("Nobody is it, and it is nobody", {}),
        ("she saw jose alvarez", {"jose alvarez": "José Álvarez"}),
        ("Она живёт в городе Москва", {"Москва": "Москва"}),
        ("我住在北京附近", {"北京": "北京"}),
        ("李明来了，和李", {}), ("李明来了。李 来了", {"李": "李"}),
        ("저는 서울에서 살아요", {"서울": "서울"}),
        ("", {}), ("🤷 ... '' -", {}),
    ],
)  # fmt: skip
def test_names_are_found_in_text_as_whole_words(index: SearchIndex, text: str, wanted: dict[str, str]) -> None:
    known = [
        "Ann", "Ann-Marie", "Paris", "University of Paris", "Node.js", "association football", "salsa", "Will", "It",
        "José Álvarez", "Москва", "北京", "李", "서울", "-",
    ]  # fmt: skip
    fill(index, *(make_entity(name) for name in known))
    assert spelt(index, text) == {form: (f"ent_{name}",) for form, name in wanted.items()}


def test_the_longest_names_come_first_and_a_limit_keeps_them(index: SearchIndex) -> None:
    fill(index, make_entity("Oslo"), make_entity("Ann Lee"), make_entity("National Museum of Norway"))
    text = "Ann Lee saw the National Museum of Norway in Oslo"
    links = index.linked(ANN.partition, text, limit=2)
    assert [text[link.start : link.end] for link in links] == ["National Museum of Norway", "Ann Lee"]


def test_an_everyday_word_is_a_name_where_many_memories_are_about_its_bearer(index: SearchIndex) -> None:
    fill(index, make_entity("Mark"))
    text = "Mark the date when I saw Oslo"
    assert spelt(index, text) == {}
    index.apply(
        [make(f"Mark likes tea number {number}", entity_id="ent_Mark") for number in range(4)],
        watermark=index.watermark() + 1,
    )
    assert spelt(index, text) == {"Mark": ("ent_Mark",)}


# -- likeness


def test_the_best_field_scores_an_entity(index: SearchIndex) -> None:
    fill(
        index,
        make_entity("Rex", "the old dog", search_fields=("walks in the park", "vet appointments")),
        make_entity("City Park", description="where markets are held, with a pond and trees"),
        make_entity("Oslo"),
    )
    assert like(index, "vet appointments")[0] == "ent_Rex"
    assert like(index, "the old dog")[0] == "ent_Rex"
    assert like(index, "City Park")[0] == "ent_City Park"
    assert like(index, "telescope") == []
    assert like(index, "rex park oslo", k=2) == like(index, "rex park oslo")[:2]
    assert all(0.0 < one.score <= 1.0 for one in index.similar_entities(ANN.partition, "rex in the park of oslo"))

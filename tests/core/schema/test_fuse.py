"""Which entity a name denotes: renames, aliases and nicknames come to one, prefix twins and homonyms stay apart."""

from pathlib import Path

import pytest
from support.schema import USER, entities, related, say, schema_store, whose

from mindmem.core.memory import Memory
from mindmem.core.records import Entity

ONE = [
    # what is said, add by add, and the names that are one entity's
    (["My sister Anna Keller lives in Lisbon.", "Anna got engaged to Ben!"], ["Anna Keller", "Anna"]),
    (["My friend Robert Smith lives in Leeds.", "Robert Smith (Bob) got promoted."], ["Robert Smith", "Bob"]),
    (["My friend Robert Smith lives in Leeds.", "I met Bob for lunch."], ["Robert Smith", "Bob"]),
    (["My boss Dr. Miriam Vogel retired.", "Dr. Vogel was born in Graz."], ["Miriam Vogel"]),
    (["My cousin José Álvarez lives in Madrid.", "My cousin Jose Alvarez called."], ["José Álvarez"]),
    (["I met Katherine Moore. She goes by Kit at work.", "My friend Kit called."], ["Katherine Moore", "Kit"]),
    (["My sister Anna, we call her Annie, studies law.", "My sister Annie called."], ["Anna", "Annie"]),
    (["Everybody calls me Bobby.", "Bobby moved to Rome."], ["Sam", "Bobby"]),
    (["The World Health Organization (WHO) hired my aunt.", "My aunt works at WHO."],
     ["World Health Organization", "WHO"]),
    (["NRL stands for Northern Research Lab.", "I work at NRL."], ["Northern Research Lab", "NRL"]),
    (["I work at Widget Works.", "Widget Works was renamed to Lumen Labs."], ["Widget Works", "Lumen Labs"]),
    (["We renamed Falcon to Osprey.", "I work on Osprey, not on the old Falcon code."], ["Falcon", "Osprey"]),
    (["Elena Petrova, née Ivanova, is my friend."], ["Elena Petrova", "Ivanova"]),
    (["I work at Acme Inc. in Berlin.", "My boss at Acme is Ruth."], ["Acme Inc"]),
    (["My friend Liz Turner moved to Bath.", "My friend Elizabeth Turner called."], ["Liz Turner", "Elizabeth Turner"]),
    (["My uncle William Hart, aka Bill, is a pilot.", "My uncle Bill called."], ["William Hart", "Bill"]),
    (["I met Tom Fisher at the gym.", "My friend Thomas Fisher called."], ["Tom Fisher", "Thomas Fisher"]),
    (["My colleague Priya called. Priya Raman is moving to Oslo."], ["Priya", "Priya Raman"]),
    (["My sister Mary Jones called. She changed her name to Mary Stone."], ["Mary Stone"]),
    (["我妹妹叫王芳，我们都叫她芳芳。", "芳芳在腾讯工作。"], ["王芳", "芳芳"]),
    (["北京大学简称北大。", "我在北大工作。"], ["北京大学", "北大"]),
    (["My friend Alexander Novak lives in Prague.", "Alex came over for dinner."], ["Alexander Novak", "Alex"]),
    (["Our startup Brightleaf just rebranded to Verdant.", "Verdant sells seeds."], ["Brightleaf", "Verdant"]),
    (["Mom's name is Patricia but everyone calls her Patty.", "Patty turned 60."], ["Patricia", "Patty"]),
    (["The Data Platform Group, DPG for short, is hiring.", "I work at DPG."], ["Data Platform Group", "DPG"]),
]  # fmt: skip

TWO = [
    (["My friend Anna called.", "My friend Annabel called."], "Anna", "Annabel"),
    (["The Data Team lives in Berlin.", "I work at Data Team West."], "Data Team", "Data Team West"),
    (["We use Java for billing.", "We use JavaScript for the website."], "Java", "JavaScript"),
    (["I grew up in Springfield, Illinois.", "My friend Joe lives in Springfield, Ohio."],
     "Springfield, Illinois", "Springfield, Ohio"),
    (["My boss Anna Keller called.", "My sister Anna Schmidt called."], "Anna Keller", "Anna Schmidt"),
    (["My friend Anna met Anna Keller in town."], "Anna", "Anna Keller"),
    (["My friend Jon Berg called.", "My friend Jonas Berg called."], "Jon Berg", "Jonas Berg"),
    (["I met Sam Reed.", "I met Samantha Reed and Sam Reed at the party."], "Sam Reed", "Samantha Reed"),
    (["My uncle John Smith called.", "My cousin John Smith Jr. called."], "John Smith", "John Smith Jr"),
    (["I work at Acme Bank.", "My sister works at Acme Foods."], "Acme Bank", "Acme Foods"),
    (["My friend Mark lives in Rome.", "My friend Marc lives in Bonn."], "Mark", "Marc"),
    (["I live in York.", "My aunt lives in New York."], "York", "New York"),
    (["My friend Paul Klein called.", "My friend Paula Klein called."], "Paul Klein", "Paula Klein"),
    (["I work at Northwind.", "My brother works at Northwind Traders."], "Northwind", "Northwind Traders"),
    (["My teacher is Dr. Vogel.", "My friend Miriam Vogel called.", "My friend Peter Vogel called."],
     "Miriam Vogel", "Peter Vogel"),
    (["The World Trade Organization is in Geneva.", "I work at World Health Organization."],
     "World Trade Organization", "World Health Organization"),
]  # fmt: skip

HOMONYMS = [
    # the name, as one kind of thing and as another
    ("Jordan", ["My friend Jordan called me.", "Last year I travelled to Jordan."], {"person", "place"}),
    ("Paris", ["I moved to Paris in May.", "My sister Paris called me."], {"person", "place"}),
    ("Amazon", ["I work at Amazon.", "We travelled to the Amazon last summer."], {"organization", "place"}),
    ("Max", ["My dog Max is ill.", "My brother Max called."], {"animal", "person"}),
    ("Austin", ["I live in Austin.", "My colleague Austin called."], {"person", "place"}),
    ("Emma", ["I read the novel Emma.", "My friend Emma called."], {"work", "person"}),
    ("Sydney", ["My daughter Sydney laughed.", "We flew to Sydney."], {"person", "place"}),
]  # fmt: skip

HOMONYMS += [
    ("Mercury", ["My cat Mercury sleeps all day.", "Mercury is the smallest planet."], {"animal", "place"}),
    ("Saturn", ["The planet Saturn has rings.", "My horse Saturn won a race."], {"place", "animal"}),
    ("Phoenix", ["My parrot Phoenix can sing.", "We flew to Phoenix."], {"animal", "place"}),
    ("Chelsea", ["My niece Chelsea called.", "I live in Chelsea."], {"person", "place"}),
    ("Dakota", ["My friend Dakota called.", "My horse Dakota is brown."], {"person", "animal"}),
    ("Georgia", ["My aunt Georgia called me.", "We travelled to Georgia."], {"person", "place"}),
    ("Ford", ["I work at Ford.", "My dog Ford is ill."], {"organization", "animal"}),
    ("Dune", ["I read the novel Dune.", "My cat Dune is grey."], {"work", "animal"}),
    ("Lincoln", ["My brother Lincoln called.", "I moved to Lincoln."], {"person", "place"}),
    ("Delta", ["I work at Delta.", "We travelled to the Delta last year."], {"organization", "place"}),
    ("Luna", ["My daughter Luna laughed.", "My cat Luna is ill."], {"person", "animal"}),
    ("Orion", ["The constellation Orion is bright.", "My son Orion called."], {"place", "person"}),
]  # fmt: skip

NAMESAKES = [
    # a name of two of one kind, and who says what
    ("Eva", [("Ann", "My sister Eva lives in Graz."), ("Bob", "My sister Eva lives in Oslo.")]),
    ("Eva", [("Sam", "Ann's sister Eva is a nurse."), ("Sam", "Bob's sister Eva is a pilot.")]),
    ("Eva", [("Sam", "Eva is Ann's sister."), ("Sam", "Eva is Bob's sister.")]),
    ("Eva", [("Sam", "Ann's sister Eva is a nurse. Bob's sister Eva is a pilot.")]),
    ("Rex", [("Sam", "My dog Rex is ill."), ("Sam", "Tom's dog Rex barks.")]),
    ("Leo", [("Sam", "My son Leo started school."), ("Sam", "Nina's son Leo plays chess.")]),
    ("Paul", [("Sam", "Clara's husband Paul lives in Bern."), ("Sam", "My husband Paul lives in Cork.")]),
    ("Ines", [("Sam", "Maria's daughter Ines studies law."), ("Sam", "Peter's daughter Ines studies art.")]),
    ("Milo", [("Ann", "My cat Milo is grey."), ("Bob", "My cat Milo is black.")]),
    ("Ruth", [("Sam", "Ann's mother Ruth lives in Kiel."), ("Sam", "Bob's mother Ruth lives in Ulm.")]),
    ("Tim", [("Sam", "Mia's brother Tim called."), ("Sam", "Zoe's brother Tim moved to Rome.")]),
    ("Rose", [("Sam", "My grandma Rose baked a cake."), ("Sam", "Lena's grandma Rose sings in a choir.")]),
    ("Anna", [("Sam", "My cousin Anna lives in Rome."), ("Sam", "My sister Anna lives in Bonn.")]),
    ("Max", [("Sam", "My dog Max is old."), ("Sam", "My cat Max is young.")]),
]

NO_NAMESAKES = [
    ("Eva", [("Ann", "My sister Eva lives in Graz."), ("Sam", "Bob's wife Eva called.")]),
    ("Eva", [("Ann", "My sister Eva lives in Graz."), ("Sam", "Ann's sister Eva called.")]),
    ("Eva", [("Sam", "Ann and Bob are siblings."), ("Sam", "Ann's sister Eva is a nurse."),
             ("Sam", "Bob's sister Eva is a pilot.")]),
    ("Rex", [("Ann", "My husband Bob is a cook."), ("Ann", "My dog Rex is ill."), ("Bob", "My dog Rex barks.")]),
    ("Gina", [("Ann", "My friend Gina called."), ("Bob", "My friend Gina moved to Rome.")]),
    ("Theodore Marsh", [("Sam", "My colleague Theodore Marsh called."), ("Sam", "Ted Marsh moved to Rome.")]),
    ("Eva", [("Sam", "My sister Eva lives in Graz."), ("Sam", "My sister Eva moved to Oslo.")]),
    ("Milo", [("Sam", "Ann's cat Milo is grey."), ("Sam", "Milo is ill.")]),
    ("Eva", [("Sam", "My older sister Eva lives in Graz."), ("Sam", "Eva is my sister."),
             ("Sam", "My sister, Eva, called.")]),
    ("Nora", [("Sam", "My mom Nora retired."), ("Sam", "My mother Nora lives in Kiel.")]),
    ("Biscuit", [("Sam", "My puppy Biscuit is brown."), ("Sam", "My dog Biscuit ran away.")]),
    ("Tara", [("Sam", "My neighbour's daughter Tara called."), ("Sam", "Tara moved to Rome.")]),
]  # fmt: skip


def bearers(memory: Memory, name: str) -> list[Entity]:
    return [one for one in entities(memory) if name in (one.name, *one.aliases) or one.name.split()[0] == name]


@pytest.mark.parametrize(("name", "said"), NAMESAKES, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("turned", [False, True])
def test_namesakes_of_one_kind_are_told_apart_by_whose_they_are(
    tmp_path: Path, name: str, said: list[tuple[str, str]], turned: bool
) -> None:
    with schema_store(tmp_path) as memory:
        for day, (speaker, content) in enumerate(reversed(said) if turned else said, start=1):
            say(memory, content, name=speaker, day=day)
        assert len(bearers(memory, name)) == 2, [(one.name, one.aliases) for one in entities(memory)]


@pytest.mark.parametrize(("name", "said"), NO_NAMESAKES, ids=lambda value: value if isinstance(value, str) else "")
def test_whose_somebody_is_parts_nobody_where_both_may_hold(
    tmp_path: Path, name: str, said: list[tuple[str, str]]
) -> None:
    with schema_store(tmp_path) as memory:
        for day, (speaker, content) in enumerate(said, start=1):
            say(memory, content, name=speaker, day=day)
        assert len(bearers(memory, name)) == 1, [(one.name, one.aliases) for one in entities(memory)]


def test_what_is_said_later_of_a_namesake_goes_to_the_one_that_is_meant(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "My sister Eva lives in Graz.", name="Ann", day=1)
        say(memory, "My sister Eva lives in Oslo.", name="Bob", day=2)
        say(memory, "My sister Eva moved to Bonn.", name="Bob", day=3)
        say(memory, "Eva plays the cello.", name="Ann", day=4)
        lines: dict[str, set[str]] = {}
        for one in memory.list(
            user_id=USER, page_size=100, filters={"status": {"in": ["active", "archived"]}}
        ).memories:
            if one.entity_name == "Eva" and one.order == 1:
                lines.setdefault(one.entity_id, set()).add(one.value)
        assert sorted(map(sorted, lines.values())) == [["Bonn", "Oslo"], ["Graz", "the cello"]]
        assert not memory.verify()


def test_a_namesake_whose_evidence_was_deleted_is_met_by_name_again(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "Ann's sister Eva is a nurse.", "Eva was born in Graz.", day=1)
        [told] = [one for one in memory.list(user_id=USER).memories if "nurse" in one.content]
        memory.delete(told.memory_id)
        say(memory, "Bob's sister Eva is a pilot.", day=2)
        assert len(bearers(memory, "Eva")) == 1


@pytest.mark.parametrize(("said", "names"), ONE, ids=lambda value: str(value[-1]))
def test_renames_aliases_and_nicknames_come_to_one_entity(tmp_path: Path, said: list[str], names: list[str]) -> None:
    with schema_store(tmp_path) as memory:
        for day, content in enumerate(said, start=1):
            say(memory, content, day=day)
        bearers = [whose(memory, name) for name in names]
        assert all(len(one) == 1 for one in bearers), {name: whose(memory, name) for name in names}
        assert len(set.union(*bearers)) == 1, [(one.name, one.aliases) for one in entities(memory)]
        given = {word for name in names for word in (name, name.split()[0])}
        alike = [one for one in entities(memory) if one.name in given]
        assert len(alike) == 1, [(one.name, one.aliases, one.entity_type) for one in entities(memory)]


@pytest.mark.parametrize(("said", "one", "other"), TWO, ids=lambda value: value if isinstance(value, str) else "")
def test_prefix_twins_stay_apart(tmp_path: Path, said: list[str], one: str, other: str) -> None:
    with schema_store(tmp_path) as memory:
        for day, content in enumerate(said, start=1):
            say(memory, content, day=day)
        first, second = whose(memory, one), whose(memory, other)
        assert len(first) == len(second) == 1, [(each.name, each.aliases) for each in entities(memory)]
        assert first != second


@pytest.mark.parametrize(("name", "said", "kinds"), HOMONYMS, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("turned", [False, True])
def test_homonyms_of_different_kinds_stay_apart_in_either_order(
    tmp_path: Path, name: str, said: list[str], kinds: set[str], turned: bool
) -> None:
    with schema_store(tmp_path) as memory:
        for day, content in enumerate(reversed(said) if turned else said, start=1):
            say(memory, content, day=day)
        bearers = [one for one in entities(memory) if one.name == name]
        assert {one.entity_type for one in bearers} == kinds, [(one.name, one.entity_type) for one in entities(memory)]
        assert len(bearers) == 2


def test_a_first_name_that_fits_two_people_stays_apart_and_is_linked_to_both(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "My boss Anna Keller called.", day=1)
        say(memory, "My sister Anna Schmidt called.", day=2)
        say(memory, "My friend Anna called.", day=3)
        assert {one for one in related(memory) if one[1] == "maybe_same"} in (
            {("Anna", "maybe_same", "Anna Keller"), ("Anna", "maybe_same", "Anna Schmidt")},
            {("Anna Keller", "maybe_same", "Anna"), ("Anna", "maybe_same", "Anna Schmidt")},
            {("Anna", "maybe_same", "Anna Keller"), ("Anna Schmidt", "maybe_same", "Anna")},
            {("Anna Keller", "maybe_same", "Anna"), ("Anna Schmidt", "maybe_same", "Anna")},
        )


def test_two_known_entities_that_are_said_to_be_one_are_one_from_then_on(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "My colleague Kit lives in Leeds.", day=1)
        say(memory, "My neighbour Katherine Moore plays the cello.", day=2)
        assert whose(memory, "Kit") != whose(memory, "Katherine Moore")
        say(memory, "Katherine Moore, aka Kit, called.", day=4)
        [one] = whose(memory, "Kit")
        assert {one} == whose(memory, "Katherine Moore")
        assert {row.value for row in memory.timeline("Kit", "residence", user_id="sam")} == {"Leeds"}
        assert not memory.verify()


def test_the_same_add_again_changes_no_entity(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        for _ in range(2):
            say(memory, "My sister Anna Keller lives in Lisbon.", "Anna got engaged to Ben!", day=1)
        assert {one.revision for one in entities(memory)} == {1}

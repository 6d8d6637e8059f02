"""The closed classes of English that clause structure rests on, and classes of verbs and nouns by what they tell."""

from typing import Final

__all__ = [
    "ADVERBS",
    "CANONICAL",
    "CONCRETE",
    "CREATION",
    "CUT",
    "DEICTIC",
    "DIETS",
    "DISLIKES",
    "EVALUATIVE",
    "IRREGULAR_PAST",
    "KIN",
    "MANY_VERBS",
    "MARITAL",
    "MENTAL",
    "MODALS",
    "NOMINAL",
    "NO_NAMES",
    "NO_NAME_ENDINGS",
    "OPENERS",
    "PARTICIPLES",
    "PARTICLES",
    "PAST_STATE",
    "PLACED",
    "PREPOSITIONS",
    "PROGRESSIVE",
    "SINGLE_VERBS",
    "STABLE",
    "TEAM_VERBS",
    "TO_NOUNS",
    "TRANSIENT",
    "base_form",
    "third_person",
]  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODALS: Final = _words(
    "would could might should can can't cannot could've will shall may must wish hope want wanna need gotta gonna"
    " 'd 'll wouldn't couldn't"
    " shouldn't won't let let's if unless whether maybe perhaps probably possibly apparently supposedly allegedly"
    " hypothetically imagine suppose pretend guess think thought believe bet seems seem looks look feels feel"
    " sounds sound"
    " say says said claims claimed told tell heard hear rumor rumour reportedly wonder assume doubt"
)
"""Words after which a clause isn't asserted: possibility, wish, condition, hearsay, opinion."""

MENTAL: Final = _words(
    "mean agree see get got know understand remember forget realize realise notice find expect appreciate thank promise"
    " swear suggest recommend ask call go come make take give put set hit cut let keep bring leave show try start begin"
    " stop finish end turn run do did have has be am is are was were miss care feel wait plan intend decide happen help"
    " send add change move check mention talk speak-up sit stand walk meet hold lose spend open close follow stay pick"
    " watch listen point seem appear consider imagine stick deal pass reach reckon figure admit been being regret"
    " apologize apologise"
    " congratulate relate vote propose insist pray dream read beg bet reply respond hurt cost quit spread shut"
)
"""Verbs whose present tells of the moment, not of a lasting state."""

ADVERBS: Final = _words(
    "also really just still now currently actually always usually often mostly generally normally typically"
    " sometimes both"
    " already recently absolutely definitely truly only even rarely seldom simply basically honestly originally"
    " presently officially formerly previously primarily mainly finally totally completely especially particularly most"
    " very so quite long happily proudly personally"
)

PREPOSITIONS: Final = _words(
    "in at for on to with from as by near about into under over of against after around through within among between"
)

PARTICLES: Final = _words(
    "real down up out off away back hard together well mostly online ahead able apart less better best worse fast"
    " slowly"
    " just"
    " again almost maybe ever forward home inside outside upstairs along around"
)
"""Words after a verb that are no object of it."""

TO_NOUNS: Final = _words("allergic related married engaged devoted accustomed addicted loyal")
"""What "to" joins to a noun rather than to another verb."""

CUT: Final = _words(
    "because but so which who whom whose that when where if while although though since after before until unless than"
    " cause cuz and/or yet however therefore whereas plus except despite without during once whenever wherever"
    " according"
)
"""Words that begin another clause or a circumstance; a value ends before them."""

DEICTIC: Final = _words(
    "this that these those it you your yours him her hers his them their theirs there here one ones something"
    " everything"
    " nothing anything someone somebody everyone everybody what how all so too not me myself us it's that's them"
    " both each"
    " such more most some any many much lots plenty enough another other others either neither none same way thing"
    " things"
)
"""A value that begins with one of these can't be understood by itself."""

OPENERS: Final = _words(
    "yes yeah yep yup no nope nah oh ah aw aww wow hey hi hello well so and but also anyway anyways actually btw"
    " fyi ok okay"
    " sure thanks thank-you right indeed honestly basically plus haha lol hmm um uh oops yay cool great nice"
    " additionally"
    " moreover furthermore then now correction sorry"
)

TRANSIENT: Final = _words(
    "here there out back home away up down off over around late early ready busy sorry happy glad excited sad"
    " worried sure"
    " tired proud bored hungry thirsty sick ill fine good great okay ok well better bad nervous scared afraid curious"
    " grateful thankful thrilled pleased surprised shocked upset angry mad annoyed confused stressed overwhelmed amazed"
    " done finished able unable about going trying getting looking doing feeling thinking wondering hoping planning"
    " talking"
    " coming leaving waiting making taking having being so just not in on at impressed inspired honored honoured lucky"
    " lost stuck awake asleep alive free available welcome right wrong true serious kidding aware close next due likely"
    " supposed set used new gone all too very really super pretty quite kind sort almost nearly more most less as"
    " swamped full filled packed disappointed exhausted delighted touched moved blessed relieved jealous ashamed"
    " embarrassed lonely calm relaxed concerned flexible undecided hesitant eager keen-eyed puzzled skeptical sceptical"
    " cautious unsure uncertain pumped stoked hyped psyched"
)
"""Predicates that tell of the moment, of a place at hand, or nothing by themselves."""

STABLE: Final = _words(
    "vegan vegetarian pescatarian lactose-intolerant gluten-free left-handed right-handed colorblind colour-blind"
    " deaf blind"
    " single married divorced widowed engaged retired unemployed self-employed pregnant bilingual trilingual"
    " diabetic asthmatic"
    " celiac autistic dyslexic introverted extroverted muslim christian jewish hindu buddhist atheist catholic"
    " transgender"
    " gay bisexual nonbinary non-binary freelance"
)
"""Adjectives that tell of a lasting state of a person."""

DIETS: Final = _words("vegan vegetarian pescatarian")
MARITAL: Final = _words("single married divorced widowed engaged")
"""Lasting states of which a person has one at a time."""

EVALUATIVE: Final = _words(
    "details detail results steps"
    " best worst part rest most some one all end beginning start point purpose idea problem thing reason bulk goal"
    " issue trick key question answer fact truth point result advantage benefit downside beauty joy importance"
    " highlight good"
    " bad first last next only same whole other biggest greatest hardest easiest funniest coolest nicest time day"
    " way kind"
    " sort type middle front back top bottom side"
)
"""Heads of "the … of X" that name no property of X."""

KIN: Final = _words(
    "wife husband partner spouse fiance fiancée fiancee girlfriend boyfriend mother mom mum father dad parent"
    " parents sister"
    " brother sibling son daughter child kid baby twin grandmother grandma grandfather grandpa grandson"
    " granddaughter aunt"
    " uncle cousin niece nephew friend roommate flatmate neighbor neighbour colleague coworker boss manager mentor"
    " teacher"
    " coach doctor therapist dentist dog cat puppy kitten pet parrot hamster rabbit horse turtle goldfish stepmother"
    " stepfather stepson stepdaughter mother-in-law father-in-law ex-wife ex-husband"
)
"""Nouns that relate a person or animal to its person."""

CONCRETE: Final = KIN | _words(
    "dogs cats puppies kittens pets parrots hamsters rabbits horses turtles fish sisters brothers siblings sons"
    " daughters"
    " children kids twins grandchildren cousins nieces nephews car cars bike bikes motorcycle house houses"
    " apartment flat"
    " garden boat guitar piano violin drum laptop phone camera telescope scooter truck van company business shop"
    " restaurant"
    " farm allergy allergies degree phd diploma licence license permit tattoo tattoos employees members students"
    " offices"
    " branches stores plants chickens bees goats cows ducks birds snakes lizards iguana gecko ferret guinea snake bird"
    " beehives twins diabetes asthma adhd passport visa subscription account accounts servers nodes replicas shards"
)
"""What "have" possesses lastingly."""

NOMINAL: Final = _words(
    "name surname nickname birthday age job occupation profession employer company email address hometown major"
    " diet religion"
    " nationality citizenship height weight hobby hobbies goal dream language languages color colour food dish band"
    " song"
    " movie film book sport team city country username handle timezone allergy allergies star sign zodiac degree"
    " title role"
    " position salary budget deadline password pronouns blood instrument pet phone number size flavor flavour drink"
    " season address telephone mobile plan doctor dentist landlord therapist boss manager team"
    " birthplace residence motto editor framework database stack"
)
"""Nouns whose value may be a plain lower-case word ("my favourite colour is blue")."""

SINGLE_VERBS: Final = _words(
    "lives_in works_at works_for works_as lives_at address resides_in studies_at stays_in belongs_to weighs reports_to"
)
MANY_VERBS: Final = _words(
    "likes speaks plays owns has knows uses eats drinks enjoys collects teaches studies reads watches"
)
TEAM_VERBS: Final = _words(
    "use deploy host store build ship release run maintain test monitor track log cache queue document version tag lint"
    " support target require serve follow adopt"
)
"""What a group does as a group; elsewhere "we" is a family or friends."""

PROGRESSIVE: Final = {
    "living": "live", "working": "work", "studying": "study", "learning": "learn", "teaching": "teach",
    "training": "train",
    "interning": "intern", "majoring": "major", "dating": "date",
}  # fmt: skip
"""Progressive forms that tell of a lasting state."""

CANONICAL: Final = {
    "moves_to": "lives_in", "moves_into": "lives_in", "relocates_to": "lives_in", "resides_in": "lives_in",
    "based_in": "lives_in",
    "works_for": "works_at", "works_with": "works_with", "employed_by": "works_at", "employed_at": "works_at",
    "joins": "works_at",
    "loves": "likes", "adores": "likes", "enjoys": "likes", "likes": "likes", "hates": "likes", "dislikes": "likes",
    "detests": "likes", "loathes": "likes", "despises": "likes", "weds": "married_to", "marries": "married_to",
    "wed_to": "married_to", "marries_to": "married_to", "lives_at": "address", "works_as": "occupation",
    "phone_number": "phone", "telephone_number": "phone", "mobile_number": "phone", "cell_number": "phone",
    "cell_phone_number": "phone", "telephone": "phone", "mobile": "phone", "email_address": "email",
    "e-mail": "email", "job": "occupation", "profession": "occupation", "employer": "works_at",
    "home_address": "address", "mailing_address": "address", "residence": "lives_in", "home_town": "hometown",
    "fond_of": "likes", "into": "likes", "fan_of": "likes",
}  # fmt: skip
"""Wordings of one property to one name, so that a newer value meets the older."""

PLACED: Final = frozenset({"lives_in", "works_at", "resides_in", "stays_in"})
"""Properties whose value is a place or an employer with a name."""

DISLIKES: Final = _words("hate hates dislike dislikes detest detests loathe loathes despise despises")

PARTICIPLES: Final = _words(
    "born built written made held led won bought sold taught known drawn sung run set found given founded created owned"
    " spoken shown grown driven chosen sent kept left taken thrown worn broken paid told hidden put cut hit shot lit"
)
CREATION: Final = _words(
    "founded created written invented designed developed built directed composed painted produced discovered"
    " established"
    " authored made born located based employed married headquartered published released recorded signed situated"
    " introduced launched coined"
)
"""Participles that can be true of one value only."""

PAST_STATE: Final = {
    "moved": "move", "relocated": "relocate", "joined": "join", "married": "marry", "adopted": "adopt",
    "founded": "found", "graduated": "graduate", "retired": "retire", "switched": "switch",
}  # fmt: skip
"""Past verbs of the first person that leave a state behind."""

IRREGULAR_PAST: Final = _words(
    "forgot meant been gotten seen done gone founded wrote made built led won bought sold taught drew sang ran"
    " found gave became began took drove flew spoke chose"
    " grew knew held kept left lost met paid sent shot spent stood told thought threw wore came went got saw ate"
    " fell felt"
    " heard hid hit hurt laid lay put quit read rode rose said set shook shut slept slid stole struck swam swept"
    " swore tore"
    " understood woke wound was were had did brought caught fought sought bent bound broke burnt cut dealt dug"
    " drank fed"
)

_BASE: Final = {"has": "have", "does": "do", "goes": "go", "is": "be"}
_THIRD: Final = {
    "have": "has",
    "do": "does",
    "go": "goes",
    "be": "is",
    "am": "is",
    "are": "is",
    "was": "was",
    "were": "was",
}


NO_NAMES: Final = _words(
    "i it this that these those there here what who when where why how yes no ok okay hey hi hello thanks thank"
    " please wow"
    " great nice cool the a an my our your his her their its we you they he she if and but so or not as at in on"
    " for from to"
    " with sounds glad happy sorry good bad can could would should do does did have has had is are was were let"
    " let's just"
    " also everyone everybody someone somebody nobody nothing something anything everything most some many all both"
    " each"
    " every any one two three today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday"
    " sunday now"
    " then maybe congrats congratulations absolutely definitely totally exactly true right sure of looks seems"
    " feels love"
    " people things life time work music art nature speaking more less such other another step note subject re fyi"
    " update"
    " todo warning error after before since while during because although though family friends kids exercise money"
    " health"
    " food school home water weather sports reading books games crazy mixed funny fun best happiness confidence"
    " patience"
    " self trust respect support change success failure fear hope hard soft every-day overall finally meanwhile however"
    " still even only once until unless without within like lots plenty bummer wishing sending counting trying user"
    " assistant explain describe act write list give tell create provide generate make summarize"
    " compare discuss find show help add use check run update translate rewrite consider analyze identify trigger"
    " traditional modern many few several"
)
"""Words that begin sentences with a capital and name nobody."""

NO_NAME_ENDINGS: Final = (
    "ing",
    "tion",
    "sion",
    "ness",
    "ment",
    "ence",
    "ance",
    "ity",
    "ship",
    "ism",
    "ful",
    "ous",
    "ly",
    "ings",
)


def third_person(verb: str) -> str:
    """Return the third person singular of a base form.

    >>> [third_person(verb) for verb in ("live", "teach", "study", "play", "have")]
    ['lives', 'teaches', 'studies', 'plays', 'has']
    """
    if verb in _THIRD:
        return _THIRD[verb]
    if verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def base_form(verb: str) -> str:
    """Return the base of a third person singular.

    >>> [base_form(verb) for verb in ("lives", "teaches", "studies", "plays", "has", "uses")]
    ['live', 'teach', 'study', 'play', 'have', 'use']
    """
    if verb in _BASE:
        return _BASE[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb

"""English words that rules look at: negations, opposites, numbers, units, and words that carry no claim."""

from typing import Final

__all__ = [
    "CHANGE_CUES",
    "FILLERS",
    "MONTHS",
    "NEGATIONS",
    "NUMBERS",
    "OPPOSITES",
    "PLAIN_STARTS",
    "SCALES",
    "STANCES",
    "TEMPORAL",
    "UNITS",
    "WEEKDAYS",
]

NEGATIONS: Final = frozenset(
    "not never no none nobody nothing nowhere neither nor without hardly barely scarcely lack lacks".split()
)

OPPOSITES: Final = tuple(
    tuple(pair.split("/"))
    for pair in (
        "love/hate like/dislike like/hate love/dislike enjoy/hate enjoy/dislike adore/hate prefer/avoid"
        " allow/forbid allow/prohibit allow/ban allow/deny permit/forbid permit/prohibit accept/reject"
        " accept/refuse accept/decline approve/reject enable/disable enabled/disabled on/off open/close"
        " opened/closed start/stop start/finish begin/end begin/finish increase/decrease increase/reduce"
        " rise/fall raise/lower up/down high/low higher/lower highest/lowest more/less more/fewer most/least"
        " always/never before/after early/late earlier/later left/right north/south east/west hot/cold warm/cool"
        " big/small large/small long/short tall/short fast/slow heavy/light hard/soft hard/easy difficult/easy"
        " rich/poor cheap/expensive old/new old/young good/bad better/worse best/worst happy/sad true/false"
        " right/wrong correct/wrong safe/dangerous win/lose won/lost pass/fail passed/failed buy/sell bought/sold"
        " borrow/lend give/take send/receive arrive/leave arrive/depart enter/exit join/leave marry/divorce"
        " married/divorced married/single hire/fire hired/fired add/remove insert/delete install/uninstall"
        " include/exclude include/omit with/without inside/outside in/out over/under above/below public/private"
        " internal/external manual/automatic optional/required optional/mandatory active/inactive online/offline"
        " dead/alive full/empty wet/dry clean/dirty strong/weak success/failure first/last minimum/maximum"
        " min/max import/export input/output push/pull upload/download encrypt/decrypt lock/unlock male/female"
        " remember/forget trust/distrust agree/disagree support/oppose for/against encourage/discourage"
    ).split()
)
"""Pairs of which one word replaces the other only with another meaning."""

STANCES: Final = frozenset(
    "love like enjoy adore prefer hate dislike avoid detest despise loathe allow permit forbid prohibit ban deny accept"
    " approve reject refuse decline enable disable enabled disabled trust distrust agree disagree support oppose"
    " encourage discourage".split()
)
"""Words by which somebody is for or against something; the opposites among them turn a claim into its denial."""

FILLERS: Final = frozenset(
    "a an the really very quite just so also too well oh ah um uh hm please actually basically simply that is are was"
    " were am be been being do does did has will would shall 's 'm 're 'd 'll 've".split()
)
"""Words without which a sentence still makes the same claim, the negations and opposites being looked at apart."""

TEMPORAL: Final = frozenset(
    "now nowadays currently today anymore any longer more again lately still already ever since then these days".split()
)
"""Words that say that something is so at present."""

CHANGE_CUES: Final = (
    "no longer", "not anymore", "anymore", "any more", "now", "nowadays", "stopped", "quit", "changed", "switched",
    "instead", "correction", "actually", "used to", "from now on", "these days",
)  # fmt: skip

NUMBERS: Final = {
    **{
        word: value
        for value, word in enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
            " seventeen eighteen nineteen".split()
        )
    },
    **{
        word: 10 * value
        for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
    },
    **{
        word: value
        for value, word in enumerate(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
        )
    },
    "once": 1,
    "twice": 2,
    "both": 2,
    "couple": 2,
    "half": 0.5,
}
SCALES: Final = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

MONTHS: Final = {
    name: month
    for month, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

UNITS: Final = {
    name: names.split()[0]
    for names in (
        "kg kilo kilos kilogram kilograms", "g gram grams", "mg milligram milligrams", "lb lbs pound pounds",
        "oz ounce ounces", "t ton tons tonne tonnes", "km kilometer kilometers kilometre kilometres",
        "m meter meters metre metres", "cm centimeter centimeters centimetre centimetres",
        "mm millimeter millimeters millimetre millimetres", "mi mile miles", "ft foot feet", "in inch inches",
        "yd yard yards", "l liter liters litre litres", "ml milliliter milliliters millilitre millilitres",
        "gal gallon gallons", "cup cups", "ms millisecond milliseconds", "s sec secs second seconds",
        "min mins minute minutes", "h hr hrs hour hours", "d day days", "w week weeks", "mo month months",
        "y yr yrs year years", "% percent", "°c celsius", "°f fahrenheit",
        "k kelvin", "w watt watts", "kw kilowatt kilowatts",
        "v volt volts", "hz hertz", "khz", "mhz", "ghz", "b byte bytes", "kb", "mb", "gb", "tb", "bit bits", "kcal",
        "cal calorie calories", "mph", "kmh km/h", "$ usd dollar dollars", "€ eur euro euros", "£ gbp", "¥ yen jpy",
        "cny rmb yuan", "cent cents", "am a.m.", "pm p.m.", "bpm", "rpm", "px pixel pixels",
    )
    for name in names.split()
}  # fmt: skip
"""Names of units to one name each."""

PLAIN_STARTS: Final = frozenset(
    "i i'm i've i'd i'll my me we we're our you your he she it its it's they their his her this that these"
    " those there here the a an and but or so if when while after before since because as at by for from in"
    " into of off on out over to up with without no not never yes yeah ok okay hi hello hey thanks thank please"
    " sorry what who where why how which is are was were am do does did have has had can could will would"
    " should shall may might must let".split()
)
"""Words whose capital letter at the start of a sentence says nothing."""

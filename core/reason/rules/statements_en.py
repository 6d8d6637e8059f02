"""English clauses into statements by structure: subject, verb and object; "the R of X is Y"; possessives; passives.

There is no list of relations: verbs, nouns and participles name the property themselves. Closed classes of words say
what is asserted at all (not questions, wishes, hearsay, conditions) and what lasts beyond the moment. What doesn't fit
a structure fully is left to be kept in its own words: no statement is better than a wrong one.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from mindmem.core.reason.rules import changes_en
from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.clauses_en import clauses, is_name, words_of
from mindmem.core.reason.rules.nouns_en import Subject, belonging, definite, kind, possessive
from mindmem.core.reason.rules.phrases_en import Phrases, Value
from mindmem.core.reason.rules.places_en import placed
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.reason.rules.statements import OWNER, Statement
from mindmem.core.reason.rules.verbs_en import TEAM_SUBJECT, active, is_team

__all__ = ["read"]

_WHOLE: Final = frozenset("if unless whether imagine suppose wish pretend hypothetically otherwise".split())
_UNREADABLE: Final = re.compile(
    r"[?\"“”`<>{}|=\\？]|https?:|\s#\s|(?:^|\s)['‘]\w+ [^'’]*['’](?!\w)"
    r"|^(?:[Ff]or (?:example|instance)|[Ee]\.g\.)(?=[\s,])"
    r"|^[Ii]n (?:the|my|this|a) (?:novel|story|book|movie|film|game|song|dream|play|poem)\b"
)
_COPULAS: Final = frozenset({"am", "is", "are", "was", "were"})
_EMPHATIC: Final = frozenset("love like have enjoy live work own speak play use know prefer hate study teach".split())
_DEMONYM: Final = ("ish", "ese", "ian", "can", "ean", "ench", "utch", "ek", "iss", "aqi", "ali", "man")
_MAX_SENTENCE: Final = 400


def read(
    sentence: Sentence,
    names: Callable[[str], str],
    taken: Sequence[tuple[int, int]],
    known: frozenset[str] = frozenset(),
) -> tuple[list[Statement], bool]:
    """Return the statements of a sentence, and whether they hold all that it says.

    Args:
        sentence: One sentence.
        names: Resolves a pronoun of the third person to a name, or to the empty string.
        taken: Characters of time expressions.
        known: Lower-cased names that are known from elsewhere.
    """
    if len(sentence.text) > _MAX_SENTENCE or _UNREADABLE.search(sentence.text):
        return [], False
    words = words_of(sentence.text, sentence.start)
    if any(word.low in _WHOLE for word in words):
        return [], False
    parts = clauses(words, lambda word: any(start <= word.start < end for start, end in taken))
    found: list[Statement] = []
    whole = bool(parts)
    for clause in parts:
        statement = _clause(Phrases(clause, sentence, taken), names, known)
        if statement is not None:
            found.append(statement)
        whole = whole and statement is not None and statement.whole
    return found, whole


def _clause(phrases: Phrases, names: Callable[[str], str], known: frozenset[str]) -> Statement | None:
    low = phrases.low
    if len(low) < 3:
        return None
    if phrases.doubted():
        stand = low.index("stand") if low[1:].count("stand") == 1 else 0
        bearing = 0 < stand < 6 and low[stand - 2 : stand] == ["can", "not"] and low[0] == "i"
        return active(phrases, Subject(OWNER, "person", 1, person=1), stand, -1, base="stand") if bearing else None
    owner = names(low[0]) if low[0] in ("his", "her", "their") else ""
    statement = changes_en.scheduled(phrases) or changes_en.property_changed(phrases)
    statement = statement or definite(phrases) or possessive(phrases, owner)
    if statement is not None:
        return statement
    subject = _subject(phrases, names, known)
    if subject is None:
        return None
    statement = _predicate(phrases, subject)
    return phrases.about(statement, subject.said) if statement is not None and subject.said else statement


def _subject(phrases: Phrases, names: Callable[[str], str], known: frozenset[str]) -> Subject | None:
    low, words = phrases.low, phrases.words
    if low[0] == "i":
        return Subject(OWNER, "person", 1, person=1)
    if low[0] == "we":
        return TEAM_SUBJECT if is_team(low) else Subject(OWNER, "person", 1, person=1)
    if low[0] in ("he", "she"):
        name = names(low[0])
        return Subject(name, "person", 1, said=name) if name else None
    if low[0] == "my" and len(low) > 3 and low[1] in lexicon.KIN and is_name(words[2]):
        return Subject(words[2].text, "person", 3)
    begin = 1 if low[0] == "the" and is_name(words[1]) else 0
    stop = begin
    while stop < len(words) and not low[stop].endswith("'s"):
        light = (
            stop > begin
            and low[stop] in ("of", "de", "la", "van", "von", "der", "the", "&")
            and phrases.name_at(stop + 1)
        )
        if not is_name(words[stop]) and not light:
            break
        stop += 1
    if (
        stop == begin
        or stop - begin > 6
        or low[begin] in lexicon.NO_NAMES
        or low[begin].endswith(lexicon.NO_NAME_ENDINGS)
    ):
        return None
    first = words[begin].text
    if stop - begin == 1 and len(first) == 1:
        return None
    sure = stop - begin > 1 or low[begin] in known or any(sign.isupper() or sign.isdigit() for sign in first[1:])
    return Subject(phrases.text(begin, stop), "", stop, sure=sure)


def _predicate(phrases: Phrases, subject: Subject) -> Statement | None:
    """Pass adverbs, auxiliaries and negations, and read the verb."""
    low, place = phrases.low, subject.after
    polarity, used_to, perfect = 1, False, False
    while place < len(low):
        word, after = low[place], low[place + 1] if place + 1 < len(low) else ""
        if word in ("never", "not"):
            polarity = -1
        elif word == "no" and after == "longer":
            polarity, place = -1, place + 1
        elif word == "used" and after == "to":
            used_to, place = True, place + 1
        elif word in ("do", "does", "did"):
            if after != "not" and (word == "did" or after not in _EMPHATIC):
                return None
            if word == "did" and "use" not in low[place : place + 4]:
                return None  # a denial of something past is a story
        elif word in ("have", "has", "had") and _is_perfect(low, place + 1):
            if word == "had":
                return None
            perfect = True
        elif word not in lexicon.ADVERBS and word != "all":
            break
        place += 1
    if place >= len(low):
        return None
    if low[place] in _COPULAS or (perfect and low[place] == "been"):
        return _copula(phrases, subject, place, -1 if used_to else polarity, used_to)
    if polarity > 0 and not used_to and (change := changes_en.began(phrases, subject, place)) is not None:
        return change
    if perfect:
        if polarity > 0 and low[place] in lexicon.PAST_STATE and subject.person == 1:
            return active(phrases, subject, place, polarity)
        base = {"lived": "live", "worked": "work"}.get(low[place], "")
        return active(phrases, subject, place, polarity, base=base) if base else None
    return active(phrases, subject, place, -1 if used_to else polarity, used_to=used_to)


def _is_perfect(low: Sequence[str], place: int) -> bool:
    while place < len(low) and (low[place] in lexicon.ADVERBS or low[place] in ("not", "never")):
        place += 1
    if place >= len(low):
        return False
    return low[place] in ("been", "had", "known") or low[place].endswith("ed") or low[place] in lexicon.PARTICIPLES


def _copula(phrases: Phrases, subject: Subject, verb: int, polarity: int, used_to: bool) -> Statement | None:
    """Read what follows a form of "be": a noun, a participle, an age, a lasting quality, an origin."""
    low = phrases.low
    place = phrases.skip_adverbs(verb + 1)
    if place < len(low) and low[place] in ("not", "never"):
        polarity, place = -polarity, phrases.skip_adverbs(place + 1)
    if low[place : place + 2] == ["no", "longer"]:
        polarity, place = -1, place + 2
    if place >= len(low):
        return None
    word = low[place]
    person = subject.entity_type == "person"
    past = used_to or (low[verb] in ("was", "were") and person)
    if word in ("a", "an", "the"):
        return kind(phrases, subject, place, polarity, past)
    if polarity > 0 and not used_to and person:
        change = changes_en.now_at(phrases, subject, place)
        change = change or (changes_en.began(phrases, subject, place) if word in ("hired", "recruited") else None)
        if change is not None:
            return change
    if past and word != "born":
        return None
    if (word in lexicon.PROGRESSIVE and subject.person != 3) or (word in lexicon.PROGRESSIVE and subject.said):
        return active(phrases, subject, place, polarity, base=lexicon.PROGRESSIVE[word])
    if phrases.participle(place) or _adjective(phrases, place):
        return _with_preposition(phrases, subject, place, polarity)
    single: bool | None = None
    name, value = "", None
    if person and (value := _age(phrases, place)) is not None:
        name, single = "age", True
    elif word in lexicon.STABLE:
        name = "diet" if word in lexicon.DIETS else "marital_status" if word in lexicon.MARITAL else "is"
        value = Value(phrases.words[place].text, place + 1, phrases.done(place + 1), False)
        single = None if name == "is" else True
    elif word == "from":
        name, value = "from", phrases.value(place + 1)
        value = value if value is not None and value.name else None
    elif subject.person != 1:
        return belonging(phrases, subject, place, polarity)
    elif phrases.words[place].text[:1].isupper() and place + 1 == len(low):
        value = Value(phrases.words[place].text, place + 1, True, True)
        name, single = ("nationality", None) if word.endswith(_DEMONYM) else ("name", True)
        if name == "name" and (polarity < 0 or word in lexicon.NO_NAMES | lexicon.TRANSIENT):
            return None
    if value is None:
        return None
    return phrases.statement(subject.entity, subject.entity_type, name, value, single=single, polarity=polarity)


def _adjective(phrases: Phrases, place: int) -> bool:
    low = phrases.low
    return (
        place + 2 < len(low)
        and low[place + 1] in lexicon.PREPOSITIONS
        and low[place].isalpha()
        and low[place] not in lexicon.TRANSIENT | lexicon.DEICTIC | lexicon.CUT
        and not low[place].endswith("ing")
        and not is_name(phrases.words[place])
    )


def _with_preposition(phrases: Phrases, subject: Subject, place: int, polarity: int) -> Statement | None:
    """Read "founded by Y", "born in Y", "allergic to Y"."""
    low = phrases.low
    word, preposition = low[place], low[place + 1]
    value = phrases.value(place + 2, timed=True)
    if value is None or (preposition == "to" and word not in lexicon.TO_NOUNS and not value.text[0].isupper()):
        return None
    if value.text.split()[0].endswith("ing") and not value.name and preposition != "by":
        return None  # "interested in learning more": a wish of the moment
    name = lexicon.CANONICAL.get(f"{word}_{preposition}", f"{word}_{preposition}")
    if name in lexicon.PLACED and placed(name, value, phrases) != name:
        return None
    number = value.text[:1].isdigit()
    if subject.person != 1 and not value.name and not (number or (subject.sure and word in lexicon.TO_NOUNS)):
        return None
    single = True if word in lexicon.CREATION and preposition in ("by", "in", "at", "to") else None
    return phrases.statement(subject.entity, subject.entity_type, name, value, single=single, polarity=polarity)


def _age(phrases: Phrases, place: int) -> Value | None:
    low = phrases.low
    if not low[place].isdigit() or not 0 < int(low[place][:4]) < 130:
        return None
    rest = low[place + 1 :]
    if rest and rest[:2] not in (["years", "old"], ["years", "of"]) and rest[0] not in ("now", "today"):
        return None
    end = place + (3 if rest[:1] == ["years"] else 1)
    return Value(phrases.words[place].text, end, phrases.done(end), True)

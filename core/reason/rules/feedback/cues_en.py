"""Corrections in English sentences, by the words that open them and by what is left of them then."""

import re
from dataclasses import replace

from mindmem.core.language.words import content_words, words
from mindmem.core.reason.rules.feedback import patterns_en as patterns
from mindmem.core.reason.rules.feedback.reading import Reading
from mindmem.core.reason.rules.feedback.scopes import lead_of
from mindmem.core.reason.rules.feedback.unmeant import about_code, denies

__all__ = ["read"]


def read(sentence: str, before: str, *, explicit: bool, opened: bool = False) -> Reading | None:
    """Return what an English sentence corrects, None for nothing.

    Args:
        sentence: one sentence, quotations blanked out.
        before: what the assistant said before it.
        explicit: it was handed in as feedback, so that a claim or a lasting wish needs no further cue.
        opened: the sentence before said that something is wrong.
    """
    text = patterns.OPENING.sub("", sentence.strip()).rstrip(" .!?…")
    text, refused = _after(patterns.NO, text)
    text, actual = _after(patterns.ACTUALLY, text)
    text, wrong = _after(patterns.WRONG, text)
    again, more = _after(patterns.NO, text)
    text = patterns.OPENING.sub("", again if more else text)
    text, later = _after(patterns.ACTUALLY, text)
    if patterns.MIXED.match(text) or denies(text):
        return Reading("replace", "", bare=True)
    wrong = wrong or opened
    cued = refused or actual or wrong or later
    if not text:
        return Reading("replace", "", bare=True) if cued else None
    lead = lead_of(text)
    found = _read(
        text[len(lead) :], before, cued=cued, explicit=explicit, wrong=wrong or refused or later, led=bool(lead)
    )
    if found is None or not found.statement or found.fragment:
        return found
    found = replace(found, statement=patterns.CONTRACTED.sub(r"\g<whose> is ", found.statement))
    if not lead:
        return found
    return replace(
        found,
        statement=lead + found.statement[0].lower() + found.statement[1:]
        if found.directive
        else lead + found.statement,
    )


def _read(text: str, before: str, *, cued: bool, explicit: bool, wrong: bool, led: bool) -> Reading | None:
    """Return what is left of a sentence without its openers comes to; ``led`` by the words that say when it holds."""
    if patterns.IDIOM.match(text):
        return None
    if not cued and patterns.PRESENT.search(text) is not None and patterns.PASSING.match(text) is not None:
        return None
    if match := patterns.AFTERWARDS.match(text):
        return _noted(match["rest"])
    if (found := _taken_back(text)) is not None or (found := _present(text, before, cued=cued)) is not None:
        return found
    if (found := _standing(text)) is not None:
        return found
    if (found := _instead(text, cued=cued or explicit)) is not None:
        return None if about_code(text) and not explicit else found
    if match := patterns.MEANT.match(text):
        return _meant(match["rest"], sure=cued or not re.match(r"(?:what )?i (?:\w+ )?said\b", text, re.IGNORECASE))
    if match := patterns.TOLD.match(text):
        return Reading("state", match["rest"]) if _claims(match["rest"]) else None
    if wrong and (match := patterns.ITS.match(text)) is not None:
        value = patterns.EVER.sub("", match["value"])
        if value.lower().startswith("not "):  # it denies only what was just said
            told = set(content_words(value[4:])) <= set(content_words(before))
            return Reading("replace", "", bare=True) if told else None
        if len(value.split()) <= 5:
            return Reading("replace", value, fragment=True)
    if patterns.IMPERATIVE.match(text):
        asked = cued or explicit or ((led or patterns.TRAILS.search(text) is not None) and not about_code(text))
        return Reading("state", text, directive=True) if asked else None
    if not _claims(text) or patterns.NOT_ONLY.search(text):
        return None
    if patterns.WITHIN.match(text):
        return Reading("replace", patterns.WITHIN.sub(r"\1", text, count=1))
    if cued:
        own = re.match(r"(?:i|my|we|our)\b", text, re.IGNORECASE) is not None
        return Reading("replace", text) if own or not about_code(text) else None
    disliked = patterns.AVERSION.match(text) is not None and patterns.SUGGESTS.search(before) is not None
    return Reading("state", text) if explicit or disliked else None


def _noted(rest: str) -> Reading | None:
    """Return the reading of what the user asks to keep in mind."""
    if patterns.IMPERATIVE.match(rest):
        return _wish(rest)
    own = re.search(r"\b(?:i|i['’]m|my|me|we|our|us)\b", rest, re.IGNORECASE) is not None
    return Reading("state", rest) if _claims(rest) or (own and len(words(rest)) > 3) else None


def _present(text: str, before: str, *, cued: bool) -> Reading | None:
    """Return the reading of a last clause that says how something is now of which the assistant has just spoken."""
    match = patterns.PRESENT.search(text)
    if match is None or about_code(text):
        return None
    core = text[: match.start()]
    if not cued and set(content_words(core)).isdisjoint(content_words(before)):
        return None
    clause = patterns.CLAUSE.split(core)[-1]
    if _claims(clause):
        return Reading("replace", clause) if cued or patterns.STEADY.match(clause) else None
    its = patterns.ITS.match(clause)
    value = its["value"] if its is not None and clause != core else ""
    return Reading("replace", value, fragment=True) if 0 < len(value.split()) <= 5 else None


def _meant(rest: str, *, sure: bool) -> Reading | None:
    if _claims(rest):
        return Reading("replace", rest)
    if not sure or patterns.IMPERATIVE.match(rest) or len(rest.split()) > 6:
        return None
    return Reading("replace", rest, fragment=True)


def _after(opener: "re.Pattern[str]", text: str) -> tuple[str, bool]:
    match = opener.match(text)
    return (text[match.end() :], True) if match else (text, False)


def _claims(text: str) -> bool:
    """Whether words claim something that can be understood without what was said before."""
    return patterns.CLAIM.match(text) is not None and patterns.NO_CLAIM.match(text) is None and len(words(text)) > 2


def _taken_back(text: str) -> Reading | None:
    if patterns.ONCE.match(text):
        return Reading("retract", "", directive=True)
    if patterns.DISOWN.search(text) and len(text.split()) < 12:
        return Reading("retract", "", directive=True)
    away = patterns.AWAY.match(text)
    name = patterns.NAME.search(away["claim"]) if away is not None and not about_code(text) else None
    if name is not None:
        return Reading("retract", "", rejected=name.group())
    match = patterns.FORGET.match(text)
    if match is None or re.match(
        r"(?:please )?(?:forget|delete|remove|drop|erase) (?:it|that|this|me)\b(?! (?:i|my)\b)", text, re.IGNORECASE
    ):
        return None
    what = match["what"] or match["said"] or match["false"]
    forgets = match["what"] is not None
    if forgets and not re.search(r"\b(?:i|i['’]m|my|me|we|our)\b|^(?:please )?forget (?:about )?", text, re.IGNORECASE):
        return None
    if about_code(text):
        return None
    return Reading("retract", "", rejected=re.sub(r"^(?:that |about )+", "", what, flags=re.IGNORECASE))


def _standing(text: str) -> Reading | None:
    """Return the lasting wish of a sentence."""
    code = about_code(text)
    if match := patterns.STANDING.match(text):
        cue = match["cue"]
        return _wish(match["deed"]) if not code or cue or match["deed"] else None
    if match := patterns.FROM_NOW.match(text):
        deed = match["deed"] or match["before"]
        if _claims(deed) and not patterns.IMPERATIVE.match(deed):
            return Reading("state", deed)
        return _wish(text if match["before"] else deed)
    if match := patterns.REMEMBER.match(text):
        if match["deed"]:
            return _wish(match["deed"])
        rest = match["rest"]
        if _claims(rest):
            return Reading("state", rest)
        return _standing(rest)
    if match := patterns.STOP.match(text):
        stopped = match["verb"]
        if stopped and code and not re.search(r"\b(?:again|ever|any ?more)\b", text, re.IGNORECASE):
            return None
        return _wish(match["deed"])
    return None


def _wish(deed: str) -> Reading | None:
    return Reading("state", deed, directive=True, lasting=True) if len(deed.split()) > 1 else None


def _instead(text: str, *, cued: bool) -> Reading | None:
    """Return the reading of words that name both what is wrong and what is right."""
    if match := patterns.NOT_BUT.match(text):
        head = match["head"].strip()
        old, new = match["old"].strip(), match["new"].strip()
        if not head or re.match(r"(?:it|that|this|he|she|they|i (?:meant|said))\b", head, re.IGNORECASE):
            return Reading("replace", new, rejected=old, fragment=True) if len(new.split()) <= 6 else None
        if re.match(r"(?:i|my|our|we|the|(?-i:[A-Z])\w+)\b", head, re.IGNORECASE) and len(new.split()) <= 6:
            affirmed = re.sub(r"\s*(?:\bnot|n['’]t)\s*$", "", text[: match.start("old")], flags=re.IGNORECASE)
            return Reading("replace", re.sub(r"\b(?:do|does)$", "", affirmed).strip() + f" {new}", rejected=old)
        return None
    for pattern in (patterns.BUT_NOT, patterns.INSTEAD):
        match = pattern.match(text)
        if match is None:
            continue
        claim, old = match["claim"].strip(" ,"), match["old"].strip()
        if patterns.PRONOUN.fullmatch(old):
            return None
        if pattern is patterns.BUT_NOT and patterns.DENIES.search(claim):  # "I'm not X" denies, "Y, not X" replaces
            return None
        meant = re.match(
            r"(?:what )?i (?:actually |really )?(?:meant|mean|said)(?: was| is| that)? ", claim, re.IGNORECASE
        )
        said = claim[meant.end() :] if meant else claim
        its = patterns.ITS.match(said)
        if its is not None:
            said = its["value"]
        if patterns.IMPERATIVE.match(said):
            return Reading("state", text, rejected=old, directive=True) if cued else None
        if _claims(said) and its is None:
            return Reading("replace", said, rejected=old) if cued or meant or pattern is patterns.BUT_NOT else None
        if (cued or meant or its is not None) and len(said.split()) <= 6:
            return Reading("replace", said, rejected=old, fragment=True)
    return None

"""Corrections in English sentences, by the words that open them and by what is left of them then."""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.language.words import content_words, words
from mindmem.core.reason.rules.feedback.reading import Reading
from mindmem.core.reason.rules.feedback.scopes import lead_of
from mindmem.core.reason.rules.feedback.unmeant import about_code, denies

__all__ = ["read"]

_APOS: Final = r"['’]"
_OPENING: Final = re.compile(
    r"^(?:(?:oh|ah|hey|hi|hello|sorry|well|ok(?:ay)?|um+|uh+|hmm+|wait|hang on|look|listen|yes|yeah|and|but|so|also"
    r"|then|please|again"
    r"|by the way|thanks|thank you|great|assistant)\b[,!.:;–— -]*)+",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^(?:no+|nope|nah|not quite|not exactly|no,? thanks|no,? thank you|wrong|incorrect)\s*[,.;:!–—-]+\s*",
    re.IGNORECASE,
)
_WRONG: Final = re.compile(
    rf"^(?:(?:that|this|it|all that|what you (?:said|wrote|have))(?:{_APOS}s| is| was|{_APOS}re| are)?(?: still"
    rf"| just| simply| completely"
    r"| totally| all)* (?:wrong|incorrect|mistaken|outdated|not (?:right|correct|true|accurate|what i (?:said|meant"
    r"|asked for|told you))"
    rf"|isn{_APOS}t (?:right|correct|true|accurate))|(?:that|this|it) isn{_APOS}t (?:right|correct|true|accurate"
    rf"|what i (?:said|meant))"
    rf"|you(?:{_APOS}ve| have)?(?: got| have)?(?: that| it| this| my [\w ]{{2,30}}?)? wrong|you(?:{_APOS}re"
    rf"| are) (?:wrong|mistaken)"
    rf"|you(?:{_APOS}ve| have)? (?:misunderstood|mixed (?:that|it|things|them) up|confused (?:that|it|things"
    rf"|them))(?: me)?"
    r"|(?:big |small )?correction|scratch that|my mistake|i misspoke|i was wrong|let me correct (?:that|you|myself)"
    rf"|that{_APOS}s not it)\b(?: about (?:that|this|me))?\s*[,.;:!–—-]*\s*(?:(?:because|since|and|but)\s+)?",
    re.IGNORECASE,
)
_MEANT: Final = re.compile(
    r"^(?:what )?i (?:actually |really |just )?(?:meant|mean|was talking about|said)(?: to say| to write)?(?: that"
    r"| was| is)?[,:]? (?P<rest>.+)$",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    rf"^(?:i|we)(?:{_APOS}ve| have)?(?: already| just| clearls?y)* (?:told you|mentioned|said)(?: before| already"
    rf"| earlier| yesterday"
    r"| last time| twice| many times)*(?: that|,|:)? (?P<rest>.+)$",
    re.IGNORECASE,
)
_ACTUALLY: Final = re.compile(
    r"^(?:(?:actually|in fact|to be precise|to be clear|for (?:the|your) (?:record|information|notes)|fyi"
    r"|for what it['’]s worth)\b[,:]?\s*"
    r"|(?:(?:a|one|just|quick|small|tiny|minor|little) )*"
    r"(?:fix|correction|update|edit|amendment|heads[- ]up|clarification)"
    r"\s*[:,–—-]+\s*)",
    re.IGNORECASE,
)
_MIXED: Final = re.compile(
    r"^you(?:['’]re| are| keep| must be|['’]ve| have)? (?:mix(?:ing|ed)|confus(?:ing|ed|e)|think(?:ing)? of)\b.*$",
    re.IGNORECASE,
)
_AFTERWARDS: Final = re.compile(
    r"^(?P<rest>.+?)\s*[,;:–—-]+ *(?:so )?(?:please )?"
    r"(?:keep (?:that|this|it) in mind|(?:remember|note) (?:that|this|it)"
    r"(?: down)?|bear (?:that|this) in mind|make a note(?: of (?:that|this|it))?|just so you know|in case you wonder"
    r"|for (?:the|your) (?:record|information|notes)|fyi)$",
    re.IGNORECASE,
)
_CONTRACTED: Final = re.compile(
    r"^(?P<whose>(?:my|our|the|his|her|their) [a-z]+)['’]s (?=\d|(?:an?|the|at|on|in|not|my|our|now|called)\b)",
    re.IGNORECASE,
)
_EVER: Final = re.compile(
    r"[, ]+(?:always has been|as (?:always|ever|usual)|of course|obviously|actually)$", re.IGNORECASE
)
_PRESENT: Final = re.compile(
    r"[, ]+(?:now|nowadays|these days|by now|currently|as of (?:now|today|this \w+))$", re.IGNORECASE
)
"""Words that set what holds against what held before."""
_STATE: Final = (
    r"(?:[a-z]+ing|on|in|at|done|ready|here|there|home|back|gone|over|up|down|off|out|open|closed|busy|tired|hungry|late"
    r"|better|worse|broken|fixed|fine|clear|green|red)\b"
)
"""What begins a state that passes."""
_PASSING: Final = re.compile(
    r"^(?:(?:i|we)(?:['’]m|['’]re| am| are)|(?:my|our|the|his|her|their|it|that|this)\b[\w ]{0,40}?(?:['’]s| is| are))"
    rf" {_STATE}",
    re.IGNORECASE,
)
_STEADY: Final = re.compile(
    rf"^(?:(?:my|our|the|his|her|their) [\w ]{{2,40}}?(?:['’]s| is| are) (?!{_STATE})"
    r"|(?:i|we) (?:live|work|use|drink|eat|prefer|study|drive|play|speak|go by)\b)",
    re.IGNORECASE,
)
"""What stays so for a while, unlike what somebody is doing just now."""
_CLAUSE: Final = re.compile(r"[,:;–—] *(?=(?:i|my|we|our|the|it|that)\b)", re.IGNORECASE)
_AWAY: Final = re.compile(
    r"^(?P<claim>.+?),? (?:so|and) (?:please |you can |can you )*(?:drop|forget|remove|delete|erase|strike|take)"
    r" (?:him|her|it|them|that|this)\b(?! (?:to|with)\b)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\b(?!(?:I|We|My|Our|The|And|He|She|It|They)\b)[A-Z][\w-]+")

_WITHIN: Final = re.compile(r"^((?:i|my|we|our|the)\b[^,]*?) actually\b", re.IGNORECASE)
_STANDING: Final = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:want|like|need) you to |please |i(?:['’]d"
    r"| would) (?:prefer|rather)"
    r" (?:that |if )?you )?(?:(?P<cue>from now on|in (?:the )?future|going forward"
    r"|from here on)[, ]+)?(?:please )?(?:(?:make sure (?:to|you)|be"
    r" sure to) )?(?P<deed>(?:always|never|do not ever|don['’]t ever)\b .+)$",
    re.IGNORECASE,
)
_FROM_NOW: Final = re.compile(
    r"^(?:from now on|in (?:the )?future|going forward|from here on|next time)[, ]+(?:please )?(?P<deed>.+)$"
    r"|^(?P<before>(?!i\b|my\b|we\b).+?),? (?:from now on|in (?:the )?future|going forward|every time)$",
    re.IGNORECASE,
)
_REMEMBER: Final = re.compile(
    r"^(?:please )?(?:remember|keep in mind|note|don['’]t forget)(?: that|:|,|(?= (?:i|my|we)\b))\s*(?P<rest>.+)$"
    r"|^(?:please )?(?:remember to) (?P<deed>.+)$",
    re.IGNORECASE,
)
_STOP: Final = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:want|like"
    r"|need) you to )?(?:please )?(?:just )?"
    r"(?P<deed>(?:stop|quit|no more|avoid) (?P<verb>[a-z]+ing|suggestions?|recommendations?|emojis?|jokes?"
    r"|reminders?|small talk)\b.*"
    r"|(?:do not|don['’]t) .+? (?:again|any ?more|ever)(?: please)?"
    r"|no (?:more )?(?P<what>[\w ]{3,40}?)(?: again| any ?more| in your (?:replies|answers|messages))(?: please)?)$",
    re.IGNORECASE,
)
_IDIOM: Final = re.compile(
    r"^(?:(?:never|don['’]t) (?:mind|worry|give up|say never|mention it|be (?:silly|sorry|shy)|better|in a million"
    r"|ever change)\b"
    r"|stop (?:kidding|joking|worrying|laughing|crying|teasing|being|saying that|doing that|it)\b|(?:always"
    r"|never) (?:a|the|been|was|were|had|again)\b"
    r"|(?:don['’]t|do not) (?:do|say|try|mention|bring) (?:that|this|it)(?: up)? (?:again|any ?more)"
    r"|remember (?:when|how)\b)",
    re.IGNORECASE,
)
_NOT_BUT: Final = re.compile(
    r"^(?P<head>.*?)\b(?:is|are|was|were|am|['’]s|['’]m|['’]re)?\s*(?:not|n['’]t) (?P<old>(?!only|just"
    r"|sure)[^,]+?),? but (?:rather )?(?P<new>[^,]+)$",
    re.IGNORECASE,
)
_BUT_NOT: Final = re.compile(
    r"^(?P<claim>.+?)(?:,| –| —| -)? (?:and )?not (?P<old>(?!only|just|sure|bad|yet|so|too|at all)[^,]{2,60})$",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(r"^(?P<claim>.+?) (?:instead of|rather than) (?P<old>[^,]{2,60})$", re.IGNORECASE)
_PRONOUN: Final = re.compile(
    r"(?:me|you|him|her|us|them|it|that|this|these|those|mine|yours|now|here|there)", re.IGNORECASE
)
_ITS: Final = re.compile(
    rf"^(?:it|that|this|they|he|she)(?:{_APOS}s| is| was|{_APOS}re| are| should be) (?P<value>.+)$", re.IGNORECASE
)
_FORGET: Final = re.compile(
    r"^(?:please )?(?:forget|delete|remove|drop|erase)(?: (?:the memory|what (?:i (?:said|told you)|you (?:know"
    r"|saved|remember))|everything|the (?:fact|part|note)))?"
    r" ?(?:about|that|of|where)? ?(?P<what>.{3,})$|^i never (?:said|told you)(?: that)? (?P<said>.{3,})$"
    r"|^(?:it|that)(?:['’]s| is) not true that (?P<false>.{3,})$",
    re.IGNORECASE,
)
_ONCE: Final = re.compile(
    r"^(?:that|it|this|the \w+(?: \w+)?)(?:['’]s| was| is) (?:just |only |meant )+(?:for )?(?:that|this|the|a|once"
    r"|yesterday|last|today|one)\b",
    re.IGNORECASE,
)
_DISOWN: Final = re.compile(
    r"\b(?:don['’]t|do not|no need to) (?:remember|save|store|keep|note) (?:that|it|this)\b", re.IGNORECASE
)
_HABITS: Final = "eat|drink|take|do|go|use|fly|run|watch|read|play|wear|buy|stay|travel|walk|drive|swim|cook"
_POINTED: Final = "(?:it|that|this|them)"
_CLAIM: Final = re.compile(
    r"^(?:i|i['’](?:m|ve|d)|my|our|we|we['’](?:re|ve)|the|his|her|their|she|he|(?-i:[A-Z])[\w'-]+)\b[^,;:]*?"
    r"(?:\b(?:am|is|are|was|were|have|has|do|does|don['’]t|doesn['’]t|can['’]t|cannot|never|always|prefer|like|love"
    r"|hate|dislike|enjoy"
    r"|live|lives|work|works|eat|drink|use|uses|need|want|speak|moved|changed|switched|quit|stopped|got|only|play"
    r"|takes?|starts?|begins?"
    r"|avoid|study|drive|keep|communicate|talk|write|sleep|run|own|wear|tend|go|meet|find|feel|usually|rarely"
    r"|often)\b|['’](?:m|s|re|ve|d)\b)",
    re.IGNORECASE,
)
_NO_CLAIM: Final = re.compile(
    r"^(?:(?:that|this|it|these|those|there|here|what|who|how|why|where|when|not|so|such|thanks|you|your|yours)\b"
    r"|i(?:['’]m| am) (?:just |so |really |very |too |a bit |all )*(?:good|fine|ok(?:ay)?|sure|not sure|sorry"
    r"|done|kidding|joking|serious|happy"
    r"|glad|impressed|afraid|tired|busy|hungry|late|here|ready|bored|cold|back|curious|confused|lost|excited"
    r"|thinking|looking|trying|asking|wondering)\b"
    r"|i (?:don['’]t |do not |really |also |still |actually )*(?:think|guess|suppose|hope|wonder|agree|see|know"
    r"|understand|mean|believe|care|mind|remember|feel like)\b"
    r"|i (?:[\w'’]+ ){1,3}(?:that|it|this|them|those|these|one|so|any|some|you|your [\w ]+|the (?:idea|plan|sound"
    r"|look|first|second|last)\b.*)"
    r"(?: (?:one|ones|idea|plan|too|already|yet|very much|a lot|better|more|though|now|all|so far|is|was|sounds?"
    r"|looks?|works?|suggestion|answer|version)\b.*)?$"
    rf"|i (?:haven['’]t|hadn['’]t|didn['’]t|won['’]t(?! (?:{_HABITS}) (?!{_POINTED}\b))|couldn['’]t|shouldn['’]t"
    r"|wasn['’]t|can|could|will|should|would)\b(?! rather|['’]d)"
    r"|i (?:don['’]t|can['’]t|do|am|have|haven['’]t)$|we should\b|we could\b|let['’]?s\b"
    r"|now\b|(?!my\b|our\b|i\b).{2,30}? (?:is|are|was|sounds?|looks?|works?) (?:fine|great|perfect|ok(?:ay)?|good|nice"
    r"|lovely|funny|hilarious|brilliant)\b"
    r"|(?:the|his|her|their) (?:weather|food|movie|film|idea|first|second|third|other|last|plan|answer|one)\b)",
    re.IGNORECASE,
)
_IMPERATIVE: Final = re.compile(
    r"^(?:please )?(?:use|make|write|give|show|keep|add|call|address|answer|reply|respond|speak|talk|put|send|start"
    r"|end|include|explain|be|let|try"
    r"|change|rename|format|translate|suggest|recommend|remind|ask|check|book|order|skip|leave|go|do|don['’]t"
    r"|do not|avoid|stick|sort|cut|shorten"
    r"|summari[sz]e|list|sign|set|turn|move|replace|remove|fix|run|open)\b",
    re.IGNORECASE,
)
_AVERSION: Final = re.compile(
    r"^i(?:['’]m not (?:a (?:big |huge )?fan of|into|fond of)|['’]d rather| (?:really |just )?(?:hate|dislike"
    r"|can['’]t stand|can['’]t eat|don['’]t (?:like|eat|drink|do|enjoy)|never (?:eat|drink))"
    rf"|['’]m allergic|(?: won['’]t| will never| would never| refuse to) (?:{_HABITS})\b(?! {_POINTED}$))\b.+",
    re.IGNORECASE,
)
_TRAILS: Final = re.compile(
    r"\b(?:when(?:ever)? (?:i|we|i['’]m|we['’]re)|with my|for my|in my (?:e-?mails|messages|texts|letters|posts))\b",
    re.IGNORECASE,
)
_SUGGESTS: Final = re.compile(
    r"\b(?:how about|what about|you could|you might|i suggest|i(?:['’]d)? recommend|why not|would you like|maybe"
    r"|try|shall i|should i|here(?:['’]s| is| are)"
    r"|i(?:['’]d| would) \w+ (?:you|the|a)|let['’]?s|consider|i can)\b",
    re.IGNORECASE,
)


def read(sentence: str, before: str, *, explicit: bool, opened: bool = False) -> Reading | None:
    """Return what an English sentence corrects, None for nothing.

    Args:
        sentence: one sentence, quotations blanked out.
        before: what the assistant said before it.
        explicit: it was handed in as feedback, so that a claim or a lasting wish needs no further cue.
        opened: the sentence before said that something is wrong.
    """
    text = _OPENING.sub("", sentence.strip()).rstrip(" .!?…")
    text, refused = _after(_NO, text)
    text, actual = _after(_ACTUALLY, text)
    text, wrong = _after(_WRONG, text)
    again, more = _after(_NO, text)
    text = _OPENING.sub("", again if more else text)
    text, later = _after(_ACTUALLY, text)
    if _MIXED.match(text) or denies(text):
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
    found = replace(found, statement=_CONTRACTED.sub(r"\g<whose> is ", found.statement))
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
    if _IDIOM.match(text):
        return None
    if not cued and _PRESENT.search(text) is not None and _PASSING.match(text) is not None:
        return None
    if match := _AFTERWARDS.match(text):
        return _noted(match["rest"])
    if (found := _taken_back(text)) is not None or (found := _present(text, before, cued=cued)) is not None:
        return found
    if (found := _standing(text)) is not None:
        return found
    if (found := _instead(text, cued=cued or explicit)) is not None:
        return None if about_code(text) and not explicit else found
    if match := _MEANT.match(text):
        return _meant(match["rest"], sure=cued or not re.match(r"(?:what )?i (?:\w+ )?said\b", text, re.IGNORECASE))
    if match := _TOLD.match(text):
        return Reading("state", match["rest"]) if _claims(match["rest"]) else None
    if wrong and (match := _ITS.match(text)) is not None:
        value = _EVER.sub("", match["value"])
        if len(value.split()) <= 5:
            return Reading("replace", value, fragment=True)
    if _IMPERATIVE.match(text):
        asked = cued or explicit or ((led or _TRAILS.search(text) is not None) and not about_code(text))
        return Reading("state", text, directive=True) if asked else None
    if not _claims(text):
        return None
    if _WITHIN.match(text):
        return Reading("replace", _WITHIN.sub(r"\1", text, count=1))
    if cued:
        own = re.match(r"(?:i|my|we|our)\b", text, re.IGNORECASE) is not None
        return Reading("replace", text) if own or not about_code(text) else None
    disliked = _AVERSION.match(text) is not None and _SUGGESTS.search(before) is not None
    return Reading("state", text) if explicit or disliked else None


def _noted(rest: str) -> Reading | None:
    """Return the reading of what the user asks to keep in mind."""
    if _IMPERATIVE.match(rest):
        return _wish(rest)
    own = re.search(r"\b(?:i|i['’]m|my|me|we|our|us)\b", rest, re.IGNORECASE) is not None
    return Reading("state", rest) if _claims(rest) or (own and len(words(rest)) > 3) else None


def _present(text: str, before: str, *, cued: bool) -> Reading | None:
    """Return the reading of a last clause that says how something is now of which the assistant has just spoken."""
    match = _PRESENT.search(text)
    if match is None or about_code(text):
        return None
    core = text[: match.start()]
    if not cued and set(content_words(core)).isdisjoint(content_words(before)):
        return None
    clause = _CLAUSE.split(core)[-1]
    if _claims(clause):
        return Reading("replace", clause) if cued or _STEADY.match(clause) else None
    its = _ITS.match(clause)
    value = its["value"] if its is not None and clause != core else ""
    return Reading("replace", value, fragment=True) if 0 < len(value.split()) <= 5 else None


def _meant(rest: str, *, sure: bool) -> Reading | None:
    if _claims(rest):
        return Reading("replace", rest)
    if not sure or _IMPERATIVE.match(rest) or len(rest.split()) > 6:
        return None
    return Reading("replace", rest, fragment=True)


def _after(opener: "re.Pattern[str]", text: str) -> tuple[str, bool]:
    match = opener.match(text)
    return (text[match.end() :], True) if match else (text, False)


def _claims(text: str) -> bool:
    """Whether words claim something that can be understood without what was said before."""
    return _CLAIM.match(text) is not None and _NO_CLAIM.match(text) is None and len(words(text)) > 2


def _taken_back(text: str) -> Reading | None:
    if _ONCE.match(text):
        return Reading("retract", "", directive=True)
    if _DISOWN.search(text) and len(text.split()) < 12:
        return Reading("retract", "", directive=True)
    away = _AWAY.match(text)
    name = _NAME.search(away["claim"]) if away is not None and not about_code(text) else None
    if name is not None:
        return Reading("retract", "", rejected=name.group())
    match = _FORGET.match(text)
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
    if match := _STANDING.match(text):
        cue = match["cue"]
        return _wish(match["deed"]) if not code or cue or match["deed"] else None
    if match := _FROM_NOW.match(text):
        deed = match["deed"] or match["before"]
        if _claims(deed) and not _IMPERATIVE.match(deed):
            return Reading("state", deed)
        return _wish(text if match["before"] else deed)
    if match := _REMEMBER.match(text):
        if match["deed"]:
            return _wish(match["deed"])
        rest = match["rest"]
        if _claims(rest):
            return Reading("state", rest)
        return _standing(rest)
    if match := _STOP.match(text):
        stopped = match["verb"]
        if stopped and code and not re.search(r"\b(?:again|ever|any ?more)\b", text, re.IGNORECASE):
            return None
        return _wish(match["deed"])
    return None


def _wish(deed: str) -> Reading | None:
    return Reading("state", deed, directive=True, lasting=True) if len(deed.split()) > 1 else None


def _instead(text: str, *, cued: bool) -> Reading | None:
    """Return the reading of words that name both what is wrong and what is right."""
    if match := _NOT_BUT.match(text):
        head = match["head"].strip()
        old, new = match["old"].strip(), match["new"].strip()
        if not head or re.match(r"(?:it|that|this|he|she|they|i (?:meant|said))\b", head, re.IGNORECASE):
            return Reading("replace", new, rejected=old, fragment=True) if len(new.split()) <= 6 else None
        if re.match(r"(?:i|my|our|we|the|(?-i:[A-Z])\w+)\b", head, re.IGNORECASE) and len(new.split()) <= 6:
            affirmed = re.sub(r"\s*(?:\bnot|n['’]t)\s*$", "", text[: match.start("old")], flags=re.IGNORECASE)
            return Reading("replace", re.sub(r"\b(?:do|does)$", "", affirmed).strip() + f" {new}", rejected=old)
        return None
    for pattern in (_BUT_NOT, _INSTEAD):
        match = pattern.match(text)
        if match is None:
            continue
        claim, old = match["claim"].strip(" ,"), match["old"].strip()
        if _PRONOUN.fullmatch(old):
            return None
        meant = re.match(
            r"(?:what )?i (?:actually |really )?(?:meant|mean|said)(?: was| is| that)? ", claim, re.IGNORECASE
        )
        said = claim[meant.end() :] if meant else claim
        its = _ITS.match(said)
        if its is not None:
            said = its["value"]
        if _IMPERATIVE.match(said):
            return Reading("state", text, rejected=old, directive=True) if cued else None
        if _claims(said) and its is None:
            return Reading("replace", said, rejected=old) if cued or meant or pattern is _BUT_NOT else None
        if (cued or meant or its is not None) and len(said.split()) <= 6:
            return Reading("replace", said, rejected=old, fragment=True)
    return None

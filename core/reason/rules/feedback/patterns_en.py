"""How corrections and wishes are worded in English, and what only sounds like one: a pattern for each part."""

import re
from typing import Final

__all__ = [
    "ACTUALLY",
    "AFTERWARDS",
    "AVERSION",
    "AWAY",
    "BUT_NOT",
    "CLAIM",
    "CLAUSE",
    "CONTRACTED",
    "DENIES",
    "DISOWN",
    "EVER",
    "FORGET",
    "FROM_NOW",
    "IDIOM",
    "IMPERATIVE",
    "INSTEAD",
    "ITS",
    "MEANT",
    "MIXED",
    "NAME",
    "NO",
    "NOT_BUT",
    "NOT_ONLY",
    "NO_CLAIM",
    "ONCE",
    "OPENING",
    "PASSING",
    "PRESENT",
    "PRONOUN",
    "REMEMBER",
    "STANDING",
    "STEADY",
    "STOP",
    "SUGGESTS",
    "TOLD",
    "TRAILS",
    "WITHIN",
    "WRONG",
]

_APOS: Final = r"['’]"
OPENING: Final = re.compile(
    r"^(?:(?:oh|ah|hey|hi|hello|sorry|well|ok(?:ay)?|um+|uh+|hmm+|wait|hang on|look|listen|yes|yeah|and|but|so|also"
    r"|then|please|again"
    r"|by the way|thanks|thank you|great|assistant)\b[,!.:;–— -]*)+",
    re.IGNORECASE,
)
NO: Final = re.compile(
    r"^(?:no+|nope|nah|not quite|not exactly|no,? thanks|no,? thank you|wrong|incorrect)\s*[,.;:!–—-]+\s*",
    re.IGNORECASE,
)
WRONG: Final = re.compile(
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
MEANT: Final = re.compile(
    r"^(?:what )?i (?:actually |really |just )?(?:meant|mean|was talking about|said)(?: to say| to write)?(?: that"
    r"| was| is)?[,:]? (?P<rest>.+)$",
    re.IGNORECASE,
)
TOLD: Final = re.compile(
    rf"^(?:i|we)(?:{_APOS}ve| have)?(?: already| just| clearls?y)* (?:told you|mentioned|said)(?: before| already"
    rf"| earlier| yesterday"
    r"| last time| twice| many times)*(?: that|,|:)? (?P<rest>.+)$",
    re.IGNORECASE,
)
ACTUALLY: Final = re.compile(
    r"^(?:(?:actually|in fact|to be precise|to be clear|for (?:the|your) (?:record|information|notes)|fyi"
    r"|for what it['’]s worth)\b[,:]?\s*"
    r"|(?:(?:a|one|just|quick|small|tiny|minor|little) )*"
    r"(?:fix|correction|update|edit|amendment|heads[- ]up|clarification)"
    r"\s*[:,–—-]+\s*)",
    re.IGNORECASE,
)
MIXED: Final = re.compile(
    r"^you(?:['’]re| are| keep| must be|['’]ve| have)? (?:mix(?:ing|ed)|confus(?:ing|ed|e)|think(?:ing)? of)\b.*$",
    re.IGNORECASE,
)
AFTERWARDS: Final = re.compile(
    r"^(?P<rest>.+?)\s*[,;:–—-]+ *(?:so )?(?:please )?"
    r"(?:keep (?:that|this|it) in mind|(?:remember|note) (?:that|this|it)"
    r"(?: down)?|bear (?:that|this) in mind|make a note(?: of (?:that|this|it))?|just so you know|in case you wonder"
    r"|for (?:the|your) (?:record|information|notes)|fyi)$",
    re.IGNORECASE,
)
CONTRACTED: Final = re.compile(
    r"^(?P<whose>(?:my|our|the|his|her|their) [a-z]+)['’]s (?=\d|(?:an?|the|at|on|in|not|my|our|now|called)\b)",
    re.IGNORECASE,
)
EVER: Final = re.compile(
    r"[, ]+(?:always has been|as (?:always|ever|usual)|of course|obviously|actually)$", re.IGNORECASE
)
PRESENT: Final = re.compile(
    r"[, ]+(?:now|nowadays|these days|by now|currently|as of (?:now|today|this \w+))$", re.IGNORECASE
)
"""Words that set what holds against what held before."""
_STATE: Final = (
    r"(?:[a-z]+ing|on|in|at|done|ready|here|there|home|back|gone|over|up|down|off|out|open|closed|busy|tired|hungry|late"
    r"|better|worse|broken|fixed|fine|clear|green|red)\b"
)
"""What begins a state that passes."""
PASSING: Final = re.compile(
    r"^(?:(?:i|we)(?:['’]m|['’]re| am| are)|(?:my|our|the|his|her|their|it|that|this)\b[\w ]{0,40}?(?:['’]s| is| are))"
    rf" {_STATE}",
    re.IGNORECASE,
)
STEADY: Final = re.compile(
    rf"^(?:(?:my|our|the|his|her|their) [\w ]{{2,40}}?(?:['’]s| is| are) (?!{_STATE})"
    r"|(?:i|we) (?:live|work|use|drink|eat|prefer|study|drive|play|speak|go by)\b)",
    re.IGNORECASE,
)
"""What stays so for a while, unlike what somebody is doing just now."""
CLAUSE: Final = re.compile(r"[,:;–—] *(?=(?:i|my|we|our|the|it|that)\b)", re.IGNORECASE)
AWAY: Final = re.compile(
    r"^(?P<claim>.+?),? (?:so|and) (?:please |you can |can you )*(?:drop|forget|remove|delete|erase|strike|take)"
    r" (?:him|her|it|them|that|this)\b(?! (?:to|with)\b)",
    re.IGNORECASE,
)
NAME: Final = re.compile(r"\b(?!(?:I|We|My|Our|The|And|He|She|It|They)\b)[A-Z][\w-]+")

WITHIN: Final = re.compile(r"^((?:i|my|we|our|the)\b[^,]*?) actually\b", re.IGNORECASE)
STANDING: Final = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:want|like|need) you to |please |i(?:['’]d"
    r"| would) (?:prefer|rather)"
    r" (?:that |if )?you )?(?:(?P<cue>from now on|in (?:the )?future|going forward"
    r"|from here on)[, ]+)?(?:please )?(?:(?:make sure (?:to|you)|be"
    r" sure to) )?(?P<deed>(?:always|never|do not ever|don['’]t ever)\b .+)$",
    re.IGNORECASE,
)
FROM_NOW: Final = re.compile(
    r"^(?:from now on|in (?:the )?future|going forward|from here on|next time)[, ]+(?:please )?(?P<deed>.+)$"
    r"|^(?P<before>(?!i\b|my\b|we\b).+?),? (?:from now on|in (?:the )?future|going forward|every time)$",
    re.IGNORECASE,
)
REMEMBER: Final = re.compile(
    r"^(?:please )?(?:remember|keep in mind|note|don['’]t forget)(?: that|:|,|(?= (?:i|my|we)\b))\s*(?P<rest>.+)$"
    r"|^(?:please )?(?:remember to) (?P<deed>.+)$",
    re.IGNORECASE,
)
STOP: Final = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would)? (?:want|like"
    r"|need) you to )?(?:please )?(?:just )?"
    r"(?P<deed>(?:stop|quit|no more|avoid) (?P<verb>[a-z]+ing|suggestions?|recommendations?|emojis?|jokes?"
    r"|reminders?|small talk)\b.*"
    r"|(?:do not|don['’]t) .+? (?:again|any ?more|ever)(?: please)?"
    r"|no (?:more )?(?P<what>[\w ]{3,40}?)(?: again| any ?more| in your (?:replies|answers|messages))(?: please)?)$",
    re.IGNORECASE,
)
IDIOM: Final = re.compile(
    r"^(?:(?:never|don['’]t) (?:mind|worry|give up|say never|mention it|be (?:silly|sorry|shy)|better|in a million"
    r"|ever change)\b"
    r"|stop (?:kidding|joking|worrying|laughing|crying|teasing|being|saying that|doing that|it)\b|(?:always"
    r"|never) (?:a|the|been|was|were|had|again)\b"
    r"|(?:don['’]t|do not) (?:do|say|try|mention|bring) (?:that|this|it)(?: up)? (?:again|any ?more)"
    r"|remember (?:when|how)\b)",
    re.IGNORECASE,
)
NOT_BUT: Final = re.compile(
    r"^(?P<head>.*?)\b(?:is|are|was|were|am|['’]s|['’]m|['’]re)?\s*(?:not|n['’]t) (?P<old>(?!only|just"
    r"|sure)[^,]+?),? but (?:rather )?(?P<new>[^,]+)$",
    re.IGNORECASE,
)
BUT_NOT: Final = re.compile(
    r"^(?P<claim>.+?)(?:,| –| —| -)? (?:and )?not (?P<old>(?!only|just|sure|bad|yet|so|too|at all)[^,]{2,60})$",
    re.IGNORECASE,
)
DENIES: Final = re.compile(
    rf"(?:\b(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may|might)"
    rf"|{_APOS}(?:m|s|re|ve|ll|d))(?: (?:actually|really|definitely|certainly|just|still))*$",
    re.IGNORECASE,
)
"""The end of what comes before a "not" that denies the verb."""
NOT_ONLY: Final = re.compile(r"(?:\bnot|n['’]t) (?:only|just|merely|simply)\b", re.IGNORECASE)
"""What is said of more than what follows: it denies nothing."""
INSTEAD: Final = re.compile(r"^(?P<claim>.+?) (?:instead of|rather than) (?P<old>[^,]{2,60})$", re.IGNORECASE)
PRONOUN: Final = re.compile(
    r"(?:me|you|him|her|us|them|it|that|this|these|those|mine|yours|now|here|there)", re.IGNORECASE
)
ITS: Final = re.compile(
    rf"^(?:it|that|this|they|he|she)(?:{_APOS}s| is| was|{_APOS}re| are| should be) (?P<value>.+)$", re.IGNORECASE
)
FORGET: Final = re.compile(
    r"^(?:please )?(?:forget|delete|remove|drop|erase)(?: (?:the memory|what (?:i (?:said|told you)|you (?:know"
    r"|saved|remember))|everything|the (?:fact|part|note)))?"
    r" ?(?:about|that|of|where)? ?(?P<what>.{3,})$|^i never (?:said|told you)(?: that)? (?P<said>.{3,})$"
    r"|^(?:it|that)(?:['’]s| is) not true that (?P<false>.{3,})$",
    re.IGNORECASE,
)
ONCE: Final = re.compile(
    r"^(?:that|it|this|the \w+(?: \w+)?)(?:['’]s| was| is) (?:just |only |meant )+(?:for )?(?:that|this|the|a|once"
    r"|yesterday|last|today|one)\b",
    re.IGNORECASE,
)
DISOWN: Final = re.compile(
    r"\b(?:don['’]t|do not|no need to) (?:remember|save|store|keep|note) (?:that|it|this)\b", re.IGNORECASE
)
_HABITS: Final = "eat|drink|take|do|go|use|fly|run|watch|read|play|wear|buy|stay|travel|walk|drive|swim|cook"
_POINTED: Final = "(?:it|that|this|them)"
CLAIM: Final = re.compile(
    r"^(?:i|i['’](?:m|ve|d)|my|our|we|we['’](?:re|ve)|the|his|her|their|she|he|(?-i:[A-Z])[\w'-]+)\b[^,;:]*?"
    r"(?:\b(?:am|is|are|was|were|have|has|do|does|don['’]t|doesn['’]t|isn['’]t|aren['’]t|can['’]t|cannot|never|always|prefer|like|love"
    r"|hate|dislike|enjoy"
    r"|live|lives|work|works|eat|drink|use|uses|need|want|speak|moved|changed|switched|quit|stopped|got|only|play"
    r"|takes?|starts?|begins?"
    r"|avoid|study|drive|keep|communicate|talk|write|sleep|run|own|wear|tend|go|meet|find|feel|usually|rarely"
    r"|often)\b|['’](?:m|s|re|ve|d)\b)",
    re.IGNORECASE,
)
NO_CLAIM: Final = re.compile(
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
IMPERATIVE: Final = re.compile(
    r"^(?:please )?(?:use|make|write|give|show|keep|add|call|address|answer|reply|respond|speak|talk|put|send|start"
    r"|end|include|explain|be|let|try"
    r"|change|rename|format|translate|suggest|recommend|remind|ask|check|book|order|skip|leave|go|do|don['’]t"
    r"|do not|avoid|stick|sort|cut|shorten"
    r"|summari[sz]e|list|sign|set|turn|move|replace|remove|fix|run|open)\b",
    re.IGNORECASE,
)
AVERSION: Final = re.compile(
    r"^i(?:['’]m not (?:a (?:big |huge )?fan of|into|fond of)|['’]d rather| (?:really |just )?(?:hate|dislike"
    r"|can['’]t stand|can['’]t eat|don['’]t (?:like|eat|drink|do|enjoy)|never (?:eat|drink))"
    rf"|['’]m allergic|(?: won['’]t| will never| would never| refuse to) (?:{_HABITS})\b(?! {_POINTED}$))\b.+",
    re.IGNORECASE,
)
TRAILS: Final = re.compile(
    r"\b(?:when(?:ever)? (?:i|we|i['’]m|we['’]re)|with my|for my|in my (?:e-?mails|messages|texts|letters|posts))\b",
    re.IGNORECASE,
)
SUGGESTS: Final = re.compile(
    r"\b(?:how about|what about|you could|you might|i suggest|i(?:['’]d)? recommend|why not|would you like|maybe"
    r"|try|shall i|should i|here(?:['’]s| is| are)"
    r"|i(?:['’]d| would) \w+ (?:you|the|a)|let['’]?s|consider|i can)\b",
    re.IGNORECASE,
)

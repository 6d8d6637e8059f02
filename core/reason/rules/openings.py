"""How turns begin and end, in English and Chinese: words that announce another topic, greet, part, reply, or ask."""

import re
from typing import Final

from mindmem.core.text import analyse

__all__ = ["CUE", "FAREWELL", "GREETING", "NEUTRAL", "NEUTRAL_SIGNS", "QUESTION", "REPLY"]

_SENTENCE: Final = r"(?:^|[.!?…;\n。！？；～~][\"”』)\s]{0,9}|^[\w ,']{1,24}, )"
_FILLER: Final = r"(?:(?:oh and|oh|so|and|but|well|sure|ok|okay|hey|um|ah|哦|哎|啊|那|嗯)[,，.!！ ]{1,3}){0,2}"
_OTHER: Final = r"(?:new|next|other|another|different|separate|unrelated|random|quick|one more)"
_MATTER: Final = r"(?:topic|question|subject|issue|request|thing)"
CUE: Final = re.compile(
    rf"{_SENTENCE}{_FILLER}(?:(?:by the way|btw|speaking of|talking of|apropos|incidentally|before i forget|moving on"
    r"|(?:that|which) reminds me|guess what|(?:i )?(?:also )?(?:almost|nearly) forgot|(?:let's|let us) talk about"
    r"|enough about|completely unrelated|unrelated(?:ly)?(?=[,:])|any(?:way|ways|how)(?=[,.:; …-])"
    r"|(?:on|in) (?:an?other|a different|an unrelated|a lighter|a side|other) (?:note|topic|subject|news)"
    r"|(?:(?:let's|let us|to|can we|we should) )?chang(?:e|ing) (?:of )?(?:the )?(?:subject|topic)s?"
    rf"|(?:one (?:more|last|other)|last) {_MATTER}"
    rf"|(?:i )?(?:also )?(?:(?:have|had|got) )?(?:an? )?{_OTHER} {_MATTER})\b"
    r"|对了(?=[，,：:！!。 ])|另外(?=[，,：:还我你想问])|话说(?!得|不)|(?:我们)?换一?个?话题"
    r"|先?不(?:说|聊|谈|提)(?:这个|这些|它)|(?:说到|说起|提到|提起)(?=[^，,]{0,10}[，,])|顺便(?:问|说|提)"
    r"|还有一?(?:件事|个问题)|另一?个问题|题外话|插一句|突然想(?:起|到)|忘了(?:说|告诉|问))",
    re.IGNORECASE,
)
"""Announces another topic, where a sentence begins."""
GREETING: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|long time no see|welcome back)(?![\w'’])"
    r"|你好|您好|大家好|嗨|哈喽|早上好|早安|下午好|晚上好|好久不见|在吗)",
    re.IGNORECASE,
)
FAREWELL: Final = re.compile(
    r"\b(?:good ?night|good ?bye|bye|see you|see ya|talk (?:to you )?(?:later|soon|tomorrow)|take care|ttyl)\b"
    r"|晚安|再见|拜拜|回头再?聊|下次再?聊|明天见|先这样",
    re.IGNORECASE,
)
REPLY: Final = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup|no|nope|not|oh|ooh|wow|nice|great|cool|good|really|ouch|haha\w*|lol|ok|okay|sure|thanks"
    r"|thank|exactly|right|true|same|me too|me neither|neither|agreed|of course|absolutely|definitely|maybe|perhaps"
    r"|probably|congrat\w*|sorry|poor|aw+|hmm*|again|why|what(?=[?!,])|then|than|and|but|or|because|which|that|this"
    r"|those|it|its|he|she|they|there|so|also|only|just|still|both|glad|i see|i hope|sounds|when|where|who|whose"
    r"|how (?:wonderful|nice|awful|lovely|sad|exciting|much|many|long|old|large|big|far)|give (?:her|him|them))(?!\w)"
    r"|嗯|是|对(?!了[，,])|好|行|哦|噢|哎呀|哇|那|哈|谢谢|没|不(?!说|聊|谈|提)|可以|恭喜|太|真|这|它|他|她|也|还没|才|就"
    r"|所以|但|可是|因为|为什么|多少|多大|几|什么时候|哪)",
    re.IGNORECASE,
)
"""Begins what speaks to what was just said."""
QUESTION: Final = re.compile(r"[?？]|[吗呢么][。！\s]*$", re.MULTILINE)
NEUTRAL: Final = frozenset(
    term
    for word in (
        "yes yeah yep ok okay good great nice cool fine well bad better best wow thanks thank please sorry sure maybe"
        " think know like love want need go going went come came get make made take took say said tell told see look"
        " find found give put try use used keep let start help happen feel hope guess mean seem sound call really"
        " actually already still even much many lot little bit quite pretty enough almost today tomorrow tonight"
        " yesterday morning evening night day week weekend month year time hour minute monday tuesday wednesday"
        " thursday friday saturday sunday january february march april may june july august september october november"
        " december last next first second new old big long thing way kind people person somebody someone anybody"
        " everybody nobody one two three four five six seven eight nine ten twelve twenty thirty hundred thousand"
        " ago later soon never always often sometimes back right left both own hear heard yet"
    ).split()
    for term in analyse(word)
)
"""Terms that come up whatever is talked about."""
NEUTRAL_SIGNS: Final = frozenset(
    "的了吗呢吧啊是在我你他她它们这那和与也都就不有什么哪怎为时候谁多少几个一二三四五六七八九十两天月年日号点上下来去"
    "到说要会能好很太真还再把给跟让被没得着过大小想看做用里外前后中可以最近今明昨周星期已经现觉知道应该必须如果因所但而且或"
)
"""Chinese signs that come up whatever is talked about."""

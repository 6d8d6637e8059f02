"""Text analysis for lexical search: words of any script become terms, and no word is ever lost.

A word gives a *primary* term (weight 1), under which it counts, and *secondary* ones (weight below 1), under which it
can be found as well: its unstemmed and its accented form, the parts of ``node.js``, the single characters of a
Chinese word. Both sides of a search must agree, so a form depends on the word alone and never on a guess about the
text's language."""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import Stemmer

__all__ = [
    "GENERAL", "STOP_WEIGHT", "STOP_WORDS", "Term", "analyse", "is_gram", "is_latin", "located", "normalise_name",
    "query_terms", "stop_words", "terms", "topic_terms", "words",
]  # fmt: skip

SECONDARY: Final = 0.25
"""Query weight of a further form of a word, relative to its primary term."""
STOP_WEIGHT: Final = 0.05
"""Query weight of a stop word beside words that say more; with nothing else in the query stop words count in full."""
MAX_TERM: Final = 128
"""Longer terms are cut: nobody asks for them, and a page of base64 must not fill the index."""


class Term(NamedTuple):
    """One term of a text and how much it says in a query, 0..1."""

    text: str
    weight: float


_GRAMS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer: written without spaces
    "\u1100-\u11ff\u3040-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WHOLE: Final = frozenset(".@_+#&:,")
"""Joints of names and numbers that mean the whole: node.js, ann@example.org, 10:30. At others (-, /, ') parts do."""
_SCRIPTS: Final = (
    ("\u0400", "\u052f", "russian"), ("\u0600", "\u06ff", "arabic"), ("\u0370", "\u03ff", "greek"),
    ("\u0900", "\u097f", "hindi"), ("\u0530", "\u058f", "armenian"), ("\u0b80", "\u0bff", "tamil"),
)  # fmt: skip
_STRIPPED: Final = frozenset({"english", "arabic", "greek", "hebrew"})
_APOSTROPHES: Final = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")


def analyse(text: str) -> list[str]:
    """Return the primary terms in order, repeated as often as they occur.

    >>> analyse("The cafés near Node.js port 9077")
    ['the', 'cafe', 'near', 'node.js', 'port', '9077']
    """
    return [term for word in words(text) for term, weight in _forms(word) if weight == 1.0]


def terms(text: str) -> list[Term]:
    """Return all terms, primary and secondary, in order.

    >>> terms("running")
    [Term(text='run', weight=1.0), Term(text='running', weight=0.25)]
    """
    return [term for word in words(text) for term in _forms(word)]


def query_terms(text: str) -> dict[str, float]:
    """Return each distinct term of a query with its weight; stop words weigh little unless there is nothing else.

    >>> query_terms("to be or not to be")["be"]
    1.0
    """
    found = words(text)
    stops = stop_words(found)
    if all(word in stops for word in found):
        stops = frozenset()
    weights: dict[str, float] = {}
    for word in found:
        factor = STOP_WEIGHT if word in stops else 1.0
        for term, weight in _forms(word):
            weights[term] = max(weights.get(term, 0.0), weight * factor)
    if any(weight == 1.0 and term not in STOP_GRAMS for term, weight in weights.items()):
        weights = {term: weight * STOP_WEIGHT if term in STOP_GRAMS else weight for term, weight in weights.items()}
    return weights


def topic_terms(text: str) -> frozenset[str]:
    """Return the terms that say what a query is about: whole words, and single characters where no space parts words;
    stop words only where there is nothing else.

    >>> sorted(topic_terms("谁养猫 in the house?"))
    ['hous', '养', '猫']
    """
    found = words(text)
    stops = stop_words(found)
    topic: set[str] = set()
    for word in found:
        if _gram_pattern().fullmatch(word):
            topic.update(word)
        elif word not in stops:
            topic.update(term for term, weight in _forms(word) if weight == 1.0)
    return frozenset(topic - STOP_GRAMS or topic or query_terms(text))


def is_latin(term: str) -> bool:
    """Return whether a term begins with a Latin letter, a digit or a sign of the same blocks."""
    return term < "\u0250"


def words(text: str) -> list[str]:
    """Return the words of ``text`` as written, normalised (NFKC, case-folded): letters with their marks, numbers,
    names with inner signs (``c++``, ``node.js``, addresses), runs of Chinese, Japanese, Korean or Thai, and symbols
    (emoji)."""
    if text.isascii():
        return _ascii_pattern().findall(text.lower())
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    return [word for word in _pattern().findall(folded) if _is_term(word)]


def located(text: str) -> list[tuple[str, int]]:
    """Return what :func:`words` would cut into words, as it is written, each with where it begins.

    >>> located("Ann's cat")
    [("Ann's", 0), ('cat', 6)]
    """
    if text.isascii():
        return [(text[one.start() : one.end()], one.start()) for one in _ascii_pattern().finditer(text.lower())]
    return [(one.group(), one.start()) for one in _pattern().finditer(text.translate(_APOSTROPHES))]


def is_gram(character: str) -> bool:
    """Return whether a character is of a script whose words no spaces part (Chinese, Japanese, Korean, Thai, …)."""
    return _gram_pattern().match(character) is not None


def normalise_name(name: str) -> str:
    """Return the form under which two spellings of a name are the same: NFKC, case-folded, marks and titles' dots gone.

    >>> normalise_name("  José  Álvarez ") == normalise_name("jose alvarez")
    True
    """
    return " ".join(_strip_marks(word) for word in words(name))


def stop_words(found: list[str]) -> frozenset[str]:
    """Return the stop words to apply to these words: those of the language that explains most of them, since ``war``
    or ``die`` is a word in one language and says nothing in another. Without a clear winner: English."""
    best, hits = "english", sum(word in STOP_WORDS["english"] for word in found)
    for language, listed in STOP_WORDS.items():
        count = sum(word in listed for word in found)
        if count > hits:
            best, hits = language, count
    return STOP_WORDS[best]


@lru_cache(maxsize=100_000)
def _forms(word: str) -> tuple[Term, ...]:
    """Return the terms of one word, primary ones first, each once."""
    weights: dict[str, float] = {}

    def add(term: str, weight: float) -> None:
        cut = term[:MAX_TERM]
        weights[cut] = max(weights.get(cut, 0.0), weight)

    for part, whole in _parts(word):
        if _gram_pattern().fullmatch(part):
            _add_grams(part, add)
            continue
        language = _language(part)
        plain = _strip_marks(part) if language in _STRIPPED else part.replace("ё", "е")
        stem = _stem(plain, language)
        add(stem, 1.0 if whole else SECONDARY)
        for form in (plain, part):
            add(form, SECONDARY)
    return tuple(Term(*item) for item in sorted(weights.items(), key=lambda item: -item[1]))


def _parts(word: str) -> Iterator[tuple[str, bool]]:
    """Yield the word's parts that are terms, each with whether it is primary."""
    pieces = [piece for piece in re.split(r"[.@_+#&:,\-/']", word) if piece]
    if len(pieces) <= 1 or (len(pieces) == 2 and "'" in word):
        yield word, True
        return
    meant_whole = any(joint in word for joint in _WHOLE)
    if meant_whole and re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        word = word.replace(",", "")
    yield word, meant_whole
    for piece in pieces:
        yield piece, not meant_whole


def _add_grams(run: str, add: Callable[[str, float], None]) -> None:
    if len(run) == 1:
        add(run, 1.0)
        return
    for left, right in pairwise(run):
        add(left + right, 1.0)
    for character in run:
        add(character, SECONDARY)


def _language(word: str) -> str:
    first = word[0]
    if first < "\u0370":
        return "english"
    if "\u0590" <= first <= "\u05ff":
        return "hebrew"
    if "\u1e00" <= first <= "\u1fff":
        return "english" if first < "\u1f00" else "greek"
    return next((language for low, high, language in _SCRIPTS if low <= first <= high), "")


def _stem(word: str, language: str) -> str:
    if not word.replace("'", "").isalpha() or not language or language == "hebrew":
        return word
    stemmer = _stemmer(language)
    return (stemmer.stemWord(word) or word) if stemmer is not None else word


@cache
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    # The stemmer's own cache is off: it isn't safe between threads, and _forms is cached.
    return Stemmer.Stemmer(language, 0) if language in Stemmer.algorithms() else None


def _strip_marks(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(mark for mark in apart if unicodedata.category(mark) != "Mn")) or word


def _is_term(word: str) -> bool:
    return len(word) > 1 or word.isalnum() or unicodedata.category(word)[0] in "SLNM"


_TAIL = r"(?:\+\+|\#)?"
_INNER = r"[.@_+&:,\-/']"


@cache
def _ascii_pattern() -> re.Pattern[str]:
    return re.compile(rf"[a-z0-9]+(?:{_INNER}[a-z0-9]+)*{_TAIL}")


@cache
def _gram_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_GRAMS}]+")


@cache
def _pattern() -> re.Pattern[str]:
    # Python's \w has no combining marks, without which words of Indic scripts and vocalised Arabic fall apart.
    marks = "".join(
        f"\\U{code:08x}"
        for code in range(0x300, min(0x1E950, sys.maxunicode))
        if unicodedata.category(chr(code))[0] == "M"
        and not 0xFE00 <= code <= 0xFE0F
        and not _gram_pattern().match(chr(code))
    )
    letter = rf"(?:(?![{_GRAMS}])[^\W_]|[{marks}])"
    word = rf"{letter}+(?:{_INNER}{letter}+)*{_TAIL}"
    symbol = r"[^\w\s\x00-\x7f\ufe00-\ufe0f\u200b-\u200f]"
    return re.compile(rf"[{_GRAMS}]+|{word}|{symbol}")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "english": _listed(
        "a about after again all also am an and any are as at be because been before being between both but by "
        "can could did do does doing done down during each either else ever few for from further get got had has "
        "have having he her here hers herself him himself his how i i'd i'll i'm i've if in into is it it's its "
        "itself just let me more most my myself no nor not now of off on once one only or other our ours out "
        "over own please same she should so some such than that that's the their theirs them then there these "
        "they they're this those through to too under until up us very was we we're were what what's when where "
        "which while who whom whose why will with would you you're your yours yourself"
    ),
    "german": _listed(
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den der "
        "des dich die dir du ein eine einem einen einer eines er es euch für hab habe haben hast hat hatte ich "
        "ihm ihn ihr ihre im in ist ja kann kein keine man mein meine mich mir mit nach nicht noch nur oder "
        "schon sein seine sich sie sind so über um und uns unser von vor wann war was weil wenn wer werden wie "
        "wir wird wo zu zum zur"
    ),
    "french": _listed(
        "a ai au aux avec c'est ce ces cette dans de des du elle en est et eu il ils je j'ai l la le les leur "
        "lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas pour qu que quel quelle quand qui sa "
        "se ses son sont sur ta te tes ton tu un une vos votre vous y été être"
    ),
    "spanish": _listed(
        "a al como con cuál cuándo cuando de del dónde donde el ella ellos en era es esta está este esto fue ha "
        "han hay he la las le lo los me mi mis muy más no nos nosotros o para pero por porque que qué quién se "
        "ser si sin sobre son su sus también te tiene tu tus un una y ya yo"
    ),
    "portuguese": _listed(
        "a ao aos as com como da das de do dos e ela ele em era essa esse esta está este eu foi há isso já lhe "
        "mais mas me meu minha muito na nas no nos não nós o onde os ou para pela pelo por quando que quem se "
        "sem ser seu sua são também te tem um uma você"
    ),
    "italian": _listed(
        "a ai al alla anche c'è che chi ci come con da dal dei del della di dove e ed era gli ha hanno ho i il "
        "in io la le lei lo loro lui ma mi mia mio ne nel nella no noi non o per perché più quale quando questa "
        "questo se sei si sono su sua suo ti tra tu un una uno voi è"
    ),
    "dutch": _listed(
        "aan als bij dan dat de der deze die dit door een en er haar had heb hebben heeft het hij hoe hun ik in "
        "is je kan maar me met mij mijn naar niet nog nu of om onder ons ook op over te tot u uit van veel voor "
        "waar wanneer waren was wat we wie wij ze zich zij zijn zo"
    ),
    "russian": _listed(
        "а без более бы был была были было быть в вам вас во вот все всё вы где да для до его ее её если есть "
        "еще ещё же за и из или им их к как когда кто ли мне мой моя мы на не него нее нет но о об он она они "
        "оно от по при с со так также там то только ты у уже что чтобы это этот я"
    ),
    "arabic": _listed(
        "أن أنا أنت أو أي إلى إن التي الذي ذلك عن على عند في قد كان كل كيف لا لم لن له ما متى مع من نحن هذا هذه "
        "هل هو هي و يا أين"
    ),
}  # fmt: skip
"""Words that say little, by language."""
GENERAL: Final = frozenset(
    term
    for word in (
        "know known tell remember recall say said mention describe summarize summary info information detail details "
        "fact facts anything everything something profile background story memory memories"
    ).split()
    for term, weight in terms(word)
    if weight == 1.0
) | frozenset("关于知道告诉介绍解记得说描述信息总结")
"""Terms that ask for whatever there is, and name no topic."""
STOP_GRAMS: Final = _listed(
    "的 了 吗 呢 吧 啊 是 在 我 你 他 她 它 们 这 那 和 与 也 都 就 不 有 什么 哪里 哪儿 怎么 为什 时候 么时 "
    "谁 什 么 哪 里 怎 为 时 候 多 少 几 个 们 "
    "多少 几个 我们 你们 他们 她们 是什 的是 了吗 这个 那个 一个 是否 有没 没有 は が を に の で と も か "
    "へ や です ます した して から まで これ それ いつ どこ 何 ですか すか 은 는 이 가 을 를 에 의 도 어디 "
    "언제 무엇 누구"
)
"""Grams that say little, in scripts without spaces."""

"""Named entities by rules: capitals, speakers, shapes and names of technology, titles in 《》, and words around."""

import re
from typing import Final

from mindmem.core.language.english import PLAIN_STARTS
from mindmem.core.reason.port import Mention

__all__ = ["CHINESE_PERSON", "TECHNOLOGY", "entity_type", "mentions"]

_LIMIT: Final = 20_000  # characters looked at
_MOST: Final = 30
_UPPER: Final = (
    "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0106\u010c\u0141\u015a\u0160\u0179\u017b\u017d\u0391-\u03a9\u0401\u0410-\u042f]"
)
_SIGN: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
_PART: Final = rf"{_UPPER}(?:{_SIGN}|[&+#])*(?:[.'’-](?:{_SIGN}|[+#])+)*"
_RUN: Final = re.compile(
    rf"(?<![A-Za-z0-9_@#/.-])(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?{_PART}(?: (?:(?:of|the|de|van|von|der|del|la)"
    rf"(?: the)? (?={_UPPER}))?{_PART}){{0,5}}"
)
_SHAPE: Final = re.compile(
    r"(?<![\w@/.])(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]+\.(?:js|py|ts|io|rs|net)|[A-Za-z]+[+#]{1,2}|[A-Z]{2,}[a-z]?\w*\d+)(?![\w/@])"
)
_CJK: Final = re.compile("[\u4e00-\u9fff]")
_TITLE: Final = re.compile(r"《([^》]{1,60})》")
_CHINESE_NAMED: Final = re.compile(
    r"(?:叫做?|名叫|跟|和|同事|朋友|妻子|丈夫|老公|老婆|儿子|女儿|老师)(?P<person>[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹潘葛范彭鲁韦马苗方俞任袁柳唐罗薛贺倪汤滕殷郝毕安常齐康伍余顾孟黄穆萧尹姚邵汪祁毛米贝明戴谈宋庞熊纪舒屈项祝董梁杜阮蓝闵席季麻贾路江童郭梅林刁钟徐邱骆高夏蔡田樊胡凌霍虞万柯管卢莫房丁邓洪包左石崔吉龚程邢裴陆荣翁段焦谷车侯全秋仲宫宁仇栾甘厉祖武刘景龙叶司黎薄白蒲][\u4e00-\u9fff]{1,2})(?=[是在，。、的说和去来很也]|$)"
    r"|(?:住在|去了?|来自|飞往|到了?|在|位于)(?P<place>[\u4e00-\u9fff]{2,6}?(?:省|市|县|区|镇|国|岛|山|湖|州|海|京|津|港|湾))"
    r"|(?P<group>[\u4e00-\u9fff]{2,8}(?:公司|集团|大学|学院|医院|银行|研究院))"
)
_SURNAME: Final = (
    "王李张刘陈杨赵吴徐孙朱胡郭何罗郑梁谢宋韩冯邓曹彭董"
    "袁潘蔡蒋杜魏苏吕卢姚沈姜崔谭陆范汪廖韦贾邹孟邱尹薛闫侯陶黎贺郝龚邵钱"
)
_NO_PERSON: Final = (
    r"(?!李子|王[国子者朝牌]|张[开贴]|陈[述旧列]|孙[子女]|谢谢|韩[国语式]|董事|陆[地续军]|范[围例本]|苏[打州联]|钱[包都多]|罗[马列]|杜绝"
    r"|沈阳|郑[州重]|何[时况必]|胡[子说同]|徐州|朱红|杨[树梅柳]|梁上|宋[代朝]|魏晋|黎明|贺[卡礼]|陶[瓷醉])"
)
"""Words that begin with the sign of a surname."""
CHINESE_PERSON: Final = rf"{_NO_PERSON}(?:[{_SURNAME}][\u4e00-\u9fff]{{1,2}}?|[小老阿][{_SURNAME}])"
"""A surname and a given name, or 小 and 老 with a surname."""
_CHINESE_ACTING: Final = re.compile(
    rf"(?:^|(?<=[，。！？；、\s“])|(?<=[昨今明]天))(?P<person>{CHINESE_PERSON})"
    r"(?=[来去说是在把被给跟和对从住叫想要会能有没到走回吃喝买做写打看听学开教送带告喜爱很也已刚正就]|[昨今明]天|上[周个])"
)
"""A surname and a given name where a clause begins and somebody does something."""
TECHNOLOGY: Final = frozenset(
    "docker kafka npm yarn pnpm pip conda python java javascript typescript rust golang kotlin swift ruby perl php"
    " scala haskell"
    " react vue angular svelte nextjs node django flask fastapi spring rails laravel kubernetes k8s helm terraform"
    " ansible jenkins"
    " github gitlab bitbucket git linux ubuntu debian fedora windows macos android ios postgres postgresql mysql"
    " sqlite mariadb"
    " mongodb redis cassandra elasticsearch clickhouse duckdb snowflake bigquery spark hadoop flink airflow prefect"
    " dbt pandas"
    " polars numpy pytorch tensorflow keras jax onnx cuda nginx apache rabbitmq celery grpc graphql rest json yaml"
    " toml xml html css"
    " sql api sdk cli ide vscode vim emacs neovim intellij pycharm jupyter excel aws gcp azure s3 ec2 lambda"
    " cloudflare vercel netlify"
    " heroku firebase supabase prometheus grafana kibana sentry datadog webpack vite eslint prettier jest pytest"
    " selenium playwright"
    " cypress maven gradle bash zsh powershell ssh tls ssl oauth jwt http https tcp udp dns vpn bert gpt llm rag"
    " bm25 faiss milvus"
    " weaviate qdrant pinecone langchain openai anthropic claude chatgpt gemini llama mistral huggingface parquet"
    " arrow delta iceberg"
    " unity unreal blender figma photoshop arduino wasm ci cd".split()
)
_ORGANISATION: Final = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|Corporation|Company|Co|University|College|Institute|School|Hospital|Bank|Labs?|Foundation|Agency"
    r"|Group|Studios?|Association|Committee|Ministry|Department|Council|Museum|Library|Church|FC|United)\b\.?"
)
_PLACE: Final = re.compile(
    r"\b(?:Street|St|Avenue|Ave|Road|Lake|Mount|Mt|River|Park|Beach|Island|Islands|Bay|Valley|City|County|Desert|Canyon|Bridge|Airport|Station|Square|Hill|Hills|Falls|Ocean|Sea)\b"
)
_EVENT: Final = re.compile(
    r"\b(?:Festival|Conference|Marathon|Cup|Olympics|Championship|Parade|Summit|Expo|Fair|Ceremony)\b"
)
_BEFORE: Final = re.compile(r"(?:\b(?P<word>[a-z']+)[ ,]+(?:the )?)$")
_PLACE_BEFORE: Final = frozenset(
    "in to from near at visit visited visiting toward towards across around leaving left reach reached".split()
)
_PERSON_BEFORE: Final = frozenset(
    "wife husband partner friend sister brother son daughter mother father mom dad uncle aunt cousin boss manager"
    " colleague coworker"
    " roommate neighbor neighbour fiance girlfriend boyfriend teacher doctor coach met meet with told hey hi hello"
    " dear named called"
    " and grandma grandpa nephew niece".split()
)
_PERSON_AFTER: Final = re.compile(
    r"(?:['’]s (?:wife|husband|birthday|mother|father|mom|dad|sister|brother|son|daughter|house|family|wedding)"
    r"| (?:said|says|told|thinks|lives|works|loves|likes|moved|married|wants|plays|studies|called|asked|wrote"
    r"|came|went|is my|is his|is her"
    r"|and I)\b)"
)
_CALENDAR: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october"
    " november december i'm i've i'll i'd i christmas english".split()
)


def entity_type(name: str, text: str = "", start: int = -1, speakers: frozenset[str] = frozenset()) -> str:
    """Return the type of a named entity, ``thing`` when nothing tells.

    Args:
        name: The surface name.
        text: What it stands in, ``start`` its first character there (-1: not known).
        speakers: Lower-cased names of the people who speak.

    >>> entity_type("Kafka"), entity_type("Acme Corp"), entity_type("Ann", speakers=frozenset({"ann"}))
    ('technology', 'organization', 'person')
    """
    low = name.lower()
    if low in speakers:
        return "person"
    if low in TECHNOLOGY or _SHAPE.fullmatch(name) or (len(low.split()) == 2 and low.split()[0] in TECHNOLOGY):
        return "technology"
    if re.match(r"(?:Mr|Mrs|Ms|Dr|Prof)\.? ", name):
        return "person"
    if _ORGANISATION.search(name):
        return "organization"
    if _EVENT.search(name):
        return "event"
    if _PLACE.search(name):
        return "place"
    if start < 0:
        return "thing"
    if len(low.split()) <= 3 and _PERSON_AFTER.match(text, start + len(name)):
        return "person"
    before = _BEFORE.search(text[max(0, start - 24) : start])
    word = before["word"] if before else ""
    if word in _PERSON_BEFORE and len(low.split()) <= 3 and (word not in ("and", "with", "called", "named")):
        return "person"
    if word in _PLACE_BEFORE and word != "at":
        return "place"
    return "thing"


def mentions(text: str, speakers: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """Return the named entities of a text in order, each once, at most 30."""
    found: dict[str, Mention] = {}
    for start, name in _surfaces(text[:_LIMIT]):
        key = name.lower()
        if key not in found and len(found) < _MOST:
            found[key] = Mention(name, entity_type(name, text, start, speakers))
        elif key in found and found[key].entity_type == "thing":
            found[key] = Mention(found[key].name, entity_type(name, text, start, speakers))
    for match in _TITLE.finditer(text[:_LIMIT]):
        found.setdefault(match[1].lower(), Mention(match[1], "work"))
    if _CJK.search(text):
        kinds = {"person": "person", "place": "place", "group": "organization"}
        for match in _CHINESE_NAMED.finditer(text[:_LIMIT]):
            kind = match.lastgroup or ""
            found.setdefault(match[kind], Mention(match[kind], kinds[kind]))
        for match in _CHINESE_ACTING.finditer(text[:_LIMIT]):
            found.setdefault(match["person"], Mention(match["person"], "person"))
    return tuple(found.values())[:_MOST]


def _surfaces(text: str) -> list[tuple[int, str]]:
    surfaces: list[tuple[int, str]] = []
    for match in _RUN.finditer(text):
        words = match[0].split()
        start = match.start()
        while (
            words
            and (words[0].lower() in PLAIN_STARTS or words[0].lower() in _CALENDAR)
            and words[0] not in ("Will", "May")
        ):
            start += len(words[0]) + 1
            words.pop(0)
        while words and (words[-1].lower() in _CALENDAR or words[-1].lower() in ("of", "the", "and", "for")):
            words.pop()
        if not words:
            continue
        name = " ".join(words)
        for ending in ("'s", "’s", "."):
            name = name.removesuffix(ending)
        if len(name) < 2 or (
            start == match.start()
            and len(words) == 1
            and _starts_sentence(text, start)
            and not _named(name, text, start)
        ):
            continue
        surfaces.append((start, name))
    surfaces += [(match.start(), match[0]) for match in _SHAPE.finditer(text)]
    surfaces += [
        (match.start(), match[0])
        for match in re.finditer(r"(?<![\w/.@-])[a-z][a-z0-9]{2,14}(?![\w/@])", text)
        if match[0] in _LOWER_TECH
    ]
    return sorted(surfaces)


_LOWER_TECH: Final = TECHNOLOGY - frozenset(
    "rest spring arrow delta spark swift ruby rust unity vue node flask react apache lambda prefect celery helm"
    " jest java excel"
    " conda yarn gradle unreal cypress gemini llama"
    " mistral iceberg blender milvus flink prettier vite kafka scala perl claude".split()
) | {"kafka"}


def _starts_sentence(text: str, start: int) -> bool:
    return text[:start].rstrip(" \"'“*-•")[-1:] in ("", ".", "!", "?", "\n", ":", "…")


def _named(name: str, text: str, start: int) -> bool:
    """Return whether a lone word at the start of a sentence is a name rather than a word that begins it."""
    if name.lower() in TECHNOLOGY or any(sign.isupper() or sign.isdigit() for sign in name[1:]):
        return True
    after = text[start + len(name) : start + len(name) + 24]
    return (
        re.match(
            r"['’]s \w|,? (?:is|was|has|lives|works|loves|likes|said|says|told|wants|plays|moved|went|got|and I)\b",
            after,
        )
        is not None
    )

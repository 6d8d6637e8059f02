"""Dialogues written by hand with known episode boundaries, and the measures of a segmentation.

A line is one turn, ``speaker: words``; ``+ 40m`` or ``+ 5h`` before it is a pause, ``---`` says that a new episode
begins there. Turns are a minute apart otherwise.
"""

# ruff: noqa: E501 (a turn is one line)

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mindmem.core.records import Message, Scope, Turn

__all__ = ["CHINESE", "ENGLISH", "ONE_TOPIC", "Dialogue", "matched", "read", "turn_of"]

_START: Final = datetime(2025, 3, 3, 18, 0, tzinfo=UTC)
_UNITS: Final = {"m": 60, "h": 3_600}


@dataclass(frozen=True)
class Dialogue:
    """Turns, and the places at which an episode begins (never 0)."""

    turns: tuple[Turn, ...]
    boundaries: frozenset[int]


def turn_of(place: int, speaker: str, said: str, at: datetime | None) -> Turn:
    """Return a turn of one message; speakers named User and Assistant have roles, all others are users by name."""
    role = "assistant" if speaker == "Assistant" else "user"
    name = "" if speaker in ("User", "Assistant") else speaker
    scope = Scope.of("ann", session_id="s")
    return Turn((Message(f"m{place}", scope, place, role, name, said, at, "UTC", "add"),))  # type: ignore[arg-type]


def read(text: str) -> Dialogue:
    """Return the dialogue that a text in this module's form describes."""
    turns: list[Turn] = []
    boundaries: set[int] = set()
    at = _START
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "---":
            boundaries.add(len(turns))
        elif line.startswith("+ "):
            at += timedelta(seconds=int(line[2:-1]) * _UNITS[line[-1]])
        else:
            speaker, _, said = line.partition(": ")
            turns.append(turn_of(len(turns), speaker, said, at))
            at += timedelta(seconds=60)
    return Dialogue(tuple(turns), frozenset(boundaries))


def matched(found: Sequence[int], known: frozenset[int], slack: int = 1) -> int:
    """Return how many boundaries were found, each known one by the nearest found one at most ``slack`` turns away."""
    left = set(found)
    hits = 0
    for place in sorted(known):
        near = min((one for one in left if abs(one - place) <= slack), key=lambda one: abs(one - place), default=None)
        if near is not None:
            left.remove(near)
            hits += 1
    return hits


ENGLISH: Final = {
    "garden, then a job": """
        Mara: The tomatoes finally came up this week, six seedlings in the greenhouse.
        Jon: Nice! Are you going to plant them out in May?
        Mara: Yes, once the frost is over. The greenhouse gets too hot for seedlings by then.
        Jon: I lost all my tomatoes to frost last year. I should have waited.
        ---
        Jon: By the way, did you hear back from the shipping company?
        Mara: I did, they offered me the dispatcher position on Tuesday.
        Jon: Congratulations! When would you start?
        Mara: In April. The salary is better and the office is close to the tram.
        Jon: A dispatcher at a shipping company sounds busy.
        Mara: It is, but I liked the people in the office.
        """,
    "cat, holiday, bicycle": """
        Priya: Miso threw up on the carpet again this morning.
        Leo: Poor cat. Did you change her food recently?
        Priya: We switched to a grain-free food on Friday, maybe that is why.
        Leo: My vet said to mix old and new food for a week when you switch.
        Priya: I'll call the vet tomorrow if she keeps throwing up.
        ---
        Leo: Have you booked anything for the summer holidays?
        Priya: Not yet, we are torn between Portugal and Croatia.
        Leo: Croatia has the clearer sea. We took the ferry to Vis two summers ago.
        Priya: A ferry with two kids, hmm. Was the island crowded?
        Leo: Not in June. In August the whole coast of Croatia is packed.
        ---
        Priya: Speaking of trips, my bicycle needs new brakes before the Sunday tour.
        Leo: Bring it over, I have brake pads and the tools in the garage.
        Priya: Really? The rear brake squeals and the chain skips, too.
        Leo: A worn chain skips. I'll measure the chain when you come.
        """,
    "assistant: code, then dinner": """
        User: My pytest fixture runs once per test, but I want the database only once per module.
        Assistant: Give the fixture scope="module". Then pytest builds the database once and shares it between the tests of that module.
        User: And if a test writes into the database?
        Assistant: Then the tests see each other's rows. Wrap each test in a transaction and roll it back in a function-scoped fixture.
        User: The rollback fixture works, thanks.
        Assistant: Glad the tests pass now.
        ---
        User: What could I cook tonight with chickpeas, spinach and half a lemon?
        Assistant: A quick chickpea curry: fry onion and cumin, add the chickpeas, then the spinach until it wilts, and finish with lemon.
        User: I have no cumin. Would paprika do?
        Assistant: Smoked paprika goes well with chickpeas. Add it with the onion so it does not burn.
        """,
    "a pause of forty minutes": """
        Tom: The landlord wants to raise the rent by eleven percent.
        Ines: That is a lot. Is that even legal in your city?
        Tom: The cap is ten percent within three years, so I think it isn't.
        Ines: Then write to the tenants' association before you sign anything.
        Tom: I have an appointment with the tenants' association on Monday.
        + 40m
        ---
        Tom: Do you still have the drill I lent you in autumn?
        Ines: Yes, it is in the cellar with the masonry bits.
        Tom: I need the drill on Saturday to put up a shelf.
        Ines: I'll drop the drill and the bits off on Friday evening.
        """,
    "next morning": """
        Kofi: Practice was rough today, the coach made us do sprints until eight.
        Dana: How is your knee holding up with all the sprints?
        Kofi: The knee is fine, the physio taped it before practice.
        Dana: Good. Don't skip the physio this week.
        Kofi: I won't. Good night!
        Dana: Good night, Kofi.
        + 9h
        ---
        Kofi: Good morning! My sister just had her baby, a girl.
        Dana: Oh how wonderful! What is the baby's name?
        Kofi: Esi, after our grandmother. My sister and the baby are both well.
        Dana: Send a photo when you visit them.
        """,
    "no cue at all": """
        Ruth: I finished the second sleeve of the sweater last night.
        Bea: The blue wool sweater? You knit fast.
        Ruth: It was forty hours for both sleeves. The collar is what I fear.
        Bea: My grandmother always knit the collar first, she hated sewing it on.
        Ruth: With this wool you would see every seam at the collar.
        ---
        Bea: Our choir got invited to sing in the cathedral at Easter.
        Ruth: The big cathedral? How many singers are you?
        Bea: Thirty singers. The choir director wants us to do the Bach motet.
        Ruth: Bach in a cathedral, I'd come to hear that.
        Bea: I'll keep you two tickets. Rehearsals with the organ start in March.
        ---
        Ruth: The dentist found a crack in my molar on Wednesday.
        Bea: Ouch. Does the molar hurt when you chew?
        Ruth: Only on cold things. The dentist wants to put a crown on it.
        Bea: A crown cost me six hundred euros, ask your insurance first.
        """,
    "support, then invoices": """
        User: The label printer shows a red light and prints nothing.
        Assistant: A red light usually means that the label roll is empty or the cover is open. Could you check the cover?
        User: The cover is closed and there are labels left on the roll.
        Assistant: Then clean the sensor under the roll with a dry cloth and restart the printer.
        User: After the restart the light is green and the printer works again.
        Assistant: Great. A dusty sensor is the most common reason for the red light.
        ---
        User: One more thing, I can't find our March invoice in the portal.
        Assistant: Invoices are under Billing, Documents. Which account number is on your contract?
        User: The account number is 40771. Only January and February are listed under Documents.
        Assistant: The March invoice was sent by post because the email address bounced. I have put a copy under Documents.
        User: I see the invoice now. Please update our email address for billing.
        """,
    "three friends": """
        Alma: Who wants to come to the climbing hall on Thursday?
        Bo: Me. I have climbed only twice since the hall reopened.
        Cleo: I'm in if somebody belays me, my shoes still fit.
        Alma: I can belay. The new routes in the hall are long.
        Bo: Great, then Thursday at seven at the hall.
        ---
        Cleo: On another note, has anybody seen the documentary about octopuses?
        Alma: The one with the diver? I cried when the octopus lost an arm.
        Cleo: Yes! The diver visited the octopus every day for a year.
        Bo: I haven't seen the documentary. Is it on the library's streaming page?
        Cleo: It is, with subtitles.
        ---
        Bo: Guys, my car failed the inspection because of rust.
        Alma: Again? How old is the car?
        Bo: Nineteen years. The garage wants twelve hundred for welding the rust.
        Cleo: I'd sell the car for parts and take the train.
        """,
    "greeting, moving house, mother": """
        Nadia: Hi Sam! Long time no see, how are the boxes coming along?
        Sam: Hey! Half of the boxes are packed, the movers arrive on the 14th.
        Nadia: Do you need help carrying the piano?
        Sam: The movers take the piano. But I could use help with painting the old flat.
        Nadia: I can paint on Sunday. Which colour does the landlord want?
        Sam: Plain white. I have the paint and two rollers.
        ---
        Nadia: Anyway, how is your mother after the operation?
        Sam: Better. She walks with a stick and complains about hospital coffee.
        Nadia: That sounds like her. When does she leave the hospital?
        Sam: On Friday, then three weeks of rehabilitation by the lake.
        Nadia: Give her my love.
        """,
    "running, a book, taxes": """
        Eli: I ran my first half marathon yesterday, two hours and four minutes.
        Gus: Wow, that is a strong time for a first half marathon!
        Eli: The last three kilometres were pain. I started too fast.
        Gus: Everybody starts too fast. Which race is next?
        Eli: A flat ten kilometres in June, then maybe a marathon next year.
        Gus: Take two weeks off before you train for a marathon.
        ---
        Gus: Have you read anything good lately?
        Eli: I'm halfway through a novel about a lighthouse keeper in Iceland.
        Gus: Who wrote it? I love novels set in Iceland.
        Eli: I forget the author, but the keeper writes letters nobody answers.
        Gus: Lend me the novel when you are done.
        ---
        Eli: Sure. Oh, before I forget: did you file your taxes already?
        Gus: No, the tax office gave me until September because of the freelance income.
        Eli: Freelance income is a mess. I pay somebody to do my taxes.
        Gus: How much does your tax adviser charge?
        """,
    "assistant: plants, passport": """
        User: The leaves of my monstera are turning yellow at the edges.
        Assistant: Yellow edges on a monstera often come from overwatering. How often do you water it?
        User: Every three days, about half a litre.
        Assistant: That is too often. Let the top of the soil dry before you water the monstera again.
        User: Ok, I'll water it once a week.
        + 35m
        ---
        User: How long does it take to renew a passport by mail?
        Assistant: Routine passport renewal takes six to eight weeks, the expedited service two to three.
        User: My flight to Osaka is on 2 June.
        Assistant: Then choose the expedited renewal and mail the old passport with the form this week.
        User: Do I have to send the old passport with it?
        Assistant: Yes, it comes back in a separate envelope.
        """,
    "a longer chat": """
        Hana: Guess who called me on Sunday? My old flatmate from Leeds.
        Wim: The one who moved to Canada?
        Hana: Yes, she runs a bakery in Halifax now.
        Wim: A bakery, wow. She couldn't even toast bread in Leeds.
        Hana: People change. She sends me pictures of sourdough every week.
        Wim: I should try sourdough again. My starter died in the heat.
        Hana: Keep the starter in the fridge and feed it on Fridays.
        ---
        Wim: I've been thinking about leaving the band.
        Hana: What? You founded it with Pieter.
        Wim: I know, but we rehearse four times a week and nobody listens to my songs.
        Hana: Did you talk to Pieter about it?
        Wim: Not yet. He would be hurt, and the drummer would quit too.
        Hana: Play the spring concert and decide after that.
        ---
        Wim: Are you still taking the swimming course?
        Hana: Twice a week. I can finally do the crawl without swallowing half the pool.
        Wim: I never learned the crawl, only breaststroke.
        Hana: The trainer has a beginners' group on Mondays at the pool.
        Wim: Is it expensive?
        Hana: Ninety euros for ten lessons.
        """,
    "assistant with long answers": """
        User: I'm writing a cover letter for a museum position and it sounds stiff.
        Assistant: Start with a concrete moment rather than with the position. For example, describe the exhibition that made you want to work in a museum, and link it to what the museum does now.
        User: I could mention the maritime exhibition I guided visitors through in college.
        Assistant: That works well. Two sentences about the maritime exhibition, what visitors asked you, and what you learned from it. Then move to the skills the position names.
        User: How long should the letter be?
        Assistant: One page at most, around three hundred words. Recruiters skim it in under a minute.
        ---
        User: My daughter has to learn the multiplication tables and hates it. Any games?
        Assistant: Card games work well. Deal two cards each, the player who names the product first keeps them. Dice and a bingo sheet with products work the same way.
        User: She loves cards. She is stuck on seven and eight.
        Assistant: Remove the other cards from the deck so that sevens and eights come up often, and let her win the first rounds.
        ---
        User: What's the difference between a fixed and a variable mortgage?
        Assistant: With a fixed mortgage the interest rate stays the same for the agreed term. A variable mortgage follows the market, so payments can rise or fall.
        User: Which is cheaper right now?
        Assistant: Variable rates currently start above fixed ones in many countries, but that changes. Compare offers for the same term and check the fee for early repayment.
        """,
    "cues inside one topic": """
        Lena: The wedding is on 6 September, at my aunt's farm.
        Max: How many guests do you expect at the farm?
        Lena: Eighty, and by the way, the barn at the farm only seats sixty.
        Max: Then rent a tent for the rest of the guests.
        Lena: A tent is what my aunt suggested, too.
        Max: Anyway, a tent keeps everybody dry if it rains at the wedding.
        Lena: True. The caterer wants to know the number of guests by June.
        ---
        Max: I sold the motorbike, finally.
        Lena: The green one? For how much?
        Max: Three thousand, to a student from Ghent.
        Lena: You loved that motorbike.
        Max: I did, but it stood in the shed for two years.
        """,
    "school and weather": """
        Ola: The boys start school next week and I still have no schoolbags.
        Kim: The shop by the station has schoolbags on sale.
        Ola: Thanks, I'll look there. They also need gym shoes and pencils.
        Kim: My son lost three pencils a day in first grade.
        + 3h
        ---
        Ola: Did the storm hit you as well?
        Kim: It tore two shingles off the roof, and the cellar is wet.
        Ola: Our cellar stayed dry, but a branch fell on the fence.
        Kim: Call the insurance and take photos of the fence.
        + 2h
        Ola: The insurance sends somebody to look at the fence on Thursday.
        Kim: Good, ours comes for the roof on Wednesday.
        """,
}  # fmt: skip
"""English dialogues by what they are about."""

CHINESE: Final = {
    "养猫，然后面试": """
        小林: 我家的猫最近老是掉毛，沙发上全是猫毛。
        小周: 换季的时候猫都会掉毛，你每天给它梳毛吗？
        小林: 一个星期梳一次，看来不够。
        小周: 我每天晚上给猫梳十分钟，掉毛少多了。
        小林: 好，我今晚也试试梳毛。
        ---
        小周: 对了，你上周的面试结果出来了吗？
        小林: 出来了，那家物流公司给了我录用通知。
        小周: 恭喜！工资怎么样？
        小林: 工资比现在高两成，公司离地铁站也近。
        小周: 那你什么时候去新公司报到？
        """,
    "旅行，火锅，手机": """
        阿明: 国庆我打算去云南玩一个星期。
        阿芳: 云南哪里？大理还是丽江？
        阿明: 先去大理骑车环洱海，再坐火车去丽江。
        阿芳: 洱海边的民宿要早点订，国庆人特别多。
        阿明: 民宿已经订好了，就在洱海边上。
        ---
        阿芳: 话说学校门口新开了一家火锅店，你吃过没有？
        阿明: 还没有，听说那家火锅的汤底很辣。
        阿芳: 有鸳鸯锅，毛肚和牛肉都很新鲜。
        阿明: 那周五晚上一起去吃火锅吧。
        ---
        阿明: 另外，我的手机屏幕昨天摔碎了。
        阿芳: 哎呀，换一块屏幕要多少钱？
        阿明: 官方要一千二，外面的维修店只要四百。
        阿芳: 维修店换的屏幕质量不一定好。
        """,
    "助手：代码，换个话题": """
        User: 我的 Python 脚本读取大文件的时候内存不够。
        Assistant: 可以逐行读取文件，不要一次把整个文件读进内存。
        User: 逐行读取会不会很慢？
        Assistant: 不会，文件对象自带缓冲，逐行读取的速度差别很小。
        User: 好的，内存现在稳定在两百兆。
        Assistant: 那就说明问题解决了。
        ---
        User: 换个话题，周末我想带爸妈去爬山，有什么推荐？
        Assistant: 爸妈年纪大的话，可以选有缆车的山，比如香山。
        User: 香山的缆车要提前买票吗？
        Assistant: 周末最好提前买票，红叶季节缆车排队很久。
        """,
    "没有提示词": """
        王姐: 女儿的钢琴考级定在下个月十二号。
        李哥: 考几级？曲子都练熟了吗？
        王姐: 五级，巴赫那首曲子还有点卡。
        李哥: 考级之前多上两节钢琴课吧。
        王姐: 老师已经给她加了钢琴课。
        ---
        李哥: 我们小区的电梯又坏了，我爬了十八楼。
        王姐: 物业怎么说？电梯上个月不是刚修过吗？
        李哥: 物业说电梯的零件要等三天才到。
        王姐: 三天爬十八楼，膝盖都要坏了。
        """,
    "隔天": """
        小杨: 今天的羽毛球打得真累，连打了三个小时。
        小吴: 你的手腕还疼吗？上次打羽毛球你扭了手腕。
        小杨: 手腕好多了，贴了膏药。
        小吴: 那就好，早点休息，晚安。
        小杨: 晚安。
        + 10h
        ---
        小杨: 早上好！我奶奶今天过八十大寿。
        小吴: 祝奶奶生日快乐！你们怎么庆祝？
        小杨: 全家在饭店摆三桌，我给奶奶订了一个寿桃蛋糕。
        小吴: 寿桃蛋糕很有心意，奶奶一定喜欢。
        """,
    "租房，先不说这个": """
        小赵: 房东突然说下个月房租要涨五百。
        小钱: 合同还没到期，房东不能随便涨房租。
        小赵: 合同十二月到期，他想提前涨。
        小钱: 你拿合同跟他谈，不行就打电话投诉。
        小赵: 嗯，我明天找房东谈房租的事。
        ---
        小赵: 先不说这个了，你妹妹的婚礼准备得怎么样？
        小钱: 婚礼的酒店和婚纱都定好了，就差请帖。
        小赵: 请帖要不要我帮忙设计？
        小钱: 太好了，妹妹正愁找不到人设计请帖呢。
        """,
    "看书，装修": """
        老陈: 我最近在看一本讲敦煌壁画的书。
        老马: 敦煌壁画我去年亲眼看过，颜色保存得真好。
        老陈: 书里说壁画的蓝色颜料是从阿富汗运来的。
        老马: 那种蓝色颜料叫青金石，讲解员也提过。
        老陈: 我也想去敦煌看看。
        ---
        老马: 你家卫生间装修完了吗？
        老陈: 还差贴瓷砖，师傅说瓷砖要等到下周。
        老马: 贴瓷砖之前记得先做防水。
        老陈: 防水做了两遍，试水没有问题。
        ---
        老马: 我儿子报名了学校的足球队。
        老陈: 踢什么位置？
        老马: 守门员，教练说他反应快。
        老陈: 守门员容易受伤，给他买副好手套。
        """,
    "点菜，助手": """
        User: 帮我想三个孩子爱吃的早餐。
        Assistant: 可以做鸡蛋饼、香蕉燕麦粥和火腿三明治，鸡蛋饼最快。
        User: 孩子对鸡蛋过敏。
        Assistant: 那就换成香蕉燕麦粥、红薯饼和火腿三明治，都不含鸡蛋。
        ---
        User: 请把这句话翻译成法语：会议改到星期四下午。
        Assistant: 法语是：La réunion est reportée à jeudi après-midi.
        User: 正式邮件里这样翻译合适吗？
        Assistant: 合适，正式邮件里前面可以加上称呼。
        """,
}  # fmt: skip
"""Chinese dialogues by what they are about."""

ONE_TOPIC: Final = {
    "a kitchen": """
        Vera: We are redoing the kitchen in spring.
        Otto: The whole kitchen, or just the cabinets?
        Vera: Cabinets, worktop and floor. The oven stays.
        Otto: Which worktop did you choose?
        Vera: Oak. Stone was twice the price.
        Otto: Oak needs oil every year, you know that?
        Vera: Yes, I oil the table anyway. I'd do the worktop with it.
        Otto: And the floor? Tiles are cold in winter.
        Vera: Cork. It is warm and easy to lay yourself.
        Otto: We have cork in the hall, it holds up well.
        """,
    "a bug": """
        User: The nightly export stops with a timeout since Monday.
        Assistant: Which step of the export times out?
        User: The upload to the bucket, after about ten minutes.
        Assistant: How large is the export file now?
        User: Nine gigabytes, it was four last month.
        Assistant: Then upload it in parts. A multipart upload retries only the part that failed.
        User: Is there a limit on the number of parts?
        Assistant: Ten thousand parts, so with 64 MB each you are far below the limit.
        User: It went through in six minutes, thanks.
        """,
    "搬家": """
        小孙: 我们下个月搬家，新房子在城东。
        小李: 新房子多大？
        小孙: 九十平米，比现在的房子多一个房间。
        小李: 搬家公司找好了吗？
        小孙: 找了两家搬家公司比价格。
        小李: 贵重的东西最好自己搬。
        小孙: 对，电脑和相机我自己带过去。
        """,
    "dog": """
        Ada: We picked up the puppy on Saturday.
        Ben: What breed is it?
        Ada: A beagle, nine weeks old. Her name is Pepper.
        Ben: Does she sleep through the night?
        Ada: No, she whines at two and at five.
        Ben: Put the crate beside your bed for the first weeks.
        Ada: We did. It helps a bit.
        Ben: When is her first vaccination?
        Ada: She had the first one at the breeder. The second is next Friday.
        Ben: Then no dog park until then.
        Ada: Right, just the garden.
        """,
    "trip": """
        Ivo: So we're really doing Norway in August?
        Mia: Yes! Two weeks, with the van.
        Ivo: Ferry from Kiel or the bridge through Sweden?
        Mia: The bridge is cheaper for a van that tall.
        Ivo: I want to see at least one glacier.
        Mia: Jostedal is on the way to Bergen.
        Ivo: And hiking boots, mine are falling apart.
        Mia: Buy them now and walk them in.
        Ivo: What about mosquitoes?
        Mia: Only inland. On the coast there is too much wind.
        Ivo: I'll pack a net anyway.
        Mia: Pack warm socks instead.
        """,
}  # fmt: skip
"""Dialogues that stay with their topic."""

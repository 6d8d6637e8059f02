"""Dialogues in which users correct an assistant, or only seem to: written for these tests, English and Chinese."""

from dataclasses import dataclass
from typing import Final

__all__ = ["CHINESE", "CONTROLS", "ENGLISH", "OTHER_CHINESE", "OTHER_ENGLISH", "Dialogue"]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What is known, what is said (the assistant's words and the user's, in turn, the user's last), and what must be.

    ``keeps`` are words that an active memory must hold afterwards, ``gone`` words of one that must be archived,
    ``condition`` words of the kept one's condition. A control has none of them: nothing may change.
    """

    said: tuple[str, ...]
    known: tuple[str, ...] = ()
    keeps: str = ""
    gone: str = ""
    condition: str = ""

    @property
    def control(self) -> bool:
        """Return whether nothing may change."""
        return not (self.keeps or self.gone)


ENGLISH: Final = (
    # values put right
    Dialogue(("You live in Bonn, right?", "No, I meant Ghent, not Bonn."), ("I live in Bonn.",), "Ghent", "Bonn"),
    Dialogue(("Shall I greet Norma?", "It's Nora, not Norma."), ("My sister is called Norma.",), "Nora", "Norma"),
    Dialogue(("Hi Jon!", "My name is not Jon but John."), ("My name is Jon.",), "John", "Jon"),
    Dialogue(
        ("Your team stores billing in PostgreSQL.", "That's wrong, the project uses MySQL."),
        ("The project uses PostgreSQL.",),
        "MySQL",
        "PostgreSQL",
    ),
    Dialogue(
        ("Here is a list of Sichuan places.", "Actually no, I hate Chinese food."),
        ("I love Chinese food.",),
        "hate Chinese food",
        "love Chinese food",
    ),
    Dialogue(
        ("I noted your flight for Thursday.", "That's not right. My flight is on Friday."),
        ("My flight is on Thursday.",),
        "Friday",
        "Thursday",
    ),
    Dialogue(
        ("As a teacher you must be tired.", "You got that wrong, I'm a nurse."), ("I'm a teacher.",), "nurse", "teacher"
    ),
    Dialogue(
        ("Should I mail the Acme account?", "Scratch that, I work at Initech now."),
        ("I work at Acme.",),
        "Initech",
        "Acme",
    ),
    # lasting wishes and refused suggestions
    Dialogue(("How about a steakhouse?", "Please don't suggest steak again."), (), "steak"),
    Dialogue(("Sure thing! 😀🎉", "Could you stop using emojis in your replies?"), (), "emojis"),
    Dialogue(("Voilà, the summary.", "From now on, always answer in English."), (), "English"),
    Dialogue(("You could grill some ribs.", "No thanks, I don't eat meat."), (), "eat meat"),
    Dialogue(("Try the cashew curry!", "I told you I'm allergic to nuts."), (), "allergic to nuts"),
    Dialogue(("What about a jazz night?", "I'm not a fan of jazz, honestly."), (), "jazz"),
    Dialogue(("Good morning, Robert.", "Please never call me Robert, I go by Bob."), (), "Robert"),
    # conditions
    Dialogue(
        ("hey boss, all done, cheers", "For emails to my boss, please use a formal tone."),
        (),
        "formal tone",
        condition="emails to my boss",
    ),
    Dialogue(
        ("Here is a long essay on it.", "When I'm at work, keep your answers short."), (), "short", condition="at work"
    ),
    Dialogue(
        ("Would a big party suit you?", "Actually, with close friends I prefer long dinners at home."),
        (),
        "long dinners",
        condition="close friends",
    ),
    # taken back
    Dialogue(("You like sushi, so…", "Forget that I like sushi."), ("I like sushi.",), gone="sushi"),
    Dialogue(("How is your dog Rex?", "That's not true, I never said I have a dog."), ("I have a dog.",), gone="a dog"),
    # controls
    Dialogue(("The cat opened the door itself.", "No way! That's so funny.")),
    Dialogue(("I booked the earlier train.", "Actually that's great, thanks!")),
    Dialogue(("Done.", "No, that's fine as it is.")),
    Dialogue(("Anything else?", "No, I'm good, thank you.")),
    Dialogue(("The capital is Canberra.", "Is that wrong? I always thought it was Sydney.")),
    Dialogue(("Ready.", "What if I said that's wrong and I live on the moon?")),
    Dialogue(("How was your day?", "My boss said don't ever send that report again.")),
    Dialogue(("Who called?", 'She yelled "no, I meant the blue one" across the shop.')),
    Dialogue(
        ("You live in Bonn.", "No, I actually live in a castle with dragons, just kidding!"), ("I live in Bonn.",)
    ),
    Dialogue(("I'm sorry for the delay.", "Don't worry about it, never mind.")),
    Dialogue(("Here is the draft.", "No, make it shorter please.")),
    Dialogue(("Which file?", "Actually, use the second file for this one.")),
    Dialogue(("Here is the letter.", "For this email, use a very formal tone.")),
    Dialogue(("Here is the patch.", "That's not right, the test fails because the function returns null.")),
    Dialogue(("It raises now.", "Actually, rename the variable to total, not sum.")),
    Dialogue(("The quiz is tricky.", "I told you so!")),
    Dialogue(("You guessed it.", "Stop kidding me!")),
    Dialogue(("I could order pizza.", "Just for today, no dairy please.")),
    Dialogue(("A friend would be glad.", "Imagine I told you that I never eat fish, how would you answer?")),
    Dialogue(("It may rain.", "Not bad, but not exactly what I hoped for.")),
)

CHINESE: Final = (
    Dialogue(("您住在北京对吧？", "不对，我住在上海。"), ("我住在北京。",), "上海", "北京"),
    Dialogue(("您是产品经理。", "我不是产品经理，是设计师。"), ("我是产品经理。",), "设计师", "产品经理"),
    Dialogue(("会议定在周四。", "我说的是周五，不是周四。"), ("会议在周四。",), "周五", "周四"),
    Dialogue(("推荐您吃火锅。", "别再给我推荐火锅了。"), (), "火锅"),
    Dialogue(("好的😀", "以后不要用表情符号。"), (), "表情符号"),
    Dialogue(("试试花生糖吧。", "记住，我对花生过敏。"), (), "花生过敏"),
    Dialogue(("您的猫小黑怎么样？", "你搞错了，我的猫叫小白。"), ("我的猫叫小黑。",), "小白", "小黑"),
    Dialogue(("收到啦亲！", "工作的时候请用正式的语气。"), (), "正式的语气", condition="工作"),
    Dialogue(("要不要来份牛排？", "不，我不吃牛肉。"), (), "不吃牛肉"),
    Dialogue(("我写好了。", "以后给客户写邮件时请用英文。"), (), "英文", condition="客户"),
    # controls
    Dialogue(("猫自己开了门。", "不是吧！太好笑了。")),
    Dialogue(("您的意思是？", "如果我说不对，你会怎么办？")),
    Dialogue(("今天怎么样？", "老师说以后不要再迟到。")),
    Dialogue(("写好了。", "这次用英文写。")),
    Dialogue(("晚饭呢？", "今天先不吃辣。")),
    Dialogue(("换一个？", "其实挺好的，不用改。")),
    Dialogue(("抱歉久等了。", "没关系，别担心。")),
    Dialogue(("您住在北京。", "不对，我住在月球上，哈哈开玩笑的。"), ("我住在北京。",)),
    Dialogue(("补丁好了。", "不对，这个函数的返回值错了。")),
    Dialogue(("首都是堪培拉。", "不是悉尼吗？")),
)

OTHER_ENGLISH: Final = (
    # of another style than that of the rules, and written before they were tried on any of them
    Dialogue(
        ("Your usual, with oat milk?", "wait, since when do i drink oat milk lol. it's soy, always has been"),
        ("I drink oat milk.",),
        "soy",
        "oat",
    ),
    Dialogue(
        ("I've put Dr. Weiss down as your dentist.", "small fix: my dentist is Dr. Amari these days."),
        ("My dentist is Dr. Weiss.",),
        "Amari",
        "Weiss",
    ),
    Dialogue(
        (
            "Any plans for Pickles today?",
            "We gave Pickles away in March, so please drop him from whatever list you have.",
        ),
        ("I have a cat called Pickles.",),
        gone="Pickles",
    ),
    Dialogue(
        ("Here are seven bullet points.", "Could I ask for prose instead of bullet lists going forward?"), (), "prose"
    ),
    Dialogue(
        (
            "I'd fly you out on Sunday at seven.",
            "For what it's worth, I won't take any flight that leaves before ten, so that's never going to work.",
        ),
        (),
        "before ten",
    ),
    Dialogue(
        ("Bus 14 takes you home.", "You're mixing me up with my brother: he's the one in Leeds. I'm in York."),
        ("I live in Leeds.",),
        "York",
        "Leeds",
    ),
    Dialogue(
        ("Dear Ms Fontaine,", "Ms? Mr, please. Mr Fontaine, and that goes for every letter you write for me."),
        (),
        "Mr Fontaine",
    ),
    Dialogue(
        ("Let me explain recursion first.", "Whenever we're debugging, skip the theory and give me the fix first."),
        (),
        "skip the theory",
        condition="debugging",
    ),
    Dialogue(
        ("Try the tandoori place!", "Spicy food and I don't get along any more, keep that in mind."), (), "picy food"
    ),
    Dialogue(
        ("Your deadline is 12 May.", "They pushed it: the deadline's 19 May now."),
        ("The deadline is 12 May.",),
        "19 May",
        "12 May",
    ),
    # controls
    Dialogue(("Your deadline is 12 May.", "ugh, 12 May. that's going to be tight."), ("The deadline is 12 May.",)),
    Dialogue(("I'd suggest the blue one.", "hm, let me sleep on it and get back to you")),
    Dialogue(("Here's the itinerary.", "Swap day two and day three, then it's perfect.")),
    Dialogue(("The meeting is at three.", "My colleague keeps telling me it's at four, typical.")),
    Dialogue(("Done, translated into French.", "Make that Spanish for the second paragraph, would you?")),
    Dialogue(("The film ends with his death.", "Wrong! Nobody dies, he wakes up. Great twist though.")),
    Dialogue(("Want another joke?", "Please don't, my stomach hurts from laughing.")),
    Dialogue(("That's 48.", "Shouldn't that be 49? 7 times 7, no?")),
    Dialogue(("The button is red.", "Wasn't it supposed to be green? Fix the CSS and rerun.")),
    Dialogue(("You like sushi, so…", "Would you still recommend it if I were vegetarian?"), ("I like sushi.",)),
)

OTHER_CHINESE: Final = (
    Dialogue(("还是回朝阳区的家？", "早搬啦，现在住通州。"), ("我住在朝阳区。",), "通州", "朝阳"),
    Dialogue(("这是总结，共两千字。", "太长了，往后总结控制在三百字以内。"), (), "三百字"),
    Dialogue(("给您点了冰美式。", "我胃不好，冰的东西一概不碰，你记一下。"), (), "冰的东西"),
    Dialogue(("王经理您好！", "别这么叫，我姓汪，三点水的汪。"), ("我姓王。",), "汪", "王"),
    Dialogue(("周末可以去爬山。", "跟孩子一起出门的话，就只推荐室内的地方。"), (), "室内的地方", condition="孩子"),
    # controls
    Dialogue(("已经订好八点的闹钟。", "唉，八点又起不来了。")),
    Dialogue(("要不要换成红色？", "让我再想想吧。")),
    Dialogue(("这段译得怎么样？", "第二句改成被动语态，别的都行。")),
    Dialogue(("他最后没赶上火车。", "我怎么记得他赶上了？")),
    Dialogue(("您母亲怎么说？", "她非说我该吃素，烦死了。")),
)

CONTROLS: Final = (
    # words of the cues that correct nothing: states that pass, questions, talk of others and of the task
    Dialogue(("Are you on the train?", "I'm on the train now.")),
    Dialogue(("Is the page still blank?", "The page is loading now.")),
    Dialogue(("How's the build?", "The build is green now.")),
    Dialogue(("Is your phone fixed?", "My phone is working now.")),
    Dialogue(("Hungry?", "lol I ate three pizzas")),
    Dialogue(("The museum closes at five.", "Since when does the museum close at five?")),
    Dialogue(("You could take the bus.", "I won't take it.")),
    Dialogue(("Shall I go on?", "Could we go on in the future?")),
    Dialogue(("The dog is in the picture.", "Rex looks sad, so can you drop him into the other picture?")),
    Dialogue(("Anything to add?", "Let's keep that in mind.")),
    Dialogue(("I updated the plan.", "Update: the plan looks good.")),
    Dialogue(("Which line?", "The last line, make it bold please.")),
    Dialogue(("I'd use the red theme.", "Now that's what I call a theme!")),
    Dialogue(("The meeting is at noon.", "Noon is fine now that I think of it.")),
    Dialogue(("要改吗？", "现在不用。")),
    Dialogue(("他走了？", "早走了，现在在家。")),
    Dialogue(("这样行吗？", "太好了，别动它。")),
    Dialogue(("累吗？", "我记一下。")),
)

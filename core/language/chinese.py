"""Chinese words that rules look at: negations and their look-alikes, opposites, numerals, measures, particles."""

import re
from typing import Final

__all__ = [
    "CHANGE_CUES",
    "FILLERS",
    "MEASURES",
    "NEGATION",
    "NOT_NEGATION",
    "NUMERALS",
    "OPPOSITES",
    "PLACE",
    "STANCES",
    "UNITS",
    "numeral",
]

NOT_NEGATION: Final = re.compile(
    "不错|不过|不仅|不但|不管|不论|不光|不得不|差不多|对不起|不好意思|要不|不断|了不起|非常|除非|非洲|是非|特别|别人|别的"
    "|分别|区别|级别|性别|告别|无论|未来|没关系|没问题"
)
"""Words that hold a sign of negation without denying anything."""

NEGATION: Final = re.compile("[不没未无非别勿]")

OPPOSITES: Final = tuple(
    tuple(pair.split("/"))
    for pair in (
        "喜欢/讨厌 喜爱/讨厌 爱/恨 爱/讨厌 允许/禁止 可以/禁止 同意/反对 同意/拒绝 接受/拒绝 支持/反对"
        " 打开/关闭 开启/关闭 启用/禁用 开始/结束 开始/停止 增加/减少 上升/下降 提高/降低 上涨/下跌"
        " 高/低 多/少 大/小 长/短 快/慢 冷/热 左/右 前/后 早/晚 新/旧 好/坏 对/错 真/假 贵/便宜 难/容易"
        " 安全/危险 成功/失败 赢/输 买/卖 借/还 结婚/离婚 已婚/单身 入职/离职 加入/退出 加入/离开 到达/离开"
        " 添加/删除 安装/卸载 公开/私有 必须/可选 最大/最小 记得/忘记 男/女 东/西 南/北"
    ).split()
)

PLACE: Final = re.compile(
    r"(?:.{0,8}(?:省|市|县|区|镇|村|乡|州|岛|国|路|街|大道|广场|机场|车站|火车站|家里?|附近|一线|外面|海外|外地|当地|国外|办公室|这里|那里)"
    r"|北京|上海|广州|深圳|天津|重庆|成都|杭州|武汉|西安|南京|苏州|郑州|长沙|沈阳|青岛|济南|大连|厦门|福州|宁波|无锡|合肥|昆明|哈尔滨|长春"
    r"|石家庄|太原|南宁|贵阳|兰州|海口|银川|西宁|拉萨|乌鲁木齐|呼和浩特|南昌|珠海|佛山|东莞|温州|香港|澳门|台北|高雄|台湾|广东|浙江|江苏"
    r"|四川|山东|河南|河北|湖南|湖北|福建|安徽|江西|辽宁|吉林|黑龙江|陕西|山西|甘肃|青海|云南|贵州|海南|广西|宁夏|新疆|西藏|内蒙古"
    r"|日本|东京|大阪|京都|韩国|首尔|新加坡|泰国|曼谷|越南|印度|英国|伦敦|法国|巴黎|德国|柏林|慕尼黑|意大利|罗马|西班牙|马德里|荷兰"
    r"|阿姆斯特丹|瑞士|瑞典|挪威|丹麦|芬兰|俄罗斯|莫斯科|加拿大|多伦多|温哥华|美国|纽约|旧金山|洛杉矶|西雅图|波士顿|芝加哥|硅谷"
    r"|澳大利亚|悉尼|墨尔本|新西兰|奥克兰|欧洲|亚洲|非洲|美洲)"
)
"""Names and endings of places, which are no employers."""

STANCES: Final = tuple("喜欢 喜爱 讨厌 爱 恨 允许 可以 禁止 同意 反对 拒绝 接受 支持 启用 禁用".split())
"""Words by which somebody is for or against something."""

NUMERALS: Final = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_SCALES: Final = {"十": 10, "百": 100, "千": 1_000}
_GREAT: Final = {"万": 10_000, "亿": 100_000_000}

MEASURES: Final = "个只条头匹位名岁年月天日次块元斤公里米件本张辆台杯瓶间口分点小周号楼层届倍成度人"
"""Signs after which a Chinese numeral is a number rather than a part of another word."""

UNITS: Final = {
    name: names.split()[0]
    for names in (
        "kg 公斤 千克", "g 克", "jin 斤", "km 公里 千米", "m 米", "cm 厘米", "mm 毫米",
        "cny 元 块 人民币", "$ 美元", "€ 欧元", "°c 度 摄氏度", "h 小时", "min 分钟", "s 秒", "d 天",
        "w 周", "mo 个月", "y 年", "% 百分之", "l 升", "ml 毫升", "岁 岁",
    )
    for name in names.split()[1:]
}  # fmt: skip
"""Chinese names of units to the names that the English list uses."""

FILLERS: Final = frozenset("了的吧呢啊呀嘛哦哈啦嗯呃")
"""Particles without which a sentence makes the same claim."""

CHANGE_CUES: Final = ("现在", "如今", "不再", "再也", "改成", "改为", "换成", "更正", "其实", "已经")


def numeral(text: str) -> int | None:
    """Return the value of a Chinese numeral below a trillion, None when the signs make no number.

    >>> numeral("三百二十五"), numeral("两"), numeral("二〇二四"), numeral("一万五千")
    (325, 2, 2024, 15000)
    """
    if all(sign in NUMERALS for sign in text):
        return int("".join(str(NUMERALS[sign]) for sign in text)) if text else None
    total = section = digit = 0
    for sign in text:
        if sign in NUMERALS:
            digit = NUMERALS[sign]
        elif sign in _SCALES:
            section += (digit or 1) * _SCALES[sign]
            digit = 0
        elif sign in _GREAT:
            total += ((section + digit) or 1) * _GREAT[sign]
            section = digit = 0
        else:
            return None
    return total + section + digit

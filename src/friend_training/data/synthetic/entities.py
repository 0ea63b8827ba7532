"""The things people talk about: invented names, composed from parts.

Every composed inventory is a grid of first × second parts, dealt out by (row + column) mod 3: one third for each of the
two dialogue domains and one for the bridge's sentences. So no two of them share an entity, while the characters that
entities are made of occur in all three (the bridge could not read what it has never seen a character of).
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Domain(StrEnum):
    """The two domains of the dialogues."""

    FILM = "film"
    TRAVEL = "travel"


class Inventory(StrEnum):
    """Who may use an entity: one of the two domains, or the sentences that train the bridge."""

    FILM = "film"
    TRAVEL = "travel"
    BRIDGE = "bridge"


class Kind(StrEnum):
    """What an entity is: the type that verbs select and that pronouns and descriptions agree with."""

    SPEAKER = "speaker"
    MAN = "man"
    WOMAN = "woman"
    BAND = "band"
    FILM = "film"
    SONG = "song"
    BOOK = "book"
    CHARACTER = "character"
    STUDIO = "studio"
    AWARD = "award"
    VENUE = "venue"
    CITY = "city"
    SIGHT = "sight"
    HOTEL = "hotel"
    RESTAURANT = "restaurant"
    DISH = "dish"
    GIFT = "gift"
    VEHICLE = "vehicle"
    AMOUNT = "amount"
    TIME = "time"
    PURPOSE = "purpose"


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity and the text of its full mention; for one of the two speakers, the text is the speaker's name."""

    kind: Kind
    text: str


_SURNAMES = "周 林 陈 沈 顾 许 韩 唐 梁 宋 郑 冯 程 蒋 谢 邓 曹 彭 袁 潘 董 杜 苏 卢"

_ARTS = (Inventory.FILM, Inventory.BRIDGE)

_TRIPS = (Inventory.TRAVEL, Inventory.BRIDGE)

_ALL = (Inventory.FILM, Inventory.TRAVEL, Inventory.BRIDGE)


_GRIDS: tuple[tuple[Kind, tuple[Inventory, ...], str, str], ...] = (
    (Kind.MAN, _ALL, _SURNAMES, "浩 伟 磊 志强 建国 子轩 国栋 俊杰 天宇 海峰 思远 文博 一鸣 大勇"),
    (Kind.WOMAN, _ALL, _SURNAMES, "芳 雪 慧 丽娜 晓雨 婷婷 佳琪 梦瑶 小燕 诗涵 静怡 玉兰 美玲 秀英"),
    (Kind.MAN, _ALL, "马 罗 卡 杰 汤 布 德 哈", "克斯 伯特 里森 尔文 姆斯 德曼 维奇"),
    (Kind.WOMAN, _ALL, "艾 莉 索 安 凯 黛 玛 露", "琳娜 蒂亚 菲雅 丽莎 西卡 贝拉 芙妮"),
    (Kind.BAND, _ARTS, "夜航 银河 蓝调 柠檬 铁轨 野草 木马 白昼 逆风", "乐队 合唱团 组合"),
    (Kind.FILM, _ARTS, "长夜 春天 孤岛 黑色 最后的 寻找 星空 沉默的 第七 南方 消失的 白色 风中 无人",
     "来信 列车 城堡 海岸 夏天 谜案 英雄 舞者 少年 花园 传说 情书"),
    (Kind.SONG, _ARTS, "晚风 月光 那年 远方 雨后 流浪 旧日 夏夜 思念 海边", "慢慢 告白 小调 回声 情人 站台 少女 之歌"),
    (Kind.BOOK, _ARTS, "河流 故乡 百年 沙漠 北方 石头 荒原 水边 大雪 无声",
     "纪事 往事 手记 简史 人家 日记 物语 三部曲"),
    (Kind.CHARACTER, _ARTS, "卧底 年轻 退休 失忆的 落魄 冷血 乡村 天才 盲人",
     "警察 医生 律师 画家 老师 杀手 记者 厨师"),
    (Kind.STUDIO, _ARTS, "星河 蓝鲸 远山 银杏 北斗 火花 晨光 红帆 飞鸟", "影业 影视 传媒 制片厂 文化公司"),
    (Kind.AWARD, _ARTS, "金鹿 飞云 华灯 白鹤 星光 金桂 海潮", "新人奖 最佳影片 终身成就奖 评委会奖 最佳音乐奖"),
    (Kind.VENUE, _ARTS, "大光明 红星 万象 百老汇 胜利 和平 东方 时代", "影院 剧场 电影城 大剧院 艺术中心"),
    (Kind.CITY, _ALL, "云 青 临 安 海 清 江 龙 凤 石 南 沙 永 新 武 长", "州 溪 阳 城 宁 港 泉 平 浦"),
    (Kind.SIGHT, _TRIPS, "白云 天镜 落霞 千佛 望海 碧水 飞来 栖霞 听涛 翠屏 月牙", "山 湖 古寺 瀑布 峡谷 古镇 公园 塔"),
    (Kind.HOTEL, _TRIPS, "悦来 锦绣 海景 如意 花间 四季春 山居 青年 临江", "酒店 客栈 民宿 宾馆 旅舍"),
    (Kind.RESTAURANT, _TRIPS, "老街 外婆 陈记 巷子 码头 春来 好再来 小城 渔家", "面馆 火锅店 菜馆 饭庄 小吃店 烤鱼店"),
    (Kind.DISH, _TRIPS, "酸汤 麻辣 红烧 清蒸 糖醋 椒盐 葱油 桂花 铁板 干锅", "鱼 牛肉 排骨 豆腐 鸡 虾 茄子 羊肉"),
    (Kind.GIFT, _TRIPS, "手工 真丝 老牌 竹编 彩绘 本地 银质 迷你", "围巾 茶叶 扇子 明信片 杯子 挂件 陶罐 香囊"),
    (Kind.VEHICLE, _TRIPS, "早班 夜班 直达 最后一班 头一班 临时加开的", "飞机 高铁 大巴 火车 轮渡"),
    (Kind.AMOUNT, _ALL, "三十 五十 六十 八十 两百 三百 五百 八百 一千 两千", "块 元 块钱"),
    (Kind.TIME, _ALL, "去年 前年 今年 大前年", "春天 夏天 秋天 冬天 年初 年底 三月 五月 八月 十月"),
    (Kind.TIME, _ALL, "昨天 前天 今天 上周五 周六 周日 上周三 元旦", "早上 上午 中午 下午 晚上 半夜"),
    (Kind.TIME, _ALL, "国庆 春节 中秋 五一 暑假 端午", "前 期间 之后 那几天"),
    (Kind.PURPOSE, _ARTS, "宣传 准备 完成 配合 体验", "新戏 角色 首映 拍摄 试镜 巡演"),
    (Kind.PURPOSE, _TRIPS, "看 拍 等", "日出 夜景 花海 雪景 晚霞 流星雨"),
    (Kind.PURPOSE, _ALL, "陪 照顾 看望 接", "父母 孩子 朋友 老人 同学"),
)  # fmt: skip


def _is_quoted(kind: Kind, row: int, column: int) -> bool:
    """Titles mostly stand in 《》, as people write them, but not always."""
    return kind in (Kind.FILM, Kind.SONG, Kind.BOOK) and (row // 3 + column) % 3 != 0


@cache
def inventory(owner: Inventory) -> dict[Kind, tuple[Entity, ...]]:
    """All entities that `owner` may use, by kind."""
    share = _ALL.index(owner)
    found: dict[Kind, list[Entity]] = {}
    for kind, owners, firsts, seconds in _GRIDS:
        if owner not in owners:
            continue
        for row, first in enumerate(firsts.split()):
            for column, second in enumerate(seconds.split()):
                if (row + column) % len(_ALL) == share:
                    text = f"《{first}{second}》" if _is_quoted(kind, row, column) else first + second
                    found.setdefault(kind, []).append(Entity(kind, text))
    return {kind: tuple(entities) for kind, entities in found.items()}


# The short forms that stand for an entity: third-person pronouns, definite descriptions and question words.


PERSONS = frozenset({Kind.MAN, Kind.WOMAN})

PLACES = frozenset({Kind.CITY, Kind.VENUE, Kind.SIGHT, Kind.HOTEL, Kind.RESTAURANT})

THINGS = frozenset({Kind.FILM, Kind.SONG, Kind.BOOK, Kind.AWARD, Kind.DISH, Kind.GIFT, Kind.STUDIO})


@dataclass(frozen=True, slots=True)
class ShortForm:
    """A pronoun or description and the kinds it can refer to; `weight` is how often people choose it."""

    text: str
    kinds: frozenset[Kind]
    weight: int = 2


def _described(kind: Kind, *texts: str) -> tuple[ShortForm, ...]:
    return tuple(ShortForm(text, frozenset({kind})) for text in texts)


SHORT_FORMS: tuple[ShortForm, ...] = (
    ShortForm("他", frozenset({Kind.MAN}), 10),
    ShortForm("她", frozenset({Kind.WOMAN}), 10),
    ShortForm("这个人", PERSONS, 1),
    ShortForm("那位", PERSONS, 1),
    ShortForm("这家伙", PERSONS, 1),
    ShortForm("他们", frozenset({Kind.BAND}), 6),
    ShortForm("它", THINGS, 3),
    ShortForm("那儿", PLACES, 4),
    ShortForm("那里", PLACES, 3),
    ShortForm("那边", PLACES, 1),
    ShortForm("那个地方", PLACES, 1),
    ShortForm("那时候", frozenset({Kind.TIME}), 3),
    ShortForm("当时", frozenset({Kind.TIME}), 2),
    *_described(Kind.FILM, "这部电影", "那部片子", "这片子", "那部戏"),
    *_described(Kind.SONG, "这首歌", "那首歌", "这歌"),
    *_described(Kind.BOOK, "这本书", "那本小说", "这书"),
    *_described(Kind.BAND, "这支乐队", "那个组合"),
    *_described(Kind.CHARACTER, "这个角色", "那个人物"),
    *_described(Kind.STUDIO, "这家公司", "那家公司"),
    *_described(Kind.AWARD, "这个奖", "那个奖"),
    *_described(Kind.VENUE, "这家影院", "那个场子"),
    *_described(Kind.CITY, "这座城市", "那个城市"),
    *_described(Kind.SIGHT, "这个景点", "那个景区"),
    *_described(Kind.HOTEL, "这家店", "那家住处"),
    *_described(Kind.RESTAURANT, "这家馆子", "那家店"),
    *_described(Kind.DISH, "这道菜", "那个菜"),
    *_described(Kind.GIFT, "这个小东西", "那件礼物"),
    *_described(Kind.VEHICLE, "这趟车", "那一班"),
)


QUESTION_WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.MAN: ("谁",),
    Kind.WOMAN: ("谁",),
    Kind.BAND: ("哪支乐队",),
    Kind.FILM: ("什么电影", "哪部片子"),
    Kind.SONG: ("什么歌", "哪首歌"),
    Kind.BOOK: ("什么书", "哪本书"),
    Kind.CHARACTER: ("什么角色", "谁"),
    Kind.STUDIO: ("哪家公司",),
    Kind.AWARD: ("什么奖", "哪个奖"),
    Kind.VENUE: ("哪儿", "哪家影院"),
    Kind.CITY: ("哪儿", "哪里", "哪个城市"),
    Kind.SIGHT: ("哪儿", "什么景点"),
    Kind.HOTEL: ("哪儿", "哪家酒店"),
    Kind.RESTAURANT: ("哪儿", "哪家店"),
    Kind.DISH: ("什么", "什么菜"),
    Kind.GIFT: ("什么", "啥"),
    Kind.VEHICLE: ("什么车", "哪一班"),
    Kind.AMOUNT: ("多少钱",),
    Kind.TIME: ("什么时候", "啥时候", "哪天"),
    Kind.PURPOSE: ("什么", "啥"),
}

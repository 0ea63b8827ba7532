"""The wordings of the dialogues' clauses, per construction (see pattern.py for how they are written)."""

from friend_training.corpora.embedded.frames import Construction
from friend_training.corpora.embedded.pattern import Wordings

_ACT = (
    "{T*}{0?}{在L?*}<V>了{1?}",
    "{0?}{T?*}{在L?*}<V>的{1?}",
    "{0?}{T*}{在L?*}<V>过{1?}",
    "{1?}是{0}{T*}{在L*}<V>的",
    "{1?}{0?}{T*}<V>过",
    "{0?}{T*}{为了P?*}<V>了{1?}",
    "{T}{0?}就{在L?*}<V>了{1?}",
    "{0?}{T*}居然{在L?*}<V>了{1?}",
    "{0?}{T?*}{为了P?}专门{在L*}<V>的{1?}",
)

_STATEMENTS: dict[Construction, tuple[str, ...]] = {
    Construction.ACT: _ACT,
    Construction.AFFECT: (
        *_ACT,
        "{0?}{T*}把{1}<V>了",
        "{T*}{0?}{在L?*}把{1}给<V>了",
        "{1?}{T*}被{0}<V>了",
        "{1?}{T*}都被{0}{在L*}给<V>了",
    ),
    Construction.STATE: (
        "{0?}特别<V>{1?}",
        "{0?}{T}就很<V>{1?}",
        "{1?}{0?}一直挺<V>的",
        "{0?}可<V>{1?}了",
        "最<V>{1}的就是{0}",
    ),
    Construction.GO: (
        "{0?}{T?*}<V>了{1?}",
        "{T*}{0?}{为了P?*}<V>了{1?}",
        "{0?}{T?*}<V>的{1?}",
        "{1?}{0?}{T*}<V>过好几次",
        "{0?}{T*}一个人<V>的{1?}",
        "{0?}{T?*}是{为了P}才<V>{1?}的",
    ),
    Construction.STAY: (
        "{0?}{T?*}<V>在{1}",
        "{0?}{T*}{为了P?*}<V>了{1?}",
        "{T?*}{0?}<V>的{1?}",
        "{1?}{0?}{T*}<V>过",
    ),
    Construction.GIVE: (
        "{0?}{T*}{在L*}把{1}<V>给了{2}",
        "{0?}{T?*}给{2}<V>了{1?}",
        "{1?}是{0}{T*}{在L*}<V>给{2}的",
        "{T*}{0?}给{2}<V>的{1?}",
        "{1?}{0?}{T*}<V>给{2}了",
    ),
    Construction.MOVE: (
        "{0?}{T?*}{从3?}<V>到了{4}",
        "{T*}{0?}{从3?}<V>到{4}",
        "{0?}{T*}{为了P?*}从{3}<V>去{4}了",
        "{0?}是{T?*}从{3}<V>到{4}的",
    ),
    Construction.PRICE: (
        "{1?}{T?*}{从3?}<V>到了{4}",
        "{T*}{1?}一下子从{3}<V>到{4}",
        "{1?}的价格{T*}从{3}<V>到了{4}",
    ),
    Construction.WITH: (
        "{0?}{T?*}{在L?*}跟{2}<V>了{1?}",
        "{0?}{T*}{跟2?}<V>过{1?}",
        "{1?}{0?}{T*}{在L*}跟{2}<V>过",
        "{T?*}{0?}{为了P*}和{2}一起<V>的{1?}",
    ),
    Construction.TEACH: (
        "{0?}{T?*}{在L?*}<V>过{2}{1}",
        "{1?}是{0}{T*}{在L*}<V>{2}的",
        "{0?}{T*}{在L?*}<V>会了{2}{1?}",
    ),
    Construction.TURN: (
        "{0?}{T?*}把{1}<V>成了{2}",
        "{1?}{T*}被{0}<V>成了{2}",
        "{2?}是{0}{T*}从{1}<V>来的",
    ),
    Construction.EVENT: (
        "{0?}{T?*}{在L?*}<V>了",
        "{T*}{0?}{为了P?*}{在L}<V>",
        "{0?}是{T}{在L?*}<V>的",
        "{0?}{T*}居然{在L?*}<V>了",
    ),
    Construction.SHOW: (
        "{1?}{T?*}{在L?*}<V>了",
        "{T}{1?}就{在L?*}<V>了",
        "{1?}是{T}{在L?*}<V>的",
        "{1?}{T?}才{在L?*}<V>",
    ),
    Construction.PLAY: (
        "{0?}在{L}里<V>了{1?}",
        "{0?}{T*}<V>的是{L}里的{1}",
        "{1?}在{L}里是{0}<V>的",
        "{L}里{0?}<V>的{1?}",
    ),
}
STATEMENTS = Wordings(_STATEMENTS)
"""Clauses with any subject; as they stand, or with a question word in a slot, or with 吗."""

_CONFESSIONS: dict[Construction, tuple[str, ...]] = dict.fromkeys(
    (Construction.ACT, Construction.AFFECT, Construction.GO),
    (
        "{0?}还没<V>过{1?}呢",
        "{0?}早就想<V>{1?}了",
        "{0?}{T*}也<V>过{1?}",
        "{0?}也好想{在L*}<V>{1?}啊",
        "{1?}{0?}还真没<V>过",
    ),
) | {
    Construction.STAY: ("{0?}也<V>过{1?}", "{0?}下次也想<V>{1?}", "{0?}可没<V>过{1?}"),
    Construction.STATE: ("{0?}也挺<V>{1?}的", "{0?}不太<V>{1?}", "{0?}从小就<V>{1?}", "{0?}好<V>{1?}啊"),
    Construction.GIVE: ("{0?}正打算给{2}<V>{1?}呢", "{0?}也想给{2}<V>{1?}"),
}
CONFESSIONS = Wordings(_CONFESSIONS)
"""Clauses of the person who speaks: a dropped subject is 我."""

_INQUIRIES: dict[Construction, tuple[str, ...]] = dict.fromkeys(
    (Construction.ACT, Construction.AFFECT, Construction.GO),
    (
        "{0?}<V>过{1?}吗",
        "{0?}打算什么时候<V>{1?}",
        "{0?}怎么不<V>{1?}呢",
        "{0?}{T*}是不是<V>过{1?}",
        "{1?}{0?}<V>过没有",
    ),
) | {
    Construction.STAY: ("{0?}<V>过{1?}吗", "{0?}为什么不<V>{1?}"),
    Construction.STATE: ("{0?}也<V>{1?}吗", "{0?}为什么这么<V>{1?}", "{0?}真的<V>{1?}吗"),
    Construction.GIVE: ("{0?}要不要给{2}<V>{1?}", "{0?}给{2}<V>过{1?}吗"),
}
INQUIRIES = Wordings(_INQUIRIES)
"""Questions to the other speaker: a dropped subject is 你."""

FURTHER = ("，还", "，后来", "，然后又", "，接着", "，顺便")
"""What joins a second clause that shares the subject of the first."""

THEN = ("，难怪", "，", "，所以", "，其实", "，反正")
"""What joins a clause with a subject of its own."""

THOUGHTS = ("觉得", "听说", "记得", "知道", "发现", "猜", "以为")
"""Verbs whose ARG1 is a clause."""

OPENERS = ("嗯，", "对啊，", "哦，", "是的，", "哈哈，", "其实", "说真的，", "原来", "好像", "不过", "应该说", "哎，")
CORRECTIONS = ("不对，", "不是吧，", "没有，", "你记错了，", "不是，", "哪有，")
ENDINGS = ("。", "。", "。", "", "", "！", "啊。", "呢。", "呀。", "吧。", "哦~", "嘛。")
QUESTION_ENDINGS = ("？", "？", "？", "", "呀？", "啊？", "??")
YES_NO_ENDINGS = ("吗？", "吗？", "吧？", "对吧？", "，是吗？")
PLAIN_ENDINGS = ("。", "。", "", "", "！", "~")
"""What may follow a clause, by its mood."""

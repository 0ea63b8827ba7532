"""The turns before the current utterance."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from friend_training.data.synthetic.clauses import Event, Pattern, Slot, mark_topic, say_in_full, word_clause
from friend_training.data.synthetic.entities import PERSONS, PLACES, QUESTION_WORDS, Entity, Kind
from friend_training.data.synthetic.labels import Piece
from friend_training.data.synthetic.state import Stage, add_noise
from friend_training.data.synthetic.wordings import (
    ENDINGS,
    OPENERS,
    PLAIN_ENDINGS,
    QUESTION_ENDINGS,
    STATEMENTS,
    YES_NO_ENDINGS,
)

# What is said around the current utterance: introductions, contrasts, asides, reactions and plain chit-chat.
#
# {E} is the entity that the talk is about from here on, {D} a distractor of the same kind. The cues that decide between
# them are in the words: 比起{D} and {D}就不提了 turn to E, while a misunderstanding (我还以为你说的是{D}呢) leaves the
# topic alone.


INTRODUCTIONS = (
    "你听说过{E}吗？",
    "说起{E}，你有印象吗？",
    "最近好多人在聊{E}。",
    "昨天朋友跟我提到{E}。",
    "{E}你了解吗？",
    "我最近迷上{E}了。",
    "刚才刷到{E}的消息。",
    "哎，问你个事，{E}怎么样？",
    "给你看看{E}的照片！",
    "我今天又想起{E}了。",
)


INTRODUCTIONS_OF_KIND: dict[Kind, tuple[str, ...]] = {
    Kind.FILM: ("{E}评分好高啊。", "网上全是{E}的影评。", "我同事天天安利{E}。"),
    Kind.SONG: ("满大街都是{E}。", "我单曲循环{E}一整天了。"),
    Kind.BOOK: ("图书馆里{E}总是没有。", "{E}封面好好看。"),
    Kind.DISH: ("一说{E}我就饿了。", "{E}看着就香。"),
    Kind.HOTEL: ("网上{E}评价不错。", "{E}离车站近吗？"),
    Kind.CITY: ("{E}天气怎么样？", "{E}这个季节人多吗？"),
    Kind.SIGHT: ("{E}门票贵不贵？", "朋友圈都在晒{E}。"),
    **dict.fromkeys(PERSONS, ("{E}人挺好的。", "你知道{E}是谁吗？", "{E}最近好火。")),
}


CONTRASTS = (
    "比起{D}，我更想聊{E}。",
    "{D}就不提了，说说{E}吧。",
    "{D}一般般，倒是{E}挺有意思。",
    "{E}可比{D}强多了。",
    "{E}不像{D}那么无聊。",
    "不是{D}，我说的是{E}。",
    "{D}我没兴趣，{E}还行。",
    "我关心的是{E}，不是{D}。",
)


ASIDES = (
    "哦，我还以为你说的是{D}呢。",
    "不是{D}啊？",
    "跟{D}没关系吧？",
    "我差点当成{D}了。",
    "吓我一跳，还好不是{D}。",
)


REACTIONS = (
    "真的吗？",
    "是吗，我都不知道。",
    "哈哈，有意思。",
    "然后呢？",
    "哇，这么厉害！",
    "你说得对。",
    "嗯嗯，继续说。",
    "这样啊。",
    "怪不得呢。",
    "我也这么觉得。",
    "你确定吗？",
    "没想到啊。",
    "跟我想的一样。",
    "我有点印象。",
    "你消息真灵通。",
    "好吧好吧。",
)


GREETINGS = (
    "在吗？",
    "嗨，最近忙什么呢？",
    "我今天好累啊。",
    "早上好呀！",
    "好久不见，你还好吗？",
    "哈喽~",
    "终于下班了，我要瘫了。",
    "你吃了没？",
    "无聊，陪我聊会儿。",
    "今天天气真不错。",
    "你在干嘛？",
    "我刚忙完。",
    "周末愉快！",
)


SMALL_TALK = (
    "还行吧，就是有点困。",
    "我刚到家，你呢？",
    "我也是，天天加班。",
    "哈哈哈哈，你真逗。",
    "没事，随便聊聊。",
    "一般般，老样子。",
    "我正闲着呢。",
    "你别逗我了。",
    "我挺好的，谢谢。",
    "是啊，时间过得真快。",
    "那就好。",
    "嗯，我先喝口水。",
)


CLOSINGS = (
    "哈哈哈，好吧。",
    "嗯嗯，知道啦。",
    "那先这样，拜拜~",
    "太棒了！",
    "真好啊。",
    "好的好的，谢谢你！",
    "是这样啊。",
    "哇，厉害了。",
    "嗯。",
    "行，没问题。",
    "那就好。",
    "晚安啦~",
    "改天再说吧。",
    "哎，不容易啊。",
)
"""Current utterances without any predicate to label."""


TOPIC_KINDS = PERSONS | PLACES | {Kind.FILM, Kind.SONG, Kind.BOOK, Kind.BAND, Kind.DISH, Kind.GIFT, Kind.STUDIO}
"""What people introduce into a conversation by itself."""


CONTEXT_NOISE = 0.12

ARGUMENT_ROLES = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "LOC")


def say(stage: Stage, pieces: list[Piece]) -> None:
    stage.memory.say(add_noise(pieces, rng=stage.rng, rate=CONTEXT_NOISE))


def chatter(stage: Stage, lines: Sequence[str]) -> None:
    say(stage, [Piece(stage.rng.choice(lines))])


def topic(stage: Stage, kinds: frozenset[Kind] = TOPIC_KINDS) -> Entity:
    return stage.fresh(TOPIC_KINDS & kinds & stage.entities.keys())


def introduce(stage: Stage, entity: Entity) -> None:
    lines = INTRODUCTIONS + INTRODUCTIONS_OF_KIND.get(entity.kind, ()) * 2
    say(stage, _name(stage.rng.choice(lines), entity, None))


def contrast(stage: Stage, entity: Entity, *, other: Entity) -> None:
    """Turn to `entity`, away from a distractor of its kind."""
    say(stage, _name(stage.rng.choice(CONTRASTS), entity, other))


def misunderstand(stage: Stage, other: Entity) -> None:
    """Name a distractor only to set it aside: the topic stays."""
    say(stage, _name(stage.rng.choice(ASIDES), None, other))


def state(stage: Stage, entity: Entity) -> None:
    """Tell something in which `entity` has a part."""
    frame, role = stage.frame_for(entity.kind, STATEMENTS, roles=ARGUMENT_ROLES)
    event, pattern = stage.event(frame, STATEMENTS, given={role: entity})
    tell(stage, event, pattern)


def tell(stage: Stage, event: Event, pattern: Pattern) -> None:
    pieces = word_clause(event, pattern, partial(say_in_full, speaker=stage.memory.speaker), predicate=0)
    ending = stage.rng.choice(endings(stage, event, question_rate=0.15))
    opener = stage.rng.choice(OPENERS) if stage.rng.random() < 0.25 else ""
    say(stage, _without_labels([Piece(opener), *mark_topic(pieces), Piece(ending)]))


def endings(stage: Stage, event: Event, *, question_rate: float) -> Sequence[str]:
    """Nobody asks what they did themselves, nor tells the other what that one did."""
    if stage.memory.speaker in event.fillers.values():
        return PLAIN_ENDINGS
    asking = stage.memory.listener in event.fillers.values() or stage.rng.random() < question_rate
    return YES_NO_ENDINGS if asking else ENDINGS


def ask(stage: Stage, event: Event, pattern: Pattern, *, role: str) -> None:
    """Ask for the filler of `role`: the wording with a question word in its slot, as Chinese asks."""

    def realise(slot: Slot, entity: Entity) -> list[Piece]:
        if slot.role != role:
            return say_in_full(slot, entity, speaker=stage.memory.speaker)
        return [Piece(slot.marker + stage.rng.choice(QUESTION_WORDS[entity.kind]))]

    pieces = word_clause(event, pattern, realise, predicate=0)
    opener = stage.rng.choice(("那", "对了，", "话说", "哎，")) if stage.rng.random() < 0.3 else ""
    ending = Piece(stage.rng.choice(QUESTION_ENDINGS))
    say(stage, _without_labels([Piece(opener), *mark_topic(pieces), ending]))


def _without_labels(pieces: list[Piece]) -> list[Piece]:
    """Only the current utterance has predicates; what is left of the clause is text and mentions."""
    return [replace(p, predicate=None, roles=()) for p in pieces]


def _name(line: str, entity: Entity | None, other: Entity | None) -> list[Piece]:
    pieces: list[Piece] = []
    for part in line.replace("{E}", "|E|").replace("{D}", "|D|").split("|"):
        if part == "E" and entity is not None:
            pieces.append(Piece(entity.text, entity=entity, salient=True))
        elif part == "D" and other is not None:
            pieces.append(Piece(other.text, entity=other, dismissed=True))
        elif part:
            pieces.append(Piece(part))
    return pieces

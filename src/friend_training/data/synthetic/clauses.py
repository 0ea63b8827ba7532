"""Clauses: a frame with fillers, put into a wording."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from friend_training.data.synthetic.entities import Domain, Entity, Kind
from friend_training.data.synthetic.labels import Piece

# Predicates with their frames: which roles a verb has, what may fill them, and how it is constructed.
#
# ARG0 is who acts, ARG1 what is acted on (or what changes), ARG2 the receiver, partner or result, ARG3 where from,
# ARG4 where to; TMP, LOC and PRP are adjuncts, listed only where the verb goes with them.


class Construction(StrEnum):
    """A class of verbs that are built into sentences the same way; the wordings are written per construction."""

    ACT = "act"  # 导演 a film
    AFFECT = "affect"  # an ACT whose object takes 把 and 被: 吃, 买
    STATE = "state"  # 喜欢, 熟悉
    GO = "go"  # 去, 离开
    STAY = "stay"  # 住 at a hotel
    GIVE = "give"  # 送 something to somebody
    MOVE = "move"  # 搬 from a place to another
    PRICE = "price"  # 涨 from an amount to another
    WITH = "with"  # 聊 with somebody about something
    TEACH = "teach"  # 教 somebody something
    TURN = "turn"  # 改编 something into something
    EVENT = "event"  # 迷路: somebody, somewhere
    SHOW = "show"  # 上映: something, somewhere
    PLAY = "play"  # 饰演 a character in a film


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A verb, its construction and the kinds that may fill each of its roles.

    `personal`: the two speakers themselves may well be its ARG0.
    """

    verb: str
    construction: Construction
    kinds: dict[str, frozenset[Kind]]
    personal: bool


_CODES = {
    "p": (Kind.MAN, Kind.WOMAN), "b": (Kind.BAND,), "f": (Kind.FILM,), "s": (Kind.SONG,), "k": (Kind.BOOK,),
    "r": (Kind.CHARACTER,), "u": (Kind.STUDIO,), "w": (Kind.AWARD,), "v": (Kind.VENUE,), "c": (Kind.CITY,),
    "i": (Kind.SIGHT,), "h": (Kind.HOTEL,), "t": (Kind.RESTAURANT,), "d": (Kind.DISH,), "g": (Kind.GIFT,),
    "e": (Kind.VEHICLE,), "m": (Kind.AMOUNT,),
}  # fmt: skip


# One frame per line: verb, construction, role=kinds …; "+" after the verb: the speakers themselves do it, too.
# Every verb may have a TMP; L= gives the kinds of its LOC, P says that it goes with a PRP.
_FILM_FRAMES = """
导演 act 0=p 1=f L=c P
拍 affect 0=pu 1=f L=c P
主演 act 0=p 1=f
制作 act 0=u 1=fs L=c
投资 act 0=pu 1=f P
发行 act 0=u 1=fs L=c
写 act 0=p 1=ks L=c P
唱+ act 0=pb 1=s L=vc
录 affect 0=pb 1=s L=c
翻唱 act 0=pb 1=s L=vc P
创作 act 0=pb 1=sk L=c P
出版 act 0=p 1=k L=c
获得 act 0=p 1=w L=c
拿下 act 0=pf 1=w L=c
剪辑 affect 0=p 1=f L=c P
看+ affect 0=p 1=f L=v P
听+ act 0=p 1=s L=v P
读+ affect 0=p 1=k L=c P
下载+ affect 0=p 1=fs
点评+ act 0=p 1=fsk
收藏+ act 0=p 1=sk
翻拍 act 0=pu 1=f L=c
签约 act 0=u 1=pb
捧红 act 0=pu 1=pb
采访+ act 0=p 1=pb L=cv P
批评 act 0=p 1=pf
饰演 play 0=p 1=r L=f
扮演 play 0=p 1=r L=f
演 play 0=p 1=r L=f
改编 turn 0=pu 1=k 2=f
改写 turn 0=p 1=k 2=f
合作 with 0=p 1=fs 2=p
排练 with 0=pb 1=s 2=pb L=v P
讨论+ with 0=p 1=fk 2=p L=c
上映 show 1=f L=cv
首播 show 1=f L=c
停映 show 1=f L=cv
走红 show 1=psb L=c
获奖 show 1=fpb L=c
出道 event 0=pb L=c
演出 event 0=pb L=vc P
退休 event 0=p L=c
试镜 event 0=p L=cu P
教 teach 0=p 1=s 2=p L=c
推荐+ give 0=p 1=fsk 2=p
寄+ give 0=p 1=k 2=p
借+ give 0=p 1=k 2=p
搬 move 0=pu 3=c 4=c P
飞 move 0=pb 3=c 4=c P
涨 price 1=v 3=m 4=m
降 price 1=v 3=m 4=m
来+ go 0=pb 1=cv P
离开 go 0=pb 1=cu P
喜欢+ state 0=p 1=fskpb
欣赏+ state 0=p 1=pbf
佩服+ state 0=p 1=p
期待+ state 0=p 1=f
怀念+ state 0=p 1=sfb
熟悉+ state 0=p 1=fskc
崇拜+ state 0=p 1=pb
"""


_TRAVEL_FRAMES = """
吃+ affect 0=p 1=d L=tc
点+ act 0=p 1=d L=t
尝+ act 0=p 1=d L=tc P
做+ affect 0=p 1=d L=h
买+ affect 0=p 1=g L=ci P
挑+ act 0=p 1=g L=ci
弄丢+ affect 0=p 1=g L=ihc
订+ act 0=p 1=het P
退+ affect 0=p 1=he
坐+ act 0=p 1=e P
错过+ act 0=p 1=ei
赶上+ act 0=p 1=e
找+ act 0=p 1=tih L=c P
打听+ act 0=p 1=hti L=c P
参观+ act 0=p 1=i P
游览+ act 0=p 1=ic P
画+ affect 0=p 1=i P
去+ go 0=p 1=cit P
来+ go 0=p 1=ci P
逛+ go 0=p 1=ic P
爬+ go 0=p 1=i P
离开+ go 0=p 1=ch P
路过+ go 0=p 1=cit P
住+ stay 0=p 1=h P
送+ give 0=p 1=g 2=p L=c
寄+ give 0=p 1=g 2=p L=c
带+ give 0=p 1=gd 2=p
留+ give 0=p 1=gd 2=p
推荐+ give 0=p 1=hitd 2=p
介绍+ give 0=p 1=hitc 2=p
飞+ move 0=p 3=c 4=c P
搬 move 0=p 3=ch 4=ch P
赶+ move 0=p 3=ci 4=ci P
开车+ move 0=p 3=c 4=ci P
涨 price 1=hdg 3=m 4=m
降 price 1=hdg 3=m 4=m
聊+ with 0=p 1=ci 2=p L=ht
商量+ with 0=p 1=ci 2=p L=ht
逛遍 with 0=p 1=ci 2=p
教 teach 0=p 1=d 2=p L=ht
迷路 event 0=p L=ic
排队 event 0=p L=ti P
感冒 event 0=p L=ch
摔跤 event 0=p L=i
出差 event 0=p L=c P
开业 show 1=ht L=c
关门 show 1=hti
停运 show 1=e L=c
延误 show 1=e L=c
卖 give 0=p 1=g 2=p L=ci
喜欢+ state 0=p 1=cidhtg
怀念+ state 0=p 1=cid
熟悉+ state 0=p 1=ci
惦记+ state 0=p 1=dipc
羡慕+ state 0=p 1=p
嫌弃+ state 0=p 1=hdt
牵挂+ state 0=p 1=pc
"""


def _read(line: str) -> Frame:
    verb, construction, *roles = line.split()
    kinds = {"TMP": frozenset({Kind.TIME})}
    for role in roles:
        code, _, fillers = role.partition("=")
        name = ROLE_OF_CODE[code]
        kinds[name] = frozenset(kind for f in fillers for kind in _CODES[f]) or frozenset({Kind.PURPOSE})
    return Frame(verb.rstrip("+"), Construction(construction), kinds, verb.endswith("+"))


ROLE_OF_CODE = {
    "0": "ARG0", "1": "ARG1", "2": "ARG2", "3": "ARG3", "4": "ARG4", "T": "TMP", "L": "LOC", "P": "PRP",
}  # fmt: skip
"""The one-character role names that frames and wordings are written with."""


@cache
def frames(domain: Domain) -> tuple[Frame, ...]:
    """All frames of a domain; some verbs (喜欢, 推荐, 搬 …) occur in both, with other fillers."""
    table = _FILM_FRAMES if domain is Domain.FILM else _TRAVEL_FRAMES
    return tuple(_read(line) for line in table.strip().splitlines())


# Wordings as small patterns: 在{L}, {0}, <V> and plain text, read into tokens once.
#
# `{0}` is the ARG0; characters before the role's code belong to it as its marker (`{在L}`). `?` after the code: the
# argument can be dropped when the context gives it (its marker goes with it); `*`: the adjunct may be absent
# altogether. `<V>` is the frame's verb.


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one argument in a wording."""

    role: str
    marker: str
    droppable: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class VerbPlace:
    """The place of the verb in a wording."""


Token = str | Slot | VerbPlace


_TOKEN = re.compile(r"\{(?P<marker>[^0-4TLP{}]*)(?P<code>[0-4TLP])(?P<flags>[?*]*)\}|(?P<verb><V>)|(?P<text>[^{}<>]+)")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A wording, read; its slots, by role, and the roles that must be filled."""

    tokens: tuple[Token, ...]
    slots: dict[str, Slot]
    required: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Wordings:
    """Written patterns for clauses of one mood, per construction (a construction may lack the mood)."""

    written: dict[Construction, tuple[str, ...]]


@cache
def read_pattern(written: str) -> Pattern:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(written):
        if match["code"]:
            flags = match["flags"]
            tokens.append(Slot(ROLE_OF_CODE[match["code"]], match["marker"], "?" in flags, "*" in flags))
        else:
            tokens.append(VerbPlace() if match["verb"] else match["text"])
    slots = {token.role: token for token in tokens if isinstance(token, Slot)}
    return Pattern(tuple(tokens), slots, frozenset(role for role, slot in slots.items() if not slot.optional))


ADJUNCT_RATES = {"TMP": 0.38, "LOC": 0.55, "PRP": 0.55}
"""How often an adjunct that a wording has room for is there."""


Realise = Callable[[Slot, Entity], list[Piece]]
"""How an argument is said in its slot; the pieces come without roles."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens, as a frame and who or what fills its roles."""

    frame: Frame
    fillers: dict[str, Entity]


@cache
def fitting_patterns(frame: Frame, wordings: Wordings, *, having: frozenset[str] = frozenset()) -> list[Pattern]:
    """The wordings that need no role the frame lacks and have room for all the roles in `having`."""
    patterns = [read_pattern(written) for written in wordings.written.get(frame.construction, ())]
    return [p for p in patterns if p.required <= frame.kinds.keys() and having <= p.slots.keys()]


def choose_roles(frame: Frame, pattern: Pattern, rng: random.Random) -> list[str]:
    """The roles to fill, in the order of the wording."""
    return [
        slot.role
        for slot in pattern.slots.values()
        if slot.role in frame.kinds and (not slot.optional or rng.random() < ADJUNCT_RATES[slot.role])
    ]


def word_clause(event: Event, pattern: Pattern, realise: Realise, *, predicate: int) -> list[Piece]:
    """The clause as pieces: its verb is predicate number `predicate` of the utterance."""
    pieces: list[Piece] = []
    for token in pattern.tokens:
        if isinstance(token, str):
            pieces.append(Piece(token))
        elif not isinstance(token, Slot):
            pieces.append(Piece(event.frame.verb, predicate=predicate))
        elif token.role in event.fillers:
            said = realise(token, event.fillers[token.role])
            pieces += [replace(p, roles=((predicate, token.role),)) if p.entity is not None else p for p in said]
    return pieces


def say_in_full(slot: Slot, entity: Entity, *, speaker: Entity) -> list[Piece]:
    """The marker and a full mention; the two speakers are 我 and 你."""
    text = entity.text if entity.kind is not Kind.SPEAKER else "我" if entity == speaker else "你"
    mention = Piece(text, entity=entity)
    return [Piece(slot.marker), mention] if slot.marker else [mention]


def mark_topic(pieces: list[Piece]) -> list[Piece]:
    """A statement is about the first thing or person it names (a time is neither)."""
    backdrop = (Kind.TIME, Kind.SPEAKER, Kind.PURPOSE)
    first = next((i for i, p in enumerate(pieces) if p.entity is not None and p.entity.kind not in backdrop), None)
    return [replace(p, salient=True) if i == first else p for i, p in enumerate(pieces)]

"""The short forms that stand for an entity: third-person pronouns, definite descriptions and question words."""

from dataclasses import dataclass

from friend_training.corpora.embedded.entities import Kind

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

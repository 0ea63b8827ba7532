"""English dialogues with coreference links and with rewrites: MuDoCo, MuDoCo-QR, CamRest676 (TASK) and CAsT.

Examples are cuts of a dialogue: turn n is u_t and the turns before it are its context, and the id ends in "/turn n"
(counted from 1), so that a split keeps the cuts of one dialogue together. MuDoCo and MuDoCo-QR give a cut the same id.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from friend_training.data.text_io import (
    Problems,
    check_texts,
    listed_objects,
    numbered_lines,
    parse_json,
    shown,
    whole_object,
)
from friend_training.errors import DataError
from friend_training.types import CoreferenceExample, Dialogue, Mention, RewritingExample, Turn

USER, SYSTEM = "user", "system"
_MARKERS = {"<USR> ": USER, "<SYS> ": SYSTEM, "<CUR> ": USER}


def read_mudoco(path: str | Path, problems: Problems) -> Iterator[CoreferenceExample]:
    """MuDoCo's jsonlines_output: a dialogue per line, of which every turn that is not empty gives an example.

    Words of a turn are joined by blanks. A mention that stands in two clusters is left in the first.
    """
    for number, line in numbered_lines(path, problems):
        examples: list[CoreferenceExample] = []
        with problems.skipping(number):
            found = list(_mudoco_examples(_object(line, problems)))
            check_texts((turn.text for turn in found[-1].dialogue.turns), problems.limits)
            examples = found
        yield from examples


def read_mudoco_qr(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """MuDoCo-QR as CREAD was tested on it: a user turn per line, its context (CTX) and its rewrite (QR_REF)."""
    for number, line in numbered_lines(path, problems):
        example = None
        with problems.skipping(number):
            given = _object(line, problems)
            turns = [_marked(text) for text in [*_texts_in(given, "CTX"), _text_in(given, "USR")]]
            number_of = given.get("number")
            if not isinstance(number_of, int):
                raise DataError(f"'number' is {shown(number_of)}, expected the number of the turn")
            name = f"{_text_in(given, 'dialog_id')}/turn{number_of}"
            example = _rewriting_example(name, turns, plain_english(_text_in(given, "QR_REF")), problems)
        if example is not None:
            yield example


def read_mudoco_domain_links(path: str | Path, problems: Problems) -> Iterator[CoreferenceExample]:
    """A domain of MuDoCo or MuDoCo-QR in one file: entities are what its links join; every turn gives an example."""
    for number, (name, given) in enumerate(_domain(path, problems), start=1):
        found: list[CoreferenceExample] = []
        with problems.skipping(number):
            found = list(_linked_cuts(name, given, problems))
        yield from found


def read_mudoco_domain(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """A domain of MuDoCo-QR in one file: the turns of both speakers that have been graded, with their rewrites."""
    for number, (name, given) in enumerate(_domain(path, problems), start=1):
        found: list[RewritingExample] = []
        with problems.skipping(number):
            turns = _domain_turns(given)
            for last, (place, turn) in enumerate(turns):
                if turn.get("graded"):
                    own = _text_in(turn, "utterance").strip()
                    needed = turn.get("rewrite_required")
                    rewrite = plain_english(_text_in(turn, "rewritten_utterance")) if needed else own
                    said = [_spoken(*one) for one in turns[: last + 1]]
                    found.append(_rewriting_example(f"{name}/turn{place}", said, rewrite, problems))
        yield from found


def _domain(path: str | Path, problems: Problems) -> Iterator[tuple[str, Mapping[str, Any]]]:
    dialogues = whole_object(path, problems.limits).get("dialogs")
    if not isinstance(dialogues, dict):
        raise DataError(f"'dialogs' is {shown(dialogues)}, expected an object of dialogues", path=path)
    yield from dialogues.items()


def _domain_turns(given: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """The turns and their numbers; some dialogues lack a few."""
    turns = _objects_in(given, "turns")
    given_numbers = [turn.get("number") for turn in turns]
    numbers = [number for number in given_numbers if isinstance(number, int)]
    if not turns or len(numbers) < len(turns) or numbers != sorted({*numbers}):
        raise DataError(f"the numbers of the turns are {shown(given_numbers)}, expected them to rise")
    return list(zip(numbers, turns, strict=True))


def _spoken(number: int, turn: Mapping[str, Any]) -> Turn:
    text = _text_in(turn, "utterance").strip()
    return Turn(USER if number % 2 else SYSTEM, text, tuple(text.split()))


def _linked_cuts(name: str, given: Any, problems: Problems) -> Iterator[CoreferenceExample]:
    turns = [(number, turn) for number, turn in _domain_turns(given) if _text_in(turn, "utterance").strip()]
    said = [_spoken(*one) for one in turns]
    check_texts((turn.text for turn in said), problems.limits)
    place = {number: index for index, (number, _) in enumerate(turns)}
    entities: list[set[Mention]] = []
    for _, turn in turns:
        for link in _lists_in(turn, "links"):
            ends = {_placed(mention, place, said) for mention in link}
            touched = [entity for entity in entities if entity & ends]
            entities = [entity for entity in entities if not entity & ends] + [ends.union(*touched)]
    for last, (number, _) in enumerate(turns):
        so_far = (tuple(sorted(one for one in entity if one.turn <= last)) for entity in entities)
        dialogue = Dialogue(f"{name}/turn{number}", tuple(said[: last + 1]))
        yield CoreferenceExample(dialogue, tuple(sorted(cluster for cluster in so_far if cluster)))


def _placed(mention: Any, place: Mapping[int, int], said: Sequence[Turn]) -> Mention:
    span, number = (mention.get("span"), mention.get("turn_id")) if isinstance(mention, dict) else (None, None)
    turn = place.get(number) if isinstance(number, int) else None
    start, end = (span.get("start"), span.get("end")) if isinstance(span, dict) else (None, None)
    if turn is not None and type(start) is int and type(end) is int and 0 <= start < end <= len(said[turn].text):
        return Mention(turn, start, end)
    raise DataError(f"a mention is {shown(mention)}, expected a span of one of the turns")


def read_camrest(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """CamRest676 with short versions (GECOR): each made version of a user turn, and its complete version as rewrite.

    A turn without a short version is an example as the user typed it. Of a turn with two the ids end in ~1 (ellipsis)
    and ~2 (coreference). The context has what was typed.
    """
    for number, given in enumerate(listed_objects(path, problems.limits), start=1):
        with problems.skipping(number):
            yield from _camrest_examples(given, problems)


@dataclass(frozen=True, slots=True)
class SlotTurn:
    """A user turn of CamRest676: the id of its cut and the state so far, slot → value, of what the user has asked."""

    id: str
    informed: Mapping[str, str]


def read_camrest_slots(path: str | Path, problems: Problems) -> Iterator[SlotTurn]:
    """The slots of each user turn, under the id that its examples begin with."""
    for number, given in enumerate(listed_objects(path, problems.limits), start=1):
        with problems.skipping(number):
            for place, turn in enumerate(_objects_in(given, "dial")):
                acts = [act for act in _objects_in(turn.get("usr"), "slu") if act.get("act") == "inform"]
                pairs = [(str(slot), str(value)) for act in acts for slot, value in act.get("slots", ())]
                yield SlotTurn(f"camrest:{given.get('dialogue_id')}/turn{2 * place + 1}", dict(pairs))


def _camrest_examples(given: Mapping[str, Any], problems: Problems) -> Iterator[RewritingExample]:
    turns: list[Turn] = []
    for spoken in _objects_in(given, "dial"):
        user = spoken.get("usr")
        if not isinstance(user, dict):
            raise DataError("a turn has no 'usr', an object")
        name = f"camrest:{given.get('dialogue_id')}/turn{len(turns) + 1}"
        typed, complete = (_text_in(user, key).strip() for key in ("transcript", "transcript_complete"))
        short = [_text_in(user, f"transcript_with_{kind}").strip() for kind in ("ellipsis", "coreference")]
        versions = {f"{name}~{which}": text for which, text in enumerate(short, start=1) if text} or {name: typed}
        for id, text in versions.items():
            if text:
                yield _rewriting_example(id, [*turns, Turn(USER, text)], complete or typed, problems)
        answer = spoken.get("sys")
        turns += [Turn(USER, typed), Turn(SYSTEM, _text_in(answer, "sent") if isinstance(answer, dict) else "")]


def read_cast(path: str | Path, problems: Problems) -> Iterator[RewritingExample]:
    """CAsT topics of 2020 to 2022: each user turn with its manual rewrite; answers are context where their text is
    given. Of flattened trees the common beginning of two paths is read once."""
    seen: set[tuple[str, ...]] = set()
    for number, given in enumerate(listed_objects(path, problems.limits), start=1):
        topic, turns = str(given.get("number")), list[Turn]()
        with problems.skipping(number):
            for spoken in _objects_in(given, "turn"):
                said = spoken.get("raw_utterance", spoken.get("utterance"))
                if not isinstance(said, str):
                    raise DataError("a turn has no 'raw_utterance' or 'utterance'; trees are read in their flat form")
                turns.append(Turn(USER, said.strip()))
                rewrite, path_so_far = spoken.get("manual_rewritten_utterance"), (topic, *(t.text for t in turns))
                if isinstance(rewrite, str) and rewrite.strip() and path_so_far not in seen:
                    seen.add(path_so_far)
                    id = f"cast:{topic}.{number}/turn{len(turns)}"
                    yield _rewriting_example(id, turns, rewrite.strip(), problems)
                answer = spoken.get("passage", spoken.get("response"))
                if isinstance(answer, str) and answer.strip():
                    turns.append(Turn(SYSTEM, answer.strip()))


def rewrites_of(
    cuts: Sequence[CoreferenceExample], rewrites: Sequence[RewritingExample]
) -> dict[str, RewritingExample]:
    """MuDoCo-QR's rewrites of MuDoCo's own text, by id: both friends must read the same dialogue.

    A mark that the rewrite has at its end, and the utterance has not, was added by those who made the rewrites.
    """
    of_id = {example.dialogue.id: example for example in rewrites}
    found = {}
    for cut in cuts:
        example = of_id.get(cut.dialogue.id)
        if example is not None:
            own, text = cut.dialogue.utterance.text, example.rewrite
            if example.rewrite == example.dialogue.utterance.text:
                text = own
            elif text[-1:] in _END and own[-1:] not in _END:
                text = text[:-1].rstrip()
            found[cut.dialogue.id] = RewritingExample(cut.dialogue, text)
    return found


_END = (".", "!", "?")

_SPLIT_WORDS = re.compile(r"\b(?:(\w+) (n't)|(gon|wan) (na)|(got) (ta)|(lem|gim) (me)|(can) (not))\b", re.IGNORECASE)


def plain_english(text: str) -> str:
    """The text without the marks of a tokenizer of the Penn Treebank: "do n't" is don't, and two accents are quotes."""
    whole = _SPLIT_WORDS.sub(lambda found: "".join(filter(None, found.groups())), text)
    return whole.replace("``", '"').replace("''", '"').strip()


def _mudoco_examples(given: Mapping[str, Any]) -> Iterator[CoreferenceExample]:
    name = _text_in(given, "doc_key")
    sentences, speakers, clusters = (_lists_in(given, key) for key in ("sentences", "speakers", "clusters"))
    if len(speakers) != len(sentences):
        raise DataError(f"{len(sentences)} sentences, but {len(speakers)} lists of speakers")
    place: list[Mention] = []  # of every word
    turns: list[Turn] = []
    numbers: list[int] = []  # of the turns that are not empty
    for number, (words, who) in enumerate(zip(sentences, speakers, strict=True), start=1):
        if not words or not who or not all(isinstance(word, str) for word in [*words, who[0]]):
            raise DataError(f"sentence {number}: expected words and their speakers")
        begins = accumulate((len(word) + 1 for word in words), initial=0)
        place += [Mention(len(turns), at, at + len(word)) for at, word in zip(begins, words, strict=False)]
        if words != [""]:
            turns.append(Turn(who[0], " ".join(words), tuple(words)))
            numbers.append(number)
    if not turns:
        raise DataError("a dialogue without a word")
    taken: set[Mention] = set()
    entities: list[list[Mention]] = []
    for cluster in clusters:
        spans = [_span(place, span) for span in cluster]
        entities.append(sorted({span for span in spans if span not in taken}))
        taken.update(spans)
    for last, number in enumerate(numbers):
        so_far = (tuple(mention for mention in entity if mention.turn <= last) for entity in entities)
        dialogue = Dialogue(f"{name}/turn{number}", tuple(turns[: last + 1]))
        yield CoreferenceExample(dialogue, tuple(sorted(cluster for cluster in so_far if cluster)))


def _span(place: Sequence[Mention], span: Any) -> Mention:
    numbers = isinstance(span, list) and len(span) == 2 and all(type(word) is int for word in span)
    if not numbers or not 0 <= span[0] <= span[1] < len(place):
        raise DataError(f"a mention is {shown(span)}, expected its first and last word, of {len(place)} words")
    first, last = place[span[0]], place[span[1]]
    if first.turn != last.turn:
        raise DataError(f"the mention {shown(span)} reaches from one turn into another")
    return Mention(first.turn, first.start, last.end)


def _marked(text: str) -> Turn:
    for marker, speaker in _MARKERS.items():
        if text.startswith(marker):
            return Turn(speaker, plain_english(text.removeprefix(marker)))
    raise DataError(f"a turn is {shown(text)}, expected it to begin with one of {', '.join(_MARKERS)}")


def _rewriting_example(name: str, turns: Sequence[Turn], rewrite: str, problems: Problems) -> RewritingExample:
    said = tuple(turn for turn in turns if turn.text)
    check_texts([*(turn.text for turn in said), rewrite], problems.limits)
    if not turns[-1].text or not rewrite:
        raise DataError(f"{name}: the utterance or its rewrite is empty")
    return RewritingExample(Dialogue(name, said), rewrite)


def _object(line: str, problems: Problems) -> Mapping[str, Any]:
    value = parse_json(line, problems.limits)
    if not isinstance(value, dict):
        raise DataError(f"expected an object, got {shown(value)}")
    return value


def _text_in(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key!r} is {shown(value)}, expected a text")
    return value


def _texts_in(given: Mapping[str, Any], key: str) -> list[str]:
    values = given.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{key!r} is {shown(values)}, expected a list of texts")
    return values


def _lists_in(given: Mapping[str, Any], key: str) -> list[list[Any]]:
    values = given.get(key)
    if not isinstance(values, list) or not all(isinstance(value, list) for value in values):
        raise DataError(f"{key!r} is {shown(values)}, expected a list of lists")
    return values


def _objects_in(given: Any, key: str) -> list[dict[str, Any]]:
    values = given.get(key) if isinstance(given, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise DataError(f"{key!r} is {shown(values)}, expected a list of objects")
    return values

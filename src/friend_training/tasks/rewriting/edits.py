"""Edit scripts: the labels of dialogue rewriting as sequence labelling of u_t (section 4.1 of the paper).

A script deletes characters of u_t and inserts at most one span of the dialogue before each character of u_t or at its
end. A span lies inside ONE turn: a turn of the context or, with `span_source="dialogue"`, also u_t itself.

Several scripts can build the same rewrite, and a model must be taught always the same one. We take the script with

1. the fewest insertions, 2. then the fewest deletions (a character that can stay stays, so that predicates keep their
place), 3. then the nearest occurrences: each span is the latest one of the context that reads the same, and one of
u_t only where the context has none; between alignments that insert different spans, the smaller sum of distances
wins, a distance being the number of characters from the span's end to the end of the context, 4. then the one that,
read from the left, inserts before it keeps and keeps before it deletes: what replaces a pronoun is inserted before
the pronoun, not after it.

Edit scripts of words are for languages that write words with blanks between them. Such a script keeps or deletes each
word of u_t and inserts at most one span of whole words before each of them or at its end. Words are the same whatever
their case; marks are words, so that "it's" is it ' s.

A rewrite in English needs words that nobody has said: "her number" becomes "Ann 's number", "Tomorrow?" "For
tomorrow?". A small closed set of function words may therefore be inserted as well. It stands before u_t as a turn of
its own, so that it is copied from like any other turn; in labels that turn has the number `FUNCTION_WORDS_TURN`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from friend_training.core.limits import Limits, exceeds
from friend_training.errors import DataError
from friend_training.types import Dialogue, Insertion, Rewrite, RewritingExample, Turn, words_in

SpanSource = Literal["context", "dialogue"]


def build_script(dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> Rewrite | None:
    """The best script (see above) that turns u_t into `rewrite`, or None if there is none.

    A dynamic programme from the right over (characters of u_t left, characters of the rewrite left):
    `after[j][i]` is the cost of making rewrite[i:] from u_t[j:] when nothing more may be inserted before character j,
    `best[j][i]` when a span still may. The criteria above are the digits of one integer cost.

    Time and memory grow with the product of the two lengths: both are limited (`check_length`).
    """
    utterance = dialogue.utterance.text
    if rewrite == utterance:
        return Rewrite(rewrite)
    check_length(dialogue, rewrite)
    sources = _Sources(dialogue, rewrite, span_source=span_source)

    length, goal = len(utterance), len(rewrite)
    deletion = (length + 1) * (len(sources.joined) + 1)  # more than all distances of one script together
    insertion = deletion * (length + 1)  # more than all its deletions
    impossible = insertion * (length + 2)
    spans = _Spans(sources, insertion, impossible)

    after = np.full((length + 1, goal + 1), impossible, np.int64)
    best = np.full((length + 1, goal + 1), impossible, np.int64)
    characters, own = _codes(rewrite), _codes(utterance)
    for j in range(length, -1, -1):
        if j == length:
            after[j, goal] = 0
        else:
            kept = np.where(characters == own[j], best[j + 1, 1:], impossible)
            after[j] = best[j + 1] + deletion
            np.minimum(after[j, :-1], kept, out=after[j, :-1])
        best[j] = spans.inserted(after[j])
        np.minimum(best[j], after[j], out=best[j])
    if best[0, 0] >= impossible:
        return None

    deleted: list[int] = []
    insertions: list[Insertion] = []
    i = 0
    for j in range(length + 1):
        same = spans.costs(i) + after[j, i + 1 :] == best[j, i]
        if same.any():
            size = int(same.argmax()) + 1
            turn, start = sources.locate(rewrite[i : i + size])
            insertions.append(Insertion(before=j, turn=turn, start=start, end=start + size))
            i += size
        if j < length:
            if i < goal and rewrite[i] == utterance[j] and after[j, i] == best[j + 1, i + 1]:
                i += 1
            else:
                deleted.append(j)
    return Rewrite(rewrite, tuple(deleted), tuple(insertions))


def check_length(dialogue: Dialogue, rewrite: str) -> None:
    """Refuse what would take minutes and gigabytes: u_t and its rewrite, and the dialogue that spans come from."""
    limits = Limits.from_environment()
    longest = max(len(dialogue.utterance.text), len(rewrite))
    if longest > limits.script:
        message = f"{dialogue.id}: an edit script for {longest:,} characters"
        raise DataError(f"{message}; {exceeds('script', limits.script)}")
    whole = sum(len(turn.text) for turn in dialogue.turns)
    if whole > limits.text:
        raise DataError(f"{dialogue.id}: a dialogue of {whole:,} characters; {exceeds('text', limits.text)}")


def apply_script(dialogue: Dialogue, script: Rewrite) -> str:
    """The u_t' that the script's deletions and insertions make of u_t; its `text` is not used."""
    return "".join(dialogue.turns[turn].text[offset] for turn, offset in origin(script, dialogue))


def rewrite_or_utterance(dialogue: Dialogue, rewrite: Rewrite) -> str:
    """What a prediction is scored and written as: a rewrite that deletes everything says nothing, so u_t stands."""
    return rewrite.text or dialogue.utterance.text


def origin(rewrite: Rewrite, dialogue: Dialogue) -> list[tuple[int, int]]:
    """For every character of u_t', the (turn, offset) it came from."""
    current, length = len(dialogue.turns) - 1, len(dialogue.utterance.text)
    inserted = {insertion.before: insertion for insertion in rewrite.insertions}
    deleted = set(rewrite.deleted)
    places: list[tuple[int, int]] = []
    for offset in range(length + 1):
        if offset in inserted:
            span = inserted[offset]
            places.extend((span.turn, position) for position in range(span.start, span.end))
        if offset < length and offset not in deleted:
            places.append((current, offset))
    return places


def place_of(rewrite: Rewrite, utterance: str, start: int, end: int) -> tuple[int, int] | None:
    """Where characters [start, end) of u_t stand in u_t'; None if one was deleted or something was inserted between.

    Exact, not a search for the same string: a predicate that occurs twice is told apart.
    """
    if not 0 <= start < end <= len(utterance):
        raise ValueError(f"[{start}, {end}) is no span of an utterance of {len(utterance)} characters")
    if any(start <= offset < end for offset in rewrite.deleted):
        return None
    if any(start < insertion.before < end for insertion in rewrite.insertions):
        return None
    gone = sum(offset < start for offset in rewrite.deleted)
    come = sum(insertion.end - insertion.start for insertion in rewrite.insertions if insertion.before <= start)
    return start - gone + come, end - gone + come


class _Sources:
    """Where the spans of one rewrite can come from: the turns in one string, nearest last, so that rfind finds it."""

    def __init__(self, dialogue: Dialogue, rewrite: str, *, span_source: SpanSource) -> None:
        current = len(dialogue.turns) - 1
        # u_t comes first, so it is used only where no turn of the context reads the same.
        self.turns = ([current] if span_source == "dialogue" else []) + list(range(current))
        # A separator that the rewrite does not contain: no match reaches over the border of a turn.
        separator = next(chr(code) for code in range(len(rewrite) + 1) if chr(code) not in rewrite)
        self.joined = separator.join(dialogue.turns[turn].text for turn in self.turns)
        self.rewrite = rewrite
        self.starts: list[int] = []
        start = 0
        for turn in self.turns:
            self.starts.append(start)
            start += len(dialogue.turns[turn].text) + 1

    def locate(self, span: str) -> tuple[int, int]:
        """The turn and offset of the nearest occurrence."""
        position = self.joined.rfind(span)
        index = max(index for index, start in enumerate(self.starts) if start <= position)
        return self.turns[index], position - self.starts[index]


class _Spans:
    """What it costs to insert rewrite[i:k], for all i < k, and the cheapest way to go on from each i.

    The nearest occurrence of rewrite[i:k] is the one that ends last. For one k, the more characters it must have before
    its end (the smaller i is), the fewer places are left: so the i fall into a few stretches with one occurrence each.
    These stretches, and not all pairs (i, k), are what `inserted` goes through.
    """

    def __init__(self, sources: _Sources, insertion: int, impossible: int) -> None:
        goal, total = len(sources.rewrite), len(sources.joined)
        self._goal, self._impossible = goal, impossible
        self._costs = np.full((goal + 1, goal), impossible, np.int64)  # [i, k - 1]
        joined = _codes(sources.joined)
        matched = np.zeros(total + 1, np.int64)  # how many characters before each place read like those before k
        longest = np.zeros(total + 2, np.int64)
        firsts, lasts, ends, costs = [], [], [], []
        for k, character in enumerate(_codes(sources.rewrite), start=1):
            matched[1:] = (matched[:-1] + 1) * (joined == character)
            np.maximum.accumulate(matched[::-1], out=longest[1:])  # from the right: the last place with so many
            (places,) = (longest[1:] != longest[:-1]).nonzero()
            shortest = 1
            for place in places:
                most = int(longest[place + 1])
                first, last = k - most, k - shortest
                cost = insertion + int(place)  # the characters from the span's end to the end of the context
                self._costs[first : last + 1, k - 1] = cost
                firsts.append(first)
                lasts.append(last)
                ends.append(k)
                costs.append(cost)
                shortest = most + 1
        self._ends, self._stretch_costs = np.array(ends, np.int64), np.array(costs, np.int64)
        # A stretch is covered by two overlapping blocks of 2^level: `inserted` writes the least cost into these, and
        # passes it down from level to level.
        begins, finishes = np.array(firsts, np.int64), np.array(lasts, np.int64)
        levels = np.frexp(finishes - begins + 1)[1] - 1 if len(begins) else np.zeros(0, np.int64)
        self._levels = int(levels.max(initial=0)) + 1
        self._left = levels * (goal + 1) + begins
        self._right = levels * (goal + 1) + finishes - 2**levels + 1

    def costs(self, i: int) -> NDArray[np.int64]:
        """The cost of rewrite[i:i+1], rewrite[i:i+2], …; `impossible` where no turn has it."""
        return self._costs[i, i:]

    def inserted(self, after: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each i, the least cost of a span that begins there plus `after` at its end."""
        least = np.full(self._levels * (self._goal + 1), self._impossible, np.int64)
        costs = self._stretch_costs + after[self._ends]
        np.minimum.at(least, self._left, costs)
        np.minimum.at(least, self._right, costs)
        blocks = least.reshape(self._levels, self._goal + 1)
        for level in range(self._levels - 1, 0, -1):
            half = 2 ** (level - 1)
            np.minimum(blocks[level - 1], blocks[level], out=blocks[level - 1])
            np.minimum(blocks[level - 1, half:], blocks[level, :-half], out=blocks[level - 1, half:])
        cheapest: NDArray[np.int64] = blocks[0]
        return cheapest


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), np.uint32)


FUNCTION_WORDS = ("the", "'s", "of", "my", "a", "in", "to", "for", "from", "and", "at")
"""What may be inserted though nobody has said it."""

FUNCTION_WORDS_TURN = -1

_CLOSE_UP = frozenset(".,!?;:')")
"""Marks that stand at the word before them."""

_FIRST_CODE = 0x10000


def with_function_words(dialogue: Dialogue, words: Sequence[str]) -> Dialogue:
    """The dialogue with one more turn before u_t, which holds these words."""
    *context, utterance = dialogue.turns
    return replace(dialogue, turns=(*context, Turn("", " ".join(words)), utterance))


def to_extended(script: Rewrite, dialogue: Dialogue) -> Rewrite:
    """A script of `dialogue` as one of the dialogue with function words."""
    return _renumbered(
        script, {FUNCTION_WORDS_TURN: len(dialogue.turns) - 1, len(dialogue.turns) - 1: len(dialogue.turns)}
    )


def from_extended(script: Rewrite, dialogue: Dialogue) -> Rewrite:
    """The other way round; `dialogue` is the one without function words."""
    return _renumbered(
        script, {len(dialogue.turns) - 1: FUNCTION_WORDS_TURN, len(dialogue.turns): len(dialogue.turns) - 1}
    )


def _renumbered(script: Rewrite, turns: dict[int, int]) -> Rewrite:
    return replace(
        script, insertions=tuple(replace(one, turn=turns.get(one.turn, one.turn)) for one in script.insertions)
    )


def same_words(text: str) -> list[str]:
    """The words of a text in lower case; what is the same in these is the same text."""
    return [text[start:end].lower() for start, end in words_in(text)]


def build_word_script(dialogue: Dialogue, rewrite: str, *, span_source: SpanSource = "dialogue") -> Rewrite | None:
    """The script of words that makes u_t into `rewrite`, by the criteria of `build_script`; None if there is none."""
    utterance = dialogue.utterance.text
    goal = same_words(rewrite)
    if goal == same_words(utterance):
        return Rewrite(utterance)
    codes: dict[str, str] = {}

    def coded(words: Sequence[str]) -> str:
        return "".join(codes.setdefault(word, chr(_FIRST_CODE + len(codes))) for word in words)

    turns = tuple(Turn(turn.speaker, coded(same_words(turn.text))) for turn in dialogue.turns)
    script = build_script(Dialogue(dialogue.id, turns), coded(goal), span_source=span_source)
    if script is None:
        return None
    places = [words_in(turn.text) for turn in dialogue.turns]
    own = places[-1]
    deleted = [offset for number in script.deleted for offset in range(*own[number])]
    insertions = [
        Insertion(
            own[one.before][0] if one.before < len(own) else len(utterance),
            one.turn,
            places[one.turn][one.start][0],
            places[one.turn][one.end - 1][1],
        )
        for one in script.insertions
    ]
    made = Rewrite("", tuple(deleted), tuple(insertions))
    return replace(made, text=apply_word_script(dialogue, made))


def word_label(example: RewritingExample) -> Rewrite | None:
    """The gold rewrite as a label: a script of words with function words; None if there is none."""
    script = build_word_script(with_function_words(example.dialogue, FUNCTION_WORDS), example.rewrite)
    return None if script is None else from_extended(script, example.dialogue)


def inserted_text(turns: Sequence[str], turn: int, start: int, end: int) -> str:
    """What an insertion of a label says, whether of a turn of the dialogue or of the function words."""
    return (" ".join(FUNCTION_WORDS) if turn == FUNCTION_WORDS_TURN else turns[turn])[start:end]


def apply_word_script(dialogue: Dialogue, script: Rewrite) -> str:
    """The u_t' that a script of words makes: words that stood side by side keep what stood between them."""
    text = dialogue.utterance.text
    inserted = {one.before: dialogue.turns[one.turn].text[one.start : one.end] for one in script.insertions}
    deleted = set(script.deleted)
    if not inserted and not deleted:
        return text
    made, end = "", None  # `end`: of the word that was added last, where it is one of u_t
    for start, stop in [*words_in(text), (len(text), len(text))]:
        if start in inserted:
            made, end = _joined(made, inserted[start]), None
        if start < stop and start not in deleted:
            made = made + text[end:start] + text[start:stop] if end is not None else _joined(made, text[start:stop])
            end = stop
        elif start < stop:
            end = None
    return made


def _joined(before: str, after: str) -> str:
    return before + after if not before or after[0] in _CLOSE_UP else f"{before} {after}"


def replacements(script: Rewrite, utterance: str) -> list[tuple[tuple[int, int] | None, Insertion]]:
    """Each inserted span, and the stretch of u_t that it stands for: the deleted words beside its place, if any are."""
    deleted = set(script.deleted)
    words = words_in(utterance)
    found: list[tuple[tuple[int, int] | None, Insertion]] = []
    for one in script.insertions:
        after = [span for span in words if span[0] >= one.before]
        before = [span for span in words if span[1] <= one.before]
        gone = list(_run(after, deleted)) or list(_run(before[::-1], deleted))
        found.append(((min(gone)[0], max(gone)[1]) if gone else None, one))
    return found


def _run(words: Sequence[tuple[int, int]], deleted: set[int]) -> Sequence[tuple[int, int]]:
    for number, (start, _) in enumerate(words):
        if start not in deleted:
            return words[:number]
    return words

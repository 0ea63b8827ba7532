"""Edit scripts of words, for languages that write words with blanks between them.

A script keeps or deletes each word of u_t and inserts at most one span of whole words before each of them or at its
end. Words are the same whatever their case; marks are words, so that "it's" is it ' s.

A rewrite in English needs words that nobody has said: "her number" becomes "Ann 's number", "Tomorrow?" "For
tomorrow?". A small closed set of function words may therefore be inserted as well. It stands before u_t as a turn of
its own, so that it is copied from like any other turn; in labels that turn has the number `FUNCTION_WORDS_TURN`.
"""

from collections.abc import Sequence
from dataclasses import replace

from friend_training.tasks.rewriting.edits import SpanSource, build_script
from friend_training.types import Dialogue, Insertion, Rewrite, RewritingExample, Turn, words_in

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

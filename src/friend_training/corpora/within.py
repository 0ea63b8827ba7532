"""What sentence-level SRL can learn from CSRL labels: the arguments that stand in the predicate's own utterance."""

from friend_training.examples import (
    SPEAKER,
    Argument,
    CsrlExample,
    Sentence,
    SentenceArgument,
    SentenceRoles,
    SrlExample,
)


def within_utterance(example: CsrlExample, *, only_complete: bool = False) -> SrlExample:
    """u_t as a sentence of its own, with the arguments inside it.

    `only_complete` keeps the predicates that lose none by that: all their arguments are words of u_t. The others teach
    that an argument is missing where it only stands elsewhere.
    """
    current = len(example.dialogue.turns) - 1

    def inside(argument: Argument) -> bool:
        return argument.turn == current and argument.start != SPEAKER

    kept = [roles for roles in example.roles if not only_complete or all(map(inside, roles.arguments))]
    labels = tuple(
        SentenceRoles(
            roles.predicate,
            tuple(SentenceArgument(a.role, a.start, a.end) for a in roles.arguments if inside(a)),
        )
        for roles in kept
    )
    predicates = tuple(label.predicate for label in labels)
    return SrlExample(Sentence(example.dialogue.id, example.dialogue.utterance.text, predicates), labels)

"""Where questions are handed in: what cannot be answered is refused, with the reason."""

from starlette.exceptions import HTTPException

from friend_training.scenarios.finding import no_finder
from friend_training.scenarios.loading import Answer
from friend_training.scenarios.questions import Kind, Question, question
from friend_training.web.service.abilities import Abilities
from friend_training.web.service.batching import Batcher, Busy, Failed
from friend_training.web.service.messages import DialogueSent, QuestionSent, predicates_of, turns_of


class Desk:
    def __init__(self, batcher: Batcher[Question, Answer], abilities: Abilities) -> None:
        self.batcher, self.abilities = batcher, abilities

    async def ask(self, kind: Kind, sent: DialogueSent | QuestionSent) -> Answer:
        predicates = predicates_of(sent.predicates) if isinstance(sent, QuestionSent) else []
        asked = question(kind, turns_of(sent.turns), predicates)
        if asked.find and not self.abilities.find:
            raise no_finder()
        if kind == "agreement" and not self.abilities.compare:
            raise HTTPException(409, "this run has lost its bridge, so nobody can say how far the friends agree")
        try:
            return await self.batcher.ask(asked)
        except Busy:
            raise HTTPException(503, "too many requests are waiting; try again", {"Retry-After": "1"}) from None
        except TimeoutError:
            raise HTTPException(503, "it took too long; try again later", {"Retry-After": "5"}) from None
        except Failed:
            raise HTTPException(500, "the models could not label this dialogue") from None

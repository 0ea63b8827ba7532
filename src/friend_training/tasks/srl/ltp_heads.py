"""What LTP computes on top of its encoder: words, parts of speech and semantic roles (SOURCE.txt, "Heads")."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear, pad

from friend_training.tasks.srl.crf import LinearChain, outside_is_best, viterbi


@dataclass(frozen=True, slots=True)
class Affine:
    weight: Tensor  # [out, in]
    bias: Tensor  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class LtpHeads:
    """The heads this project uses; those for entities and dependencies are not read."""

    cws: Affine
    pos: Affine
    srl_mlp: Affine
    srl_attention: Tensor  # [D + 1, L * (D + 1)]: the biaffine weight of every label, laid side by side
    srl_labels: int
    srl_chain: LinearChain

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> "LtpHeads":
        weights = {name: tensor.float() for name, tensor in tensors.items()}  # stored in half precision
        attention = weights["srl.atten.weight"]  # [L, D + 1 (predicate), D + 1 (argument)]
        return cls(
            cws=Affine(weights["cws.classifier.0.weight"], weights["cws.classifier.0.bias"]),
            pos=Affine(weights["pos.classifier.0.weight"], weights["pos.classifier.0.bias"]),
            srl_mlp=Affine(weights["srl.mlp.0.weight"], weights["srl.mlp.0.bias"]),
            srl_attention=attention.transpose(0, 1).reshape(attention.size(1), -1).contiguous(),
            srl_labels=attention.size(0),
            srl_chain=LinearChain(
                start=weights["srl.crf.start_transitions"],
                transitions=weights["srl.crf.transitions"],
                end=weights["srl.crf.end_transitions"],
            ),
        )

    def tags_and_roles(
        self, hidden: Tensor, pieces: Tensor, counts: Tensor, asked: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The part of speech of every word [B, n], and `role_rows`; `pieces` [B, n] are the first ones of words."""
        words = hidden.gather(1, pieces.unsqueeze(-1).expand(-1, -1, hidden.size(-1)))  # [B, n, hidden]
        return self.pos(words).argmax(-1), *self.role_rows(words, counts, asked)

    def role_rows(self, words: Tensor, counts: Tensor, asked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The words asked for, each taken as a predicate, and the role labels of all words of its sentence for it.

        Returns (sentence, word, labels): the rows that hold any label but O, in text order.
        """
        z = torch.relu(self.srl_mlp(words)).reshape(*words.shape[:2], 2, -1)  # words [B, n, hidden], z [B, n, 2, D]
        z = pad(z, (0, 1), value=1.0)  # the 1 makes the product biaffine
        sentence, word = torch.nonzero(asked, as_tuple=True)  # asked [B, n]; N rows in all
        as_predicate = z[sentence, word, 0] @ self.srl_attention  # [N, L * (D + 1)]
        as_argument = z[:, :, 1].transpose(1, 2)[sentence]  # [N, D + 1, n]
        by_label = as_predicate.reshape(word.size(0), self.srl_labels, z.size(-1))
        scores = by_label @ as_argument  # [N, L, n]

        no_word = torch.arange(words.size(1), device=words.device) >= counts[sentence].unsqueeze(1)  # [N, n]
        lead = (scores[:, 1:].amax(1) - scores[:, 0]).masked_fill(no_word, -torch.inf)
        open_rows = ~outside_is_best(lead, self.srl_chain)
        sentence, word = sentence[open_rows], word[open_rows]
        labels = viterbi(scores[open_rows].transpose(1, 2), counts[sentence], self.srl_chain)  # [N, n]
        found = labels.any(-1)
        return sentence[found], word[found], labels[found]

"""Small random encoders of many families, each with a fast tokenizer of its kind, made on the spot."""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

from friend_training.data.synthetic import Domain, generate

LIMIT = 40
"""The longest input of those that count positions."""

ENGLISH = (
    "See you on Tuesday, my friend.",
    "I don't think that you like the film on Tuesday.",
    "You and I saw a dog in the park.",
)

BERT = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>", "cls": "<s>", "sep": "</s>"}

SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
TABLE = {**SIZES, "max_position_embeddings": LIMIT, "pad_token_id": 0}
BEHIND_PADDING = {**SIZES, "max_position_embeddings": LIMIT + 2, "pad_token_id": 1}

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "distilbert": ("wordpiece", TABLE | {"hidden_dim": 16}),
    "roberta": ("bytes", BEHIND_PADDING | {"type_vocab_size": 1}),
    "xlm-roberta": ("unigram", BEHIND_PADDING | {"type_vocab_size": 1}),
    "deberta-v2": (
        "unigram",
        {**SIZES, "pad_token_id": 1, "relative_attention": True, "position_biased_input": False, "position_buckets": 4}
        | {"pos_att_type": ["p2c", "c2p"], "norm_rel_ebd": "layer_norm", "share_att_key": True},
    ),
    "mpnet": ("wordpiece-behind", BEHIND_PADDING),
    "modernbert": ("bytes", {**SIZES, "pad_token_id": 1, "local_attention": 8, "global_attn_every_n_layers": 1}),
    "albert": ("unigram", {**TABLE, "embedding_size": 8, "pad_token_id": 1}),
    "ernie": ("wordpiece", TABLE),
    "electra": ("wordpiece", TABLE | {"embedding_size": 8}),
    "roformer": ("wordpiece", TABLE),
}
"""The tokenizer and the config of each."""

UNLIMITED = ("deberta-v2", "modernbert")
"""These know distances only."""

WITH_TYPES = ("albert", "ernie", "electra", "roformer")
"""These tell u_t from what was said before it."""


def write_encoder(folder: Path, family: str) -> Path:
    """Weights, config and tokenizer in transformers' own format."""
    kind, sizes = FAMILIES[family]
    tokenizer = fast_tokenizer(kind)
    tokenizer.save_pretrained(str(folder))
    specials = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    torch.manual_seed(0)
    model: Any = AutoModel.from_config(AutoConfig.for_model(family, vocab_size=len(tokenizer), **sizes, **specials))
    model.save_pretrained(str(folder))
    return folder


def fast_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    named = BERT if kind == "wordpiece" else ROBERTA
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_trained(kind)), **{f"{use}_token": token for use, token in named.items()}
    )


@cache
def _trained(kind: str) -> str:
    """The rules of a small tokenizer, learnt from the synthetic dialogues and a little English."""
    made = generate(60, seed=5, domain=Domain.FILM)
    texts = [*(turn.text for one in made for turn in one.dialogue.turns), *ENGLISH * 20]
    specials = list(dict.fromkeys((BERT if kind == "wordpiece" else ROBERTA).values()))
    options: dict[str, Any] = {"special_tokens": specials, "show_progress": False}
    trainer: Any
    if kind.startswith("wordpiece"):
        unknown = "[UNK]" if kind == "wordpiece" else "<unk>"
        rules = Tokenizer(models.WordPiece(unk_token=unknown))
        rules.normalizer = normalizers.BertNormalizer()
        rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=700, **options)
    elif kind == "bytes":
        rules = Tokenizer(models.BPE())
        rules.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        rules.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=450, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options)
    else:
        rules = Tokenizer(models.Unigram())
        rules.pre_tokenizer = pre_tokenizers.Metaspace()
        rules.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=600, unk_token="<unk>", **options)
    rules.train_from_iterator(texts, trainer)
    if kind == "bytes":
        rules.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return rules.to_str()

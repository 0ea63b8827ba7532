"""A folder in the form of LTP tiny with random weights: everything but the knowledge."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import BertTokenizer, ElectraConfig, ElectraModel

CHARACTERS = "我你他昨天今小明在北京买了一部新手机看书。"
HIDDEN, D = 16, 4
POS = ["n", "v", "u"]
ROLES = ["O", "B-A0", "B-A1", "B-ARGM-TMP", "I-A0", "I-A1", "I-ARGM-TMP"]


def save_tiny_ltp(folder: Path) -> Path:
    folder.mkdir()
    torch.manual_seed(3)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(CHARACTERS), "hel", "##lo"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = ElectraConfig(
        vocab_size=len(vocabulary), embedding_size=8, hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=24, initializer_range=1.0,
    )  # fmt: skip
    ElectraModel(config).save_pretrained(folder)
    heads = {
        "cws.classifier.0.weight": torch.randn(2, HIDDEN), "cws.classifier.0.bias": torch.zeros(2),
        "pos.classifier.0.weight": torch.randn(3, HIDDEN), "pos.classifier.0.bias": torch.zeros(3),
        "srl.mlp.0.weight": torch.randn(2 * D, HIDDEN), "srl.mlp.0.bias": torch.zeros(2 * D),
        "srl.atten.weight": torch.randn(7, D + 1, D + 1), "srl.crf.transitions": torch.randn(7, 7),
        "srl.crf.start_transitions": torch.randn(7), "srl.crf.end_transitions": torch.randn(7),
    }  # fmt: skip
    heads["srl.atten.weight"][0, -1, -1] += 6  # so that some rows are all O
    save_file({name: tensor.half() for name, tensor in heads.items()}, folder / "task_heads.safetensors")
    labels = {"labels": {"cws": ["B-W", "I-W"], "pos": POS, "srl": ROLES}}
    (folder / "task_heads.json").write_text(json.dumps(labels), encoding="utf-8")
    return folder

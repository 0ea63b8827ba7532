"""Files of the little grammar and a config of three parsers that are friends, on the small encoder of the run's own."""

import json
from pathlib import Path

from friend_training.data.readers.treebanks import bracketed
from friend_training.types import HeadsExample, TagsExample, TreeExample
from helpers import little_grammar as grammar

TEXT = """
name: parsers
tasks:
  trees: &task
    {kind: constituency, gold: trees.mrg, dev: dev.mrg, test: test.mrg, base_steps: 30, base_patience: null,
    update_steps: 4, pick_threshold: {share: 0.6}, sst_threshold: {share: 0.5},
    training: {encoder_rate: 0.01, head_rate: 0.01, look_every: 15, batch_size: 8}}
  arcs: {<<: *task, kind: dependency, gold: arcs.conllu, dev: dev.conllu, test: test.jsonl, relations: relations}
  tags: {<<: *task, kind: tagging, gold: tags.dp, dev: dev.mrg, test: test.jsonl}
friendships:
  - {kind: constituency-dependency, first: trees, second: arcs}
  - {kind: constituency-tagging, first: trees, second: tags}
pool: {file: pool.jsonl, words: words, id: id, hidden: {trees: tree, arcs: heads, tags: tags},
  held_out: kept}
word_encoder: {word: 8, affix: 8, width: 16, layers: 1, dropout: 0.1, forget: 0.1}
methods: [base, base-same-steps, sst, fdt, fdt-parts, fdt-shuffled, random-as-many, friend-labels]
iterations: 1
"""

PARTS = {"trees": 24, "arcs": 24, "tags": 24, "dev": 8, "test": 12, "pool": 40}


def sentences(part: str) -> list[tuple[TreeExample, HeadsExample, TagsExample]]:
    return grammar.sentences(PARTS[part], seed=10 + list(PARTS).index(part))


def write_files(folder: Path) -> Path:
    """Everything that the config names, in every format there is, and the config, whose path is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        found = sentences(part)
        trees = [bracketed(tree.words.words, tree.tree) + "\n" for tree, _, _ in found]
        (folder / f"{part}.mrg").write_text("".join(trees), encoding="utf-8")
        (folder / f"{part}.conllu").write_text(_in_columns([heads for _, heads, _ in found]), encoding="utf-8")
        lines = [
            "".join(
                f"{word}\t{tag}\t{head}\n"
                for word, tag, head in zip(t.words.words, t.tree.tags, h.heads.heads, strict=True)
            )
            for t, h, _ in found
        ]
        (folder / f"{part}.dp").write_text("\n".join(lines), encoding="utf-8")
        rows = [
            {
                "id": tree.words.id,
                "words": list(tree.words.words),
                "tree": bracketed(tree.words.words, tree.tree),
                "heads": list(heads.heads.heads),
                "relations": list(heads.heads.relations or ()),
                "tags": " ".join(tags.tags.tags),
            }
            for tree, heads, tags in found
        ]
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / "parsers.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def _in_columns(examples: list[HeadsExample]) -> str:
    blocks = []
    for one in examples:
        relations = one.heads.relations or ()
        rows = enumerate(zip(one.words.words, one.heads.heads, relations, strict=True), start=1)
        blocks.append("".join(f"{n}\t{word}\t_\t_\t_\t_\t{head}\t{name}\t_\t_\n" for n, (word, head, name) in rows))
    return "\n".join(blocks)

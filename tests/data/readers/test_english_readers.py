"""MuDoCo, MuDoCo-QR, CamRest676 and CAsT."""

import json
from pathlib import Path
from typing import Any

import pytest

from friend_training.data.read import sniff
from friend_training.data.readers.english import (
    plain_english,
    read_camrest,
    read_camrest_slots,
    read_cast,
    read_mudoco,
    read_mudoco_domain,
    read_mudoco_domain_links,
    read_mudoco_qr,
    rewrites_of,
)
from friend_training.data.text_io import Problems
from friend_training.errors import DataError
from friend_training.types import Mention


def write(tmp_path: Path, *values: Any) -> tuple[Path, Problems]:
    path = tmp_path / "x.json"
    path.write_text("\n".join(json.dumps(value) for value in values) + "\n", encoding="utf-8")
    return path, Problems(path)


DIALOGUE = {
    "doc_key": "d",
    "sentences": [["Who", "is", "Ann", "?"], [""], ["Call", "her"]],
    "speakers": [["user"] * 4, ["system"], ["user"] * 2],
    "clusters": [[[2, 2], [6, 6]]],
}


def test_every_turn_of_mudoco_that_is_not_empty_is_an_example_with_the_clusters_so_far(tmp_path: Path) -> None:
    path, problems = write(tmp_path, DIALOGUE)
    first, last = read_mudoco(path, problems)
    assert (first.dialogue.id, last.dialogue.id) == ("d/turn1", "d/turn3")
    assert first.clusters == ((Mention(0, 7, 10),),)
    assert last.clusters == ((Mention(0, 7, 10), Mention(1, 5, 8)),)
    assert [(turn.speaker, turn.text) for turn in last.dialogue.turns] == [
        ("user", "Who is Ann ?"),
        ("user", "Call her"),
    ]


def test_mudoco_says_which_line_is_wrong(tmp_path: Path) -> None:
    across = {**DIALOGUE, "clusters": [[[2, 6]]]}
    outside = {**DIALOGUE, "clusters": [[[2, 9]]]}
    path, problems = write(tmp_path, DIALOGUE, across, outside, {**DIALOGUE, "speakers": []}, {"doc_key": 1})
    assert len(list(read_mudoco(path, problems))) == 2
    assert [problem.line for problem in problems.found] == [2, 3, 4, 5]
    assert "reaches from one turn into another" in problems.found[0].message
    assert "expected its first and last word, of 7 words" in problems.found[1].message


def span(turn: int, start: int, end: int, text: str) -> dict[str, Any]:
    return {"turn_id": turn, "span": {"start": start, "end": end}, "text": text}


DOMAIN = {
    "domain": "calling",
    "dialogs": {
        "d": {
            "split": "train",
            "turns": [
                {"number": 1, "utterance": "Who is Ann ?", "links": [], "graded": False},
                {"number": 2, "utterance": "Your sister .", "links": [], "graded": True, "rewrite_required": False},
                {
                    "number": 3,
                    "utterance": "Call her",
                    "links": [[span(1, 7, 10, "Ann"), span(3, 5, 8, "her")]],
                    "graded": True,
                    "rewrite_required": True,
                    "rewritten_utterance": "Call Ann , do n't wait",
                },
            ],
        },
        "broken": {"split": "train", "turns": [{"number": 1, "utterance": "Hi", "links": [[span(2, 0, 1, "x")]]}]},
    },
}


def test_a_domain_in_one_file_has_the_rewrites_of_train_and_the_links(tmp_path: Path) -> None:
    path, problems = write(tmp_path, DOMAIN)
    assert sniff(path) == "mudoco-domain"
    over_lines = tmp_path / "over-lines.json"  # as MuDoCo-QR has them; lists of turns do not make it a file of ours
    over_lines.write_text(json.dumps(DOMAIN, indent=4), encoding="utf-8")
    assert sniff(over_lines) == "mudoco-domain"
    rewrites = list(read_mudoco_domain(path, problems))
    assert [(one.dialogue.id, one.rewrite) for one in rewrites] == [
        ("d/turn2", "Your sister ."),
        ("d/turn3", "Call Ann , don't wait"),
    ]
    assert [turn.speaker for turn in rewrites[1].dialogue.turns] == ["user", "system", "user"]
    first, _, last = read_mudoco_domain_links(path, problems)
    assert (first.clusters, last.clusters) == (((Mention(0, 7, 10),),), ((Mention(0, 7, 10), Mention(2, 5, 8)),))
    [problem] = problems.found
    assert "expected a span of one of the turns" in problem.message


def test_a_file_that_can_only_be_read_whole_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRIEND_TRAINING_MAX_WHOLE", "300")
    path, problems = write(tmp_path, DOMAIN)
    with pytest.raises(DataError, match=r"more than 300 characters; at most 300 are read"):
        list(read_mudoco_domain(path, problems))


def test_rewrites_are_those_of_mudocos_own_text(tmp_path: Path) -> None:
    turn = {
        "dialog_id": "d",
        "number": 3,
        "CTX": ["<USR> Who is Ann ?"],
        "USR": "<CUR> Call her .",
        "QR_REF": "Call Ann .",
    }
    path, problems = write(tmp_path, turn, {**turn, "USR": "Call her ."}, {**turn, "number": "3"})
    rewrites = list(read_mudoco_qr(path, problems))
    assert [problem.line for problem in problems.found] == [2, 3]
    assert rewrites[0].dialogue.id == "d/turn3"
    path, problems = write(tmp_path, DIALOGUE)
    joined = rewrites_of(list(read_mudoco(path, problems)), rewrites)
    assert {id: (e.dialogue.utterance.text, e.rewrite) for id, e in joined.items()} == {
        "d/turn3": ("Call her", "Call Ann")
    }


def test_what_a_treebank_tokenizer_cut_is_whole_again() -> None:
    assert plain_english("I do n't say `` gon na '' .") == 'I don\'t say " gonna " .'


def test_short_versions_of_camrest_and_its_slots(tmp_path: Path) -> None:
    user = {
        "transcript": "Any Thai?",
        "transcript_complete": "Any Thai restaurant?",
        "transcript_with_ellipsis": "Thai?",
        "transcript_with_coreference": "",
        "slu": [{"act": "inform", "slots": [["food", "thai"]]}, {"act": "request", "slots": [["slot", "phone"]]}],
    }
    both = {**user, "transcript_with_coreference": "Any of that?"}
    path, problems = write(
        tmp_path, [{"dialogue_id": 4, "dial": [{"usr": user, "sys": {"sent": "No."}}, {"usr": both}]}]
    )
    examples = list(read_camrest(path, problems))
    assert [(e.dialogue.id, e.dialogue.utterance.text) for e in examples] == [
        ("camrest:4/turn1~1", "Thai?"),
        ("camrest:4/turn3~1", "Thai?"),
        ("camrest:4/turn3~2", "Any of that?"),
    ]
    assert {e.rewrite for e in examples} == {"Any Thai restaurant?"}
    assert [turn.text for turn in examples[1].dialogue.context] == ["Any Thai?", "No."]
    slots = list(read_camrest_slots(path, problems))
    assert [(turn.id, turn.informed) for turn in slots] == [
        ("camrest:4/turn1", {"food": "thai"}),
        ("camrest:4/turn3", {"food": "thai"}),
    ]


def test_paths_of_a_cast_tree_are_read_once_where_they_begin_alike(tmp_path: Path) -> None:
    first = {"utterance": "What is tea?", "manual_rewritten_utterance": "What is tea?", "response": "A drink."}
    paths = [
        {"number": 7, "turn": [first, {"utterance": other, "manual_rewritten_utterance": f"{other} tea"}]}
        for other in ("Green?", "Black?")
    ]
    path, problems = write(tmp_path, paths)
    examples = list(read_cast(path, problems))
    assert [e.rewrite for e in examples] == ["What is tea?", "Green? tea", "Black? tea"]
    assert [turn.text for turn in examples[2].dialogue.context] == ["What is tea?", "A drink."]

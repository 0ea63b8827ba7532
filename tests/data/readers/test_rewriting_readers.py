"""REWRITE, RESTORATION-200K and CANARD."""

from pathlib import Path

from friend_training.data.readers.dialogues import read_canard, read_restoration, read_rewrite
from friend_training.data.text_io import Problems
from friend_training.types import dialogue_group


def write(tmp_path: Path, *lines: str) -> tuple[Path, Problems]:
    path = tmp_path / "x.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, Problems(path)


def test_rewrite(tmp_path: Path) -> None:
    lines = [
        "想吃面\t\t哪家的\t\t楼下那家\t\t楼下那家的面",
        "三个\t\t字段\t\t而已",
        "有人吗\t\t\t\t没有啊\t\t没有人啊",
        "甲\t\t乙\t\t\t\t丙",
    ]
    path, problems = write(tmp_path, *lines)
    first, gap = read_rewrite(path, problems)
    assert [(turn.speaker, turn.text) for turn in first.dialogue.turns] == [
        ("A", "想吃面"),
        ("B", "哪家的"),
        ("A", "楼下那家"),
    ]
    assert first.rewrite == "楼下那家的面"
    assert [(turn.speaker, turn.text) for turn in gap.dialogue.turns] == [("A", "有人吗"), ("A", "没有啊")]
    assert [problem.line for problem in problems.found] == [2, 4]


def test_restoration_label_zero_means_unchanged_and_the_next_utterance_is_no_context(tmp_path: Path) -> None:
    path, problems = write(
        tmp_path,
        "一\t二\t三\t四\t五\t六\t0\t",
        "一\t二\t三\t四\t五\t六\t1\t四五",
        "一\t二\t三\t四\t五\t六\t1\t",
        "一\t二\t三\t四\t五\t六\t2\t五",
        "一\t二",
    )
    complete, restored = read_restoration(path, problems)
    assert complete.rewrite == "五"
    assert restored.rewrite == "四五"
    assert "".join(turn.text for turn in restored.dialogue.turns) == "一二三四五"
    assert restored.dialogue.utterance.speaker == "A"
    assert [problem.line for problem in problems.found] == [3, 4, 5]


def test_canard_has_any_number_of_fields_and_keeps_conversations_together(tmp_path: Path) -> None:
    path, problems = write(
        tmp_path,
        "Ann\tLife\tWhere was she born?\tWhere was Ann born?",
        "Ann\tLife\tWhere was she born?\tIn Rome.\tWhen?\tWhen was Ann born?",
        "Bob\tWork\tWhat did he do?\tWhat did Bob do?",
        "too\tfew",
    )
    one, two, other = read_canard(path, problems)
    assert two.dialogue.utterance.text == "When?"
    assert [turn.speaker for turn in two.dialogue.turns] == ["A", "B", "A", "B", "A"]
    assert dialogue_group(one.dialogue.id) == dialogue_group(two.dialogue.id) != dialogue_group(other.dialogue.id)
    assert len({e.dialogue.id for e in (one, two, other)}) == 3
    assert [problem.line for problem in problems.found] == [4]

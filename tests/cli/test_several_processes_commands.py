"""Commands that a launcher starts several times: two know what to do, the others say that they do not."""

import pytest

from friend_training.cli.main import main


@pytest.mark.parametrize("command", [["demo"], ["data", "list"], ["show", "nowhere"]])
def test_most_commands_work_in_one_process(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert f"friend-train {command[0]} works in one process, and here are 2" in capsys.readouterr().err


def test_run_and_resume_get_further(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for command in (["run", "no-such-config"], ["resume", "no-such-run"]):
        with pytest.raises(SystemExit):
            main(command)
        said = capsys.readouterr().err
        assert "no-such" in said
        assert "one process" not in said

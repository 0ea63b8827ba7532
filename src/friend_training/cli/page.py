"""`friend-train page`: the tables of a results page, made anew from the results they stand for."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from friend_training.core.files import write_text
from friend_training.errors import DataError

BLOCK = re.compile(r"(<!-- made by: friend-train (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def page(
    path: Annotated[Path, typer.Argument(help="A Markdown page with marked tables, such as docs/results.md.")],
    check: Annotated[bool, typer.Option("--check", help="Only say whether the page is up to date.")] = False,
) -> None:
    """Make every marked table of a page anew.

    A table stands between '<!-- made by: friend-train COMMAND -->' and '<!-- end -->'; what the command prints takes
    its place. Run it from the folder that the commands' paths are meant from.
    """
    before = path.read_text(encoding="utf-8")
    after = BLOCK.sub(lambda found: f"{found[1]}{_output(found[2])}\n{found[3]}", before)
    if check and after != before:
        raise DataError("its tables are not those of the results; run the same without --check", path=path)
    if after != before:
        write_text(path, after)


def _output(command: str) -> str:
    from friend_training.cli.main import app

    result = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
    return result.stdout.strip()

"""A hook of mkdocs: links to files of the repository that are no pages of the site keep their words, not their link."""

import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]+)\]\((?P<target>(?!\w+:)[^)\s#]+)[^)\s]*\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    folder = PurePosixPath(page.file.src_uri).parent

    def without_link(found: re.Match[str]) -> str:
        leaves = normpath(str(folder / found["target"])).startswith("../")
        words = found["words"]
        return (words if "`" in words else f"`{words}`") if leaves else found[0]

    return LINK.sub(without_link, markdown)

"""A hook of mkdocs. Links to files of the repository that are no pages of the site keep their words, not their link.

Whatever a page loads from another host is a warning, and so ends `make docs`.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]+)\]\((?P<target>(?!\w+:)[^)\s#]+)[^)\s]*\)")
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")

log = logging.getLogger("mkdocs.hooks.site")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    folder = PurePosixPath(page.file.src_uri).parent

    def without_link(found: re.Match[str]) -> str:
        leaves = normpath(str(folder / found["target"])).startswith("../")
        words = found["words"]
        return (words if "`" in words else f"`{words}`") if leaves else found[0]

    return LINK.sub(without_link, markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    for address in loaded_from_elsewhere(output):
        log.warning("%s loads %s from another host", page.file.src_uri, address)
    return output


def loaded_from_elsewhere(html: str) -> Iterator[str]:
    yield from LOADED.findall(html)

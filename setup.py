"""What pyproject.toml cannot say: the page of the package is README.md without its links to files of the repository.

Outside of it those links would lead nowhere. Their names stay: the files are in the source distribution.
"""

import re
from pathlib import Path

from setuptools import setup

LINK_TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")

page = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
setup(long_description=LINK_TO_A_FILE.sub(r"`\1`", page), long_description_content_type="text/markdown")

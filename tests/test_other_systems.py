"""Windows, and whatever else is not Linux: what only Unix has is not needed, and any folder name will do."""

import subprocess
import sys

IMPORT_ALL = """
import importlib, os, pkgutil, sys
import friend_training

def import_all():
    for found in pkgutil.walk_packages(friend_training.__path__, "friend_training."):
        importlib.import_module(found.name)

import_all()  # the packages we build on: they go by sys.platform, and here that says Linux
for name in [name for name in sys.modules if name.startswith("friend_training.")]:
    del sys.modules[name]
sys.modules |= {"fcntl": None, "resource": None}
del os.fork
import_all()
print(*(name for name in sys.modules if name.startswith("friend_training.")))
"""


def test_every_module_can_be_imported_without_what_only_unix_has() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = set(done.stdout.split())
    assert {"friend_training.core.run", "friend_training.cli.main", "friend_training.web.service.app"} <= modules

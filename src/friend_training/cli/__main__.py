"""What `friend-train` begins with: from here on Ctrl-C is one line, also while the commands or torch are being loaded.

A library that is interrupted while it is loaded may catch that, raise something else, or lose it; then the command
would go on, or end with a traceback of that library. So an interruption that comes during an import ends the process at
once, which a run survives as it survives being killed. At all other times it is the usual KeyboardInterrupt.
"""

import os
import signal
from types import FrameType

STOPPED = 130
"""The exit code of programs that SIGINT ended."""

_STDERR = 2
_IMPORTING = "<frozen importlib._bootstrap>"
_SHOWN_CURSOR = "\r\x1b[K\x1b[?25h"
"""On a terminal: what says that libraries are loaded goes away, and the cursor is there again."""


def start() -> None:
    """Run the command of sys.argv and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody wants it ignored
        signal.signal(signal.SIGINT, _interrupted)
    from friend_training.cli.main import main

    main()


def _interrupted(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            shown = _SHOWN_CURSOR if os.isatty(_STDERR) else ""
            os.write(_STDERR, f"{shown}Stopped.\n".encode())
            os._exit(STOPPED)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    start()

"""Two pages on this machine, behind one guard: the inspector of pseudo-labels and the service of trained models."""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["make_app", "run_server", "serve_inspector"]

if TYPE_CHECKING:
    from friend_training.web.inspector.app import serve_inspector
    from friend_training.web.server import run_server
    from friend_training.web.service.app import make_app
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "inspector.app": ("serve_inspector",),
            "service.app": ("make_app",),
            "server": ("run_server",),
        },
    )

"""Two pages on this machine, behind one guard: the inspector of pseudo-labels and the service of trained models."""

from typing import TYPE_CHECKING

from friend_training.rooms import opened_on_first_use

__all__ = ["make_app", "run_server", "serve_inspector"]

if TYPE_CHECKING:
    from friend_training.web.inspector.app import serve_inspector
    from friend_training.web.service.app import make_app
    from friend_training.web.service.server import run_server
else:
    __getattr__ = opened_on_first_use(
        __name__,
        {
            "inspector.app": ("serve_inspector",),
            "service.app": ("make_app",),
            "service.server": ("run_server",),
        },
    )

"""friend-train config: which configs there are, and what one says in full."""

from typing import Annotated

import typer

config = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="See what a config sets, and what each setting is for."
)


@config.command("show")
def show(
    given: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A YAML file, or a name that `friend-train config list` prints.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting first. Repeat for more."),
    ] = None,
) -> None:
    """Print a config in full, with a sentence about each setting.

    A config file says only what differs from the defaults. This is what
    it comes to: every setting, what it is for, the values it can have,
    and what it would be if it were left out. The output is a config
    itself, to change and to run:

    friend-train config show demo > mine.yaml
    """
    from friend_training.study.config import find_config
    from friend_training.study.config_help import explained_config

    typer.echo(explained_config(find_config(given, set_ or ())), nl=False)


@config.command("list")
def list_() -> None:
    """Name the configs that come with the package and need no data.

    More of them, for public datasets, are in the project's folder
    configs/; they are given by their path.
    """
    from friend_training.study.config import shipped_configs
    from friend_training.study.config_help import opening_words

    for name, path in shipped_configs().items():
        typer.echo(f"{name}: {opening_words(path)}")

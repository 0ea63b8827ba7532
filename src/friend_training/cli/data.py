"""friend-train data: which datasets there are, what a file holds, and how to bring your own."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from friend_training.core.limits import Limits, exceeds
from friend_training.data.catalogue import (
    DATA_VARIABLE,
    fetch_file,
    find_part,
    known_corpora,
    known_corpus,
    part_path,
    public_address,
)
from friend_training.data.jsonl import write_jsonl
from friend_training.data.read import FORMATS, Kind, native_kind, read_examples, sniff, some_examples, stream_examples
from friend_training.data.splits import SPLIT_SEED, count_dialogues
from friend_training.data.splits import split as split_examples
from friend_training.data.summary import Summary, add_to, fingerprint
from friend_training.data.text_io import Problems
from friend_training.errors import ConfigError, DataError
from friend_training.runs.files import check_output, write_text
from friend_training.tasks.rewriting.edits import SpanSource, build_script, check_length
from friend_training.types import ROLES, RewritingExample

data = typer.Typer(no_args_is_help=True, help="List, check, convert, split and fetch datasets.")

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", envvar=DATA_VARIABLE, help="The folder that holds the public datasets.")
]
File = Annotated[str, typer.Argument(help="A file, plain or gzip, or the name of a known dataset such as duconv/dev.")]
Format = Annotated[str | None, typer.Option(help=f"Told by the first line unless given: {', '.join(FORMATS)}.")]
As = Annotated[
    Kind | None,
    typer.Option("--as", help="What to read it as; by default with the labels it has."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail at the first bad line instead of skipping it.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that is already there.")]
_SHOWN_PROBLEMS = 10
SPAN_SOURCES: dict[SpanSource, str] = {"context": "context", "dialogue": "context or u_t"}
"""Where inserted spans may come from, in words."""


@data.command("list")
def list_(data_dir: DataDir = None) -> None:
    """Show what is known: where it comes from, its licence, what the paper uses it for, and whether it is here."""
    console = Console(highlight=False)
    for corpus in known_corpora():
        found = [data_dir is not None and find_part(corpus, part, data_dir) is not None for part in corpus.parts]
        parts = (f"{part.name}{'' if here else ' (missing)'}" for part, here in zip(corpus.parts, found, strict=True))
        here = "not here" if not any(found) else "here" if all(found) else "partly here"
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, width=16)
        table.add_column(overflow="fold")
        table.add_row(f"[bold]{corpus.name}[/bold]", f"[bold]{corpus.title}[/bold]")
        table.add_row(f"  {here}", f"{', '.join(parts)}")
        table.add_row("  source", corpus.repository)
        table.add_row("  licence", corpus.licence)
        table.add_row("  paper", corpus.paper)
        console.print(table)
    if data_dir is None:
        console.print(f"\nNo data folder is given: set {DATA_VARIABLE} or give --data-dir.")


@data.command()
def check(
    file: File, data_dir: DataDir = None, format: Format = None, read_as: As = None, strict: Strict = False
) -> None:
    """Say what a file holds: counts, labels, lengths, the share that edits can build, and the first ten bad lines."""
    path, known, kind = _resolve(file, data_dir, format, read_as)
    problems = Problems(path, strict=strict, most=_SHOWN_PROBLEMS)
    found = _Found()
    digest = fingerprint(found.noting(stream_examples(path, kind, problems, format=known)))
    if not found.summary.examples and not problems.count:
        raise DataError(f"the file holds no {kind} example (format {known})", path=path)
    console = Console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("format", f"{known}, read as {kind}")
    for name, value in _figures(found, kind):
        table.add_row(name, value)
    table.add_row("fingerprint", digest)
    table.add_row("bad lines", f"{problems.count:,}")
    console.print(table)
    for problem in problems.found:
        console.print(f"  line {problem.line}: {problem.message}", markup=False, highlight=False)
    if problems.count > _SHOWN_PROBLEMS:
        console.print(f"  and {problems.count - _SHOWN_PROBLEMS:,} more")
    if problems.count and known == "jsonl":
        raise DataError(f"{problems.count} bad lines; training and evaluation refuse such a file", path=path)
    if not found.summary.examples:
        raise DataError(f"no {kind} example can be read from this file (format {known})", path=path)


@data.command()
def convert(
    file: File,
    out: Annotated[Path, typer.Argument(help="The JSONL file to write.")],
    data_dir: DataDir = None,
    format: Format = None,
    read_as: As = None,
    strict: Strict = False,
    force: Force = False,
) -> None:
    """Write any known format as our own JSONL (docs/data-formats.md)."""
    check_output(out, force=force)
    path, known, kind = _resolve(file, data_dir, format, read_as)
    problems = Problems(path, strict=strict or known == "jsonl", most=_SHOWN_PROBLEMS)
    count = write_jsonl(out, some_examples(stream_examples(path, kind, problems, format=known), problems, kind, known))
    _say(f"{out}: {count:,} {kind} examples, {problems.count} bad lines left out")


@data.command()
def split(
    file: File,
    out: Annotated[Path, typer.Argument(help="The folder to write the parts to.")],
    part: Annotated[list[str], typer.Option(help="NAME=COUNT in dialogues, or NAME=rest. Repeat for every part.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same split.")] = SPLIT_SEED,
    data_dir: DataDir = None,
    format: Format = None,
    read_as: As = None,
    strict: Strict = False,
    force: Force = False,
) -> None:
    """Split by dialogue: no dialogue on two sides, near-duplicates kept together, fingerprints in split.json."""
    sizes = dict(_part_size(given) for given in part)
    if len(sizes) != len(part) or sum(size is None for size in sizes.values()) > 1:
        raise ConfigError("every --part needs a name of its own, and only one may be 'rest'")
    for name in (*(f"{name}.jsonl" for name in sizes), "split.json"):
        check_output(out / name, force=force)
    path, known, kind = _resolve(file, data_dir, format, read_as)
    if kind == "sentence":
        raise ConfigError("sentences are not split here: only dialogues are")
    loaded = read_examples(path, kind, format=known, strict=strict)
    parts = split_examples(loaded.examples, sizes, seed=seed)
    record: dict[str, Any] = {"seed": seed, "kind": kind, "source": loaded.fingerprint, "parts": {}}
    for name, examples in parts.items():
        write_jsonl(out / f"{name}.jsonl", examples)
        dialogues = count_dialogues(examples)
        record["parts"][name] = {"examples": len(examples), "dialogues": dialogues, "sha256": fingerprint(examples)}
        _say(f"{out / name}.jsonl: {len(examples):,} examples, {dialogues:,} dialogues")
    write_text(out / "split.json", json.dumps(record, indent=2) + "\n")


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A known dataset; see `friend-train data list`.")],
    data_dir: DataDir = None,
) -> None:
    """Download a dataset from its public repository (needs internet); broken-off downloads are resumed."""
    corpus = known_corpus(name)
    if data_dir is None:
        raise ConfigError(f"where to? Give --data-dir or set {DATA_VARIABLE}")
    _say(f"{corpus.title}. Licence: {corpus.licence}.")
    for file in (file for part in corpus.parts for file in part.files):
        path = fetch_file(corpus, file, data_dir)
        note = "" if file.sha256 else f" (unchecked: no hash of {public_address(corpus, file)} is known)"
        _say(f"{path}{note}")


def _say(line: str) -> None:
    """A line as it is: paths may hold what rich would take for its own marks."""
    Console().print(line, markup=False, highlight=False, soft_wrap=True)


@dataclass
class _Found:
    """What `check` notes of a file as it goes by: no file is held in memory."""

    summary: Summary = field(default_factory=Summary)
    built: Counter[SpanSource] = field(default_factory=Counter)
    too_long: int = 0

    def noting(self, examples: Iterable[Any]) -> Iterator[Any]:
        for example in examples:
            add_to(self.summary, example)
            if isinstance(example, RewritingExample):
                self._build(example)
            yield example

    def _build(self, example: RewritingExample) -> None:
        try:
            check_length(example.dialogue, example.rewrite)
        except DataError:
            self.too_long += 1
            return
        for source in SPAN_SOURCES:
            script = build_script(example.dialogue, example.rewrite, span_source=source)
            self.built[source] += script is not None


def _resolve(file: str, data_dir: Path | None, format: str | None, read_as: Kind | None) -> tuple[Path, str, Kind]:
    names = [corpus.name for corpus in known_corpora()]
    is_name = not Path(file).exists() and file.partition("/")[0] in names
    path = part_path(file, data_dir) if is_name else Path(file)
    if not path.exists():
        raise DataError("no such file, nor is it the name of a known dataset", path=file)
    known = format or sniff(path)
    return path, known, read_as or native_kind(path, known)


def _part_size(given: str) -> tuple[str, int | None]:
    name, _, size = given.partition("=")
    if not name.isidentifier() or not (size == "rest" or (size.isdecimal() and int(size) > 0)):
        raise ConfigError(f"--part {given!r}: expected NAME=COUNT or NAME=rest, for example train=240")
    return name, None if size == "rest" else int(size)


def _figures(found: _Found, kind: Kind) -> list[tuple[str, str]]:
    """What there is to say about this kind of file, in words and numbers."""
    summary = found.summary
    if not summary.examples:
        return [("examples", "0")]
    figures = [("examples", f"{summary.examples:,}")]
    if kind != "sentence":
        figures.append(("dialogues", f"{len(summary.dialogues):,}"))
        figures.append(("turns", f"{summary.turns / summary.examples:.1f} per example"))
    figures.append(
        ("characters", f"{summary.characters / summary.examples:.0f} per example, at most {summary.longest:,}")
    )
    if summary.predicates:
        figures.append(("predicates", f"{summary.predicates:,}"))
    if summary.arguments:
        labels = ", ".join(f"{role} {summary.roles[role]:,}" for role in ROLES if summary.roles[role])
        figures.append(("arguments", f"{summary.arguments:,} ({labels})"))
        if kind == "csrl":
            figures.append(("outside u_t", f"{summary.outside / summary.arguments:.1%} of the arguments"))
            figures.append(("speaker tokens", f"{summary.speakers / summary.arguments:.1%} of the arguments"))
    if kind == "coreference":
        linked = f"{summary.linked:,} of them stand for something said before"
        figures.append(("mentions in u_t", f"{summary.mentions:,}, {linked}"))
    if kind == "rewriting":
        figures.append(("unchanged", f"{summary.unchanged / summary.examples:.1%}"))
        for source, words in SPAN_SOURCES.items():
            figures.append(("buildable", f"{found.built[source] / summary.examples:.1%} with spans from {words}"))
        if found.too_long:
            limit = exceeds("script", Limits.from_environment().script)
            figures.append(
                ("too long", f"{found.too_long:,} for an edit script, and not counted as buildable; {limit}")
            )
    return figures

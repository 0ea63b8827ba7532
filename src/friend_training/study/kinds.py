"""The hinge: the kinds of tasks that a config can name, and what everything else has to know of each.

A kind is one entry of `TASK_KINDS`. It says how a section of a config becomes a task, how a file becomes its examples,
and what it sees of an input of the pool. Below this file nobody asks which task it is. What gold says of a unit is told
by the type of the example (run_data.py), and friendships are made in friends.py. The room of tasks opens a task's file
when one is made: a kind without networks loads no torch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from friend_training import tasks
from friend_training.core.task import Task
from friend_training.data import tables
from friend_training.data.catalogue import model_source
from friend_training.data.read import read_examples
from friend_training.errors import ConfigError, DataError, naming_missing_packages
from friend_training.nn.class_names import read_names
from friend_training.study.config import CaseStudyConfig
from friend_training.study.sections import (
    AnswerFileConfig,
    Config,
    ConstituencyConfig,
    CoreferenceConfig,
    DependencyConfig,
    EndpointConfig,
    EstimatorConfig,
    Mark,
    TaggingConfig,
    TextClassificationConfig,
    TextTaskConfig,
    TokenClassificationConfig,
    TrainingConfig,
    WordRewritingConfig,
)
from friend_training.types import (
    Heads,
    HeadsExample,
    Tags,
    TagsExample,
    Text,
    Tree,
    TreeExample,
    Words,
    text_of,
    words_of,
)

if TYPE_CHECKING:
    from friend_training.nn.training import TrainingSettings

View = Literal["text", "words", "dialogue"]
"""What a task sees of an input of the pool."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a task is made of besides its section.

    `encoder` is what training begins with where the config's tasks share one, or a checkpoint, which has all that an
    encoder has. `gold` names the classes, `pool` the words.
    """

    encoder: str | Path | None = None
    gold: Sequence[Any] = ()
    pool: Iterable[Any] = ()
    base: Path = Path()
    """Where the paths of the config begin."""
    second: bool = False
    """Another model of the same task, for co-training: the same encoder, a different head."""


Make = Callable[[Any, str, Given], Task]


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One kind of task. `read` is None where the examples do not come from a file of the task's own.

    `hidden` reads a label of the pool, which no model sees, from a cell of its row. `networks` is False where torch is
    never needed.
    """

    title: str
    view: View
    make: Make
    read: Callable[[Any, Path], list[Any]] | None = None
    has_other_head: bool = False
    trained: bool = True
    networks: bool = True
    hidden: Callable[[tables.Row, str], Any] = lambda row, column: str(row.cell(column))


def make_task(config: Config, name: str, given: Given) -> Task:
    """A task of the config, without weights."""
    return kind_of(config, name).make(config, name, given)


def kind_of(config: Config, name: str) -> TaskKind:
    return TASK_KINDS[config.kinds[name]]


def is_trained(config: Config, name: str) -> bool:
    return kind_of(config, name).trained and getattr(config.sections[name], "trained", True)


def training_settings(section: TrainingConfig) -> "TrainingSettings":
    from friend_training.nn.training import TrainingSettings

    return TrainingSettings(**section.model_dump())


# The paper's two tasks.


def _csrl(config: Any, name: str, given: Given) -> Task:
    assert isinstance(config, CaseStudyConfig), "no other config names this kind"
    assert given.encoder is not None, "the case study's tasks share one"
    other: Mark = "input" if config.predicate_mark == "after" else "after"
    return tasks.csrl_task(
        given.encoder,
        training_settings(config.tasks.csrl.training),
        max_length=config.max_length,
        mark=other if given.second else config.predicate_mark,  # told of its predicate at the other place
        adjacent=config.repeated_roles,
        itself=config.predicate_as_argument,
        device=config.device,
    )


def _rewriting(config: Any, name: str, given: Given) -> Task:
    assert isinstance(config, CaseStudyConfig), "no other config names this kind"
    assert given.encoder is not None, "the case study's tasks share one"
    return tasks.rewriting_task(
        given.encoder,
        training_settings(config.tasks.rewriting.training),
        max_length=config.max_length,
        span_source=config.span_source,
        scorer="biaffine" if given.second else "dot",
        spans=config.insertion_spans,
        context_turns=config.rewriting_turns,
        main_metric=config.rewriting_metric,
        device=config.device,
    )


# Tasks with files of your own.


def _labelled_texts(section: TextTaskConfig, path: Path) -> list[tuple[Text, str]]:
    return list(tables.labelled_texts(path, text=section.text, label=section.label, id=section.id))


def _tagged_words(section: TokenClassificationConfig, path: Path) -> list[TagsExample]:
    return list(tables.tagged_words(path, words=section.words, tags=section.tags, id=section.id))


def _text_classification(config: Any, name: str, given: Given) -> Task:
    section: TextClassificationConfig = config.tasks[name]
    return tasks.TextClassification(
        name,
        encoder=given.encoder or model_source(section.encoder),
        labels=_names(given, "labels", tasks.label_names),
        metric=section.metric,
        max_length=section.max_length,
        settings=training_settings(section.training),
        device=config.device,
    )


def _token_classification(config: Any, name: str, given: Given) -> Task:
    section: TokenClassificationConfig = config.tasks[name]
    return tasks.TokenClassification(
        name,
        encoder=given.encoder or model_source(section.encoder),
        settings=training_settings(section.training),
        tags=_names(given, "tags", tasks.tag_set),
        metric=section.metric,
        device=config.device,
    )


def _trees(section: ConstituencyConfig, path: Path) -> list[TreeExample]:
    return list(tables.parsed_sentences(path, tree=section.tree, id=section.id))


def _heads(section: DependencyConfig, path: Path) -> list[HeadsExample]:
    return list(
        tables.sentences_with_heads(
            path, words=section.words, heads=section.heads, relations=section.relations, id=section.id
        )
    )


def _part_of_speech(section: TaggingConfig, path: Path) -> list[TagsExample]:
    return list(tables.tagged_sentences(path, words=section.words, tags=section.tags, id=section.id))


def _hidden_tags(row: tables.Row, column: str) -> Tags:
    return Tags(tables.words_in(row, column))


def _hidden_heads(row: tables.Row, column: str) -> Heads:
    return tables.heads_in(row, column)


def _hidden_tree(row: tables.Row, column: str) -> Tree:
    return tables.tree_in(row, column)[1]


def _sentence_task(make: str, classes: str) -> Make:
    """A parser or tagger whose classes are those of gold, on an encoder of its own or the one that such tasks share.

    What makes the task and what finds its classes are named as the room of tasks has them.
    """

    def made(config: Any, name: str, given: Given) -> Task:
        section = config.tasks[name]
        encoder = given.encoder or (section.encoder and model_source(section.encoder))
        assert encoder, "the run makes one for tasks that name none"
        kept = {"punctuation": section.punctuation} if isinstance(section, DependencyConfig) else {}
        names = getattr(tasks, classes)(given.gold) if given.gold else read_names(Path(str(encoder)))
        settings = training_settings(section.training)
        task: Task = getattr(tasks, make)(encoder, settings, **names, **kept, name=name, device=config.device)
        return task

    return made


def _word_rewriting(config: Any, name: str, given: Given) -> Task:
    section: WordRewritingConfig = config.tasks[name]
    return tasks.word_rewriting_task(
        given.encoder or model_source(section.encoder),
        training_settings(section.training),
        name=name,
        max_length=section.max_length,
        unless_sure=section.unless_sure,
        main_metric=section.metric,
        device=config.device,
    )


def _coreference(config: Any, name: str, given: Given) -> Task:
    section: CoreferenceConfig = config.tasks[name]
    return tasks.coreference_task(
        given.encoder or model_source(section.encoder),
        training_settings(section.training),
        name=name,
        max_length=section.max_length,
        main_metric=section.metric,
        device=config.device,
    )


def _names(given: Given, kind: str, of_gold: Callable[[Sequence[Any]], tuple[str, ...]]) -> tuple[str, ...]:
    """The classes are those of gold; a checkpoint has them written down."""
    return of_gold(given.gold) if given.gold else read_names(Path(str(given.encoder)))[kind]


def _estimator(config: Any, name: str, given: Given) -> Task:
    # Only now: scikit-learn is an extra.
    from friend_training.tasks.estimators.task import Estimator, untrained_model

    section: EstimatorConfig = config.tasks[name]
    if section.model.endswith(".skops"):
        return Estimator(name, untrained_model(given.base / section.model), metric=section.metric)
    return Estimator(name, _text_model(section.model, given.pool), metric=section.metric)


def _text_model(name: str, pool: Iterable[Any]) -> Any:
    """A logistic regression over words or characters of a text, single ones and pairs; the classes are weighed alike.

    The vocabulary is that of the pool, which every method may see. A checkpoint holds its own.
    """
    with naming_missing_packages():
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.frozen import FrozenEstimator
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    if name == "tf-idf-words":
        vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[\w']+|[!?.]", ngram_range=(1, 2), min_df=2)
    else:
        vectorizer = TfidfVectorizer(sublinear_tf=True, analyzer="char", ngram_range=(1, 2), min_df=3)
    if texts := [text_of(one) for one in pool]:
        try:
            vectorizer.fit(texts)
        except ValueError as error:
            raise DataError(f"pool: no vocabulary can be made of its {len(texts)} texts: {error}") from None
    return make_pipeline(
        FrozenEstimator(vectorizer), LogisticRegression(C=10, max_iter=200, tol=1e-3, class_weight="balanced")
    )


def _answer_file(config: Any, name: str, given: Given) -> Task:
    section: AnswerFileConfig = config.tasks[name]
    return tasks.AnswerFile(name, given.base / section.file.replace("{seed}", str(config.seed)), metric=section.metric)


def _endpoint(config: Any, name: str, given: Given) -> Task:
    section: EndpointConfig = config.tasks[name]
    return tasks.Endpoint(
        name,
        section.url,
        model=section.model,
        prompt=section.prompt,
        cache=given.base / section.cache,
        labels=section.labels,
        samples=section.samples,
        budget=section.budget,
        key_variable=section.key_variable,
        concurrency=section.concurrency,
        metric=section.metric,
    )


def _given_in_python(config: Any, name: str, given: Given) -> Task:
    raise ConfigError(
        f"task {name!r} is a Python object: only the program that made this run, with FriendTrainer, can open it"
    )


TASK_KINDS: dict[str, TaskKind] = {
    "csrl": TaskKind("CSRL", "dialogue", _csrl, lambda _, path: read_examples(path, "csrl").examples, True),
    "rewriting": TaskKind(
        "rewriting", "dialogue", _rewriting, lambda _, path: read_examples(path, "rewriting").examples, True
    ),
    "text-classification": TaskKind("text classification", "text", _text_classification, _labelled_texts),
    "token-classification": TaskKind(
        "token classification", "words", _token_classification, _tagged_words, hidden=_hidden_tags
    ),
    "constituency": TaskKind(
        "constituency parsing", "words", _sentence_task("constituency_task", "tree_names"), _trees, hidden=_hidden_tree
    ),
    "dependency": TaskKind(
        "dependency parsing", "words", _sentence_task("dependency_task", "relation_names"), _heads, hidden=_hidden_heads
    ),
    "tagging": TaskKind(
        "tagging", "words", _sentence_task("tagging_task", "tag_names"), _part_of_speech, hidden=_hidden_tags
    ),
    "rewriting-by-words": TaskKind(
        "rewriting", "dialogue", _word_rewriting, lambda _, path: read_examples(path, "rewriting").examples
    ),
    "coreference": TaskKind(
        "coreference", "dialogue", _coreference, lambda _, path: read_examples(path, "coreference").examples
    ),
    "estimator": TaskKind("classification", "text", _estimator, _labelled_texts, networks=False),
    "answer-file": TaskKind(
        "answers from a file", "text", _answer_file, _labelled_texts, trained=False, networks=False
    ),
    "endpoint": TaskKind(
        "answers of a language model", "text", _endpoint, _labelled_texts, trained=False, networks=False
    ),
    "python": TaskKind("a task of your own", "text", _given_in_python),
}
"""Every kind of task that a config can name."""


def read_file(config: Config, name: str, path: Path) -> list[Any]:
    """The examples of a file, labelled for a task of the config."""
    read = kind_of(config, name).read
    if read is None:
        raise ConfigError(f"task {name!r} is a Python object: files cannot be read for it")
    return read(config.sections[name], path)


def read_inputs(config: Config, name: str, path: Path) -> list[Any]:
    """The inputs of a file without labels, as this task of the config sees them.

    They stand in the column that gold has them in; a file without it has `text` or `words`.
    """
    section, view = config.sections[name], kind_of(config, name).view
    if view == "dialogue":
        return read_examples(path, "dialogue").examples
    first = next(tables.rows_of(path), None)
    columns = {} if first is None else first.cells
    id = getattr(section, "id", None) or ("id" if "id" in columns else None)
    wanted = getattr(section, view, view)
    named = wanted if wanted in columns or view not in columns else view
    if view == "words" and named not in columns and "text" in columns:
        return [Words(text.id, words_of(text)) for text in tables.texts(path, text="text", id=id)]
    return list(tables.words(path, words=named, id=id) if view == "words" else tables.texts(path, text=named, id=id))


def pool_view(config: Config) -> View:
    """What an input of the pool must hold, so that every task finds in it what it needs."""
    views = {kind_of(config, name).view for name in config.kinds}
    return "dialogue" if "dialogue" in views else "words" if "words" in views else "text"

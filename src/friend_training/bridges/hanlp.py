"""Adapter to HanLP 2.1, the paper's sentence-level SRL parser."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from friend_training.bridges.bridge import Frame, ParsedSentence, word_spans
from friend_training.errors import DataError, FriendTrainingError
from friend_training.nn.devices import AUTO, choose_device
from friend_training.types import SentenceArgument

SMALL_MODEL = "CLOSE_TOK_POS_NER_SRL_DEP_SDP_CON_ELECTRA_SMALL_ZH"
PREDICATE = "PRED"
NOT_INSTALLED = "the package 'hanlp' is not installed: pip install 'friend-training[hanlp]'"


class HanlpParser:
    """HanLP by its own package. `model` is a name of `hanlp.pretrained.mtl`, or whatever `hanlp.load` takes.

    `pipeline` stands in for the package where a test or a wrapper (the REST client) brings its own. It is called with
    a list of texts and `tasks`, and answers with a document: one list of tokens and one of predicates per text.
    """

    name = "hanlp"

    def __init__(
        self, model: str = SMALL_MODEL, *, pipeline: Callable[..., Any] | None = None, device: str = AUTO
    ) -> None:
        self.pipeline = _load(model, device) if pipeline is None else pipeline

    def parse(self, texts: Sequence[str]) -> list[ParsedSentence]:
        parsed = [ParsedSentence(text, (), (), ()) for text in texts]
        queried = [i for i, text in enumerate(texts) if text.strip()]
        if not queried:
            return parsed
        document = self.pipeline([texts[i] for i in queried], tasks=["tok", "srl"])
        for i, words, predicates in zip(queried, _layer(document, "tok"), _layer(document, "srl"), strict=True):
            spans = word_spans(texts[i], words)
            parsed[i] = ParsedSentence(texts[i], spans, (), tuple(_frame(spans, found) for found in predicates))
        return parsed


def _layer(document: Mapping[str, Any], name: str) -> list[Any]:
    """A layer goes by its name or by name/standard ("tok/fine"): the first that the document holds."""
    found = next((layer for key, layer in document.items() if key.partition("/")[0] == name), None)
    if found is None:
        raise DataError(f"HanLP answered with {sorted(document)}: a layer {name!r} was expected")
    return list(found)


def _frame(words: Sequence[tuple[int, int]], labelled: Sequence[Sequence[Any]]) -> Frame:
    """HanLP gives one list per predicate: [text, label, begin, end) over words, one of them labelled PRED."""
    spans = [(label, begin, end) for _, label, begin, end in labelled]
    predicate = next((end - 1 for label, _, end in spans if label == PREDICATE), None)
    if predicate is None:
        raise DataError(f"HanLP answered with roles but no {PREDICATE}: {labelled}")
    arguments = (SentenceArgument(role, words[i][0], words[j - 1][1]) for role, i, j in spans if role != PREDICATE)
    return Frame(predicate, tuple(arguments))


def missing_of_hanlp(model: str) -> str:
    """What of HanLP is not on this machine, in one line; empty where nothing is missing. Nothing is downloaded."""
    if find_spec("hanlp") is None:
        return NOT_INSTALLED
    try:
        import hanlp
        from hanlp.utils.io_util import path_from_url
    except ImportError as error:
        return f"the package 'hanlp' cannot be imported: {error}"
    named = str(getattr(hanlp.pretrained.mtl, model, model))
    if not named.startswith(("http://", "https://")):
        return "" if Path(named).exists() else f"HanLP knows no model {model!r}, and there is no folder of this name"
    archive = Path(path_from_url(named))
    if archive.is_file() or archive.with_suffix("").is_dir():
        return ""
    return (
        f"HanLP's model {model} is not in {archive.parent}; HanLP gets it at first use where there is internet,"
        f" or put {named} there (HANLP_HOME names another folder than {archive.parents[1]})"
    )


def _load(model: str, device: str) -> Callable[..., Any]:
    chosen = choose_device(device)
    cards = [chosen.index] if chosen.type == "cuda" else -1  # of others than CUDA's HanLP knows nothing
    try:
        import hanlp

        return hanlp.load(getattr(hanlp.pretrained.mtl, model, model), devices=cards)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        raise FriendTrainingError(f"HanLP cannot be used: {missing_of_hanlp(model)}") from None
    except ImportError as error:  # a package beside it that is too old
        raise FriendTrainingError(f"HanLP cannot be used: {error}") from error
    except OSError as error:  # no internet, a folder that is none
        reason = missing_of_hanlp(model) or str(error).partition("\n")[0]
        raise FriendTrainingError(f"HanLP cannot be used: {reason}") from error

"""Encoders of any family: the vectors of transformers' own call, in every task, whatever they can and cannot do."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, CanineTokenizer, DistilBertConfig, DistilBertModel

from friend_training.core.task import FitPlan
from friend_training.data.synthetic import Domain, csrl_examples, generate, generate_sentences, rewriting_examples
from friend_training.errors import ConfigError
from friend_training.nn.encoder import Encoder, compute_in, load_encoder
from friend_training.nn.task import TorchTask
from friend_training.nn.tokenizer import Tokenizer
from friend_training.nn.training import TrainingSettings, make_optimizers
from friend_training.tasks.csrl.task import csrl_task, srl_task
from friend_training.tasks.parsing.constituency.task import constituency_task, tree_names
from friend_training.tasks.parsing.dependency.task import dependency_task
from friend_training.tasks.parsing.tagging.task import tag_names, tagging_task
from friend_training.tasks.rewriting.task import rewriting_task
from friend_training.types import (
    Bracket,
    Dialogue,
    Heads,
    HeadsExample,
    Predicate,
    Sentence,
    Tags,
    TagsExample,
    Tree,
    TreeExample,
    Turn,
    Words,
)
from helpers.encoder_families import FAMILIES, LIMIT, UNLIMITED, WITH_TYPES, fast_tokenizer, write_encoder

SETTINGS = TrainingSettings(batch_size=4, look_every=2)
ANY = pytest.mark.parametrize("family", list(FAMILIES))


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def find(family: str) -> Path:
        if family not in made:
            made[family] = write_encoder(tmp_path_factory.mktemp(family), family)
        return made[family]

    return find


def batch_of(pad_id: int) -> tuple[Tensor, Tensor]:
    """Two inputs of 7 and 4 pieces."""
    ids, mask = torch.arange(10, 24).view(2, 7), torch.ones(2, 7, dtype=torch.long)
    ids[1, 4:], mask[1, 4:] = pad_id, 0
    return ids, mask


@ANY
def test_vectors_are_those_of_transformers(folder_of: Callable[[str], Path], family: str) -> None:
    folder = folder_of(family)
    encoder, plain = load_encoder(folder).eval(), AutoModel.from_pretrained(str(folder)).eval()
    ids, mask = batch_of(Tokenizer.load(folder).pad_id)
    expected = plain(input_ids=ids, attention_mask=mask).last_hidden_state
    found = encoder(ids, torch.zeros_like(ids), mask)
    assert found.shape == (2, 7, encoder.width)
    torch.testing.assert_close(found[mask.bool()], expected[mask.bool()])
    alone = encoder(ids[1:, :4], torch.zeros_like(ids[1:, :4]), mask[1:, :4])  # padding changes nothing
    torch.testing.assert_close(found[1:, :4], alone, atol=1e-5, rtol=1e-5)


@ANY
def test_types_reach_those_that_have_them(folder_of: Callable[[str], Path], family: str) -> None:
    encoder = load_encoder(folder_of(family)).eval()
    ids, mask = batch_of(1)
    apart = (torch.arange(7) > 2).long().expand(2, 7)
    same = torch.equal(encoder(ids, apart, mask), encoder(ids, torch.zeros_like(ids), mask))
    assert same == (family not in WITH_TYPES)


@ANY
def test_a_mark_is_put_on_top_of_the_word_embeddings(folder_of: Callable[[str], Path], family: str) -> None:
    encoder = load_encoder(folder_of(family)).eval()
    ids, mask = batch_of(1)
    types = torch.zeros_like(ids)
    plain = encoder(ids, types, mask)
    nothing = torch.zeros(2, 7, encoder.words.embedding_dim)
    assert torch.equal(encoder(ids, types, mask, nothing), plain)
    mark = nothing.clone().index_fill_(1, torch.tensor([2]), 0.5).requires_grad_()
    encoder(ids, types, mask, mark)[:, 2].square().sum().backward()
    assert mark.grad is not None
    assert mark.grad[:, 2].any(dim=1).all()
    assert torch.equal(encoder(ids, types, mask), plain)  # nothing of it is left for the next one
    assert encoder.words.weight.grad is not None
    assert encoder.words.weight.grad.is_sparse
    # As if the words themselves were other ones.
    with torch.no_grad():
        encoder.words.weight[ids[0, 2]] += 0.5
    changed = encoder(ids[:1], types[:1], mask[:1])
    torch.testing.assert_close(changed, encoder(ids[:1], types[:1], mask[:1], nothing[:1]))
    with torch.no_grad():
        encoder.words.weight[ids[0, 2]] -= 0.5
    torch.testing.assert_close(encoder(ids[:1], types[:1], mask[:1], mark.detach()[:1]), changed)


def test_threads_do_not_mix_up_their_marks(folder_of: Callable[[str], Path]) -> None:
    encoder = load_encoder(folder_of("ernie")).eval()
    ids, mask = batch_of(0)
    types = torch.zeros_like(ids)
    marks = [None if number % 3 == 0 else torch.full((2, 7, 16), float(number)) for number in range(60)]
    alone = [encoder(ids, types, mask, mark) for mark in marks]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda mark: encoder(ids, types, mask, mark), marks))
    assert all(map(torch.equal, alone, together))


class TokensOnly(DistilBertModel):
    """An encoder that takes nothing but tokens, and uses its word embeddings twice."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.again = nn.Linear(config.dim, config.vocab_size, bias=False)
        self.again.weight = self.embeddings.word_embeddings.weight

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        found = super().forward(input_ids=input_ids, attention_mask=attention_mask)
        found.last_hidden_state = found.last_hidden_state + self.again(found.last_hidden_state).mean()
        return found


def test_what_takes_tokens_only_and_has_no_rows_of_its_own_is_trained_the_plain_way() -> None:
    config = DistilBertConfig(vocab_size=30, dim=8, n_layers=1, n_heads=2, hidden_dim=8)
    encoder = Encoder(TokensOnly(config))
    ids, mask = batch_of(0)
    mark = torch.zeros(2, 7, 8, requires_grad=True)
    optimizers = make_optimizers(encoder, encoder_rate=0.1, head_rate=0.1, weight_decay=0.0)
    encoder(ids, torch.zeros_like(ids), mask, mark).square().sum().backward()
    assert mark.grad is not None
    assert mark.grad.any()
    table = encoder.words.weight
    assert table.grad is not None
    assert not table.grad.is_sparse
    before = table.detach().clone()
    for optimizer in optimizers:
        optimizer.step()
    assert not torch.equal(table, before)


class Bypassing(DistilBertModel):
    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        vectors = nn.functional.embedding(input_ids, self.embeddings.word_embeddings.weight)
        return super().forward(inputs_embeds=vectors, attention_mask=attention_mask)


def test_a_mark_that_would_be_lost_is_refused() -> None:
    encoder = Encoder(Bypassing(DistilBertConfig(vocab_size=30, dim=8, n_layers=1, n_heads=2, hidden_dim=8)))
    ids, mask = batch_of(0)
    encoder(ids, torch.zeros_like(ids), mask)
    with pytest.raises(ConfigError, match="use 'after'"):
        encoder(ids, torch.zeros_like(ids), mask, torch.zeros(2, 7, 8))


@ANY
def test_attention_has_no_dropout_and_nothing_is_pooled(folder_of: Callable[[str], Path], family: str) -> None:
    folder = folder_of(family)
    model: Any = load_encoder(folder).model
    given = AutoConfig.from_pretrained(str(folder))
    names = [name for name in ("attention_probs_dropout_prob", "attention_dropout") if hasattr(given, name)]
    assert len(names) == 1
    assert getattr(model.config, names[0]) == 0.0
    assert getattr(model, "pooler", None) is None


@ANY
def test_it_computes_in_bf16(folder_of: Callable[[str], Path], family: str) -> None:
    encoder = load_encoder(folder_of(family)).eval()
    ids, mask = batch_of(1)
    exact = encoder(ids, torch.zeros_like(ids), mask)
    compute_in("bf16", encoder)
    mark = torch.zeros(2, 7, encoder.words.embedding_dim, requires_grad=True)
    rough = encoder(ids, torch.zeros_like(ids), mask, mark)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough[mask.bool()], exact[mask.bool()], atol=0.1, rtol=0.1)
    rough.square().sum().backward()
    assert mark.grad is not None
    assert mark.grad.isfinite().all()


# How long an input may be.


@ANY
def test_the_longest_input_is_as_long_as_the_encoder_takes(folder_of: Callable[[str], Path], family: str) -> None:
    folder = folder_of(family)
    longest = Tokenizer.load(folder).longest
    assert longest == (None if family in UNLIMITED else LIMIT)
    encoder = load_encoder(folder).eval()

    def encode(length: int) -> Tensor:
        ids = torch.full((1, length), 9)
        vectors: Tensor = encoder(ids, torch.zeros_like(ids), torch.ones_like(ids))
        return vectors

    if longest is None:
        assert encode(600).isfinite().all()
    else:
        assert encode(longest).isfinite().all()
        with pytest.raises((IndexError, RuntimeError)):
            encode(longest + 1)


def test_a_tokenizer_may_know_of_a_shorter_limit(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    for family in ("ernie", "modernbert"):
        shutil.copytree(folder_of(family), tmp_path / family)
        tokenizer = Tokenizer.load(tmp_path / family)
        tokenizer.backend.model_max_length = 30
        tokenizer.save(tmp_path / family)
        assert Tokenizer.load(tmp_path / family).longest == 30


def test_an_encoder_without_room_is_refused(tmp_path: Path) -> None:
    fast_tokenizer("wordpiece").save_pretrained(str(tmp_path))
    AutoConfig.for_model("bert", vocab_size=9, max_position_embeddings=5).save_pretrained(str(tmp_path))
    with pytest.raises(ConfigError, match="takes 5 tokens; at least 8"):
        Tokenizer.load(tmp_path)


LONG = "我喜欢看电影 " * 40


def _long_inputs(kind: str) -> list[Any]:
    if kind in ("csrl", "csrl-input", "rewriting"):
        turns = (Turn("A", LONG), Turn("B", "我喜欢"))
        return [
            Dialogue("context", turns, (Predicate(1, 3),)),
            Dialogue("utterance", turns[::-1], (Predicate(1, 3), Predicate(len(LONG) - 3, len(LONG) - 2))),
        ]
    if kind == "srl":
        return [Sentence("long", LONG, (Predicate(1, 3), Predicate(len(LONG) - 3, len(LONG) - 2)))]
    return [Words("long", ("See", "you", "on", "Tuesday") * 30)]


# Every task of the library.


def _words() -> tuple[Words, ...]:
    chinese = Words("zh", ("我", "喜欢", "看", "电影"))
    return Words("en", ("See", "you", "on", "Tuesday")), chinese, Words("odd", ("I", "  ", "don't", "zyzz"))


def _parsing_gold(kind: str) -> list[Any]:
    if kind == "tagging":
        return [TagsExample(words, Tags(("V", "N", "P", "N"))) for words in _words()]
    if kind == "dependency":
        return [HeadsExample(words, Heads((0, 1, 1, 3), ("a", "b", "b", "a"))) for words in _words()]
    tree = Tree((Bracket(0, 4, "S"), Bracket(2, 4, "PP")), ("V", "N", "P", "N"))
    return [TreeExample(words, tree) for words in _words()]


def gold_of(kind: str) -> list[Any]:
    made = generate(8, seed=1, domain=Domain.FILM)
    if kind.startswith("csrl"):
        return [example for example in csrl_examples(made) if example.roles]
    if kind == "rewriting":
        return list(rewriting_examples(made))
    return generate_sentences(8, seed=1) if kind == "srl" else _parsing_gold(kind)


def task_of(kind: str, encoder: Path) -> TorchTask:
    match kind:
        case "csrl":
            return csrl_task(encoder, SETTINGS, max_length=1000)
        case "csrl-input":
            return csrl_task(encoder, SETTINGS, max_length=1000, mark="input")
        case "rewriting":
            return rewriting_task(encoder, SETTINGS, max_length=1000)
        case "srl":
            return srl_task(encoder, SETTINGS, max_length=1000)
        case "tagging":
            return tagging_task(encoder, SETTINGS, **tag_names(gold_of(kind)))
        case "dependency":
            return dependency_task(encoder, SETTINGS, relations=("a", "b"))
        case _:
            return constituency_task(encoder, SETTINGS, **tree_names(gold_of(kind)))


KINDS = ("csrl", "csrl-input", "rewriting", "srl", "tagging", "dependency", "constituency")


@ANY
@pytest.mark.parametrize("kind", KINDS)
def test_every_task_learns_predicts_and_comes_back(
    folder_of: Callable[[str], Path], tmp_path: Path, family: str, kind: str
) -> None:
    """Inputs too long for the encoder are among them."""
    encoder, gold = folder_of(family), gold_of(kind)
    task = task_of(kind, encoder)
    task.fit(gold, (), dev=gold[:2], plan=FitPlan(seed=1, steps=2))
    learnt = task.network.encoder
    assert isinstance(learnt, Encoder)
    assert not torch.equal(learnt.words.weight, load_encoder(encoder).words.weight)
    inputs = [*task.definition.inputs_of(gold), *_long_inputs(kind)]
    assert all(len(units) for units in task.predict(inputs))
    before = task.predict(inputs)
    task.save(tmp_path)
    again = task_of(kind, encoder)
    again.load(tmp_path)
    assert again.predict(inputs) == before


@ANY
def test_what_is_too_long_is_cut_where_the_encoder_ends(folder_of: Callable[[str], Path], family: str) -> None:
    """The oldest context goes first; without a limit, only what `max_length` says."""
    longest = Tokenizer.load(folder_of(family)).longest
    for kind in ("csrl", "rewriting"):
        task = task_of(kind, folder_of(family))
        context, utterance = task.definition.input_items(_long_inputs(kind))
        rendered = context.rendered  # type: ignore[attr-defined]
        assert rendered.covering(1, 1, 3) is not None
        assert (rendered.covering(0, 0, 1) is None) == (longest is not None)
        assert rendered.covering(0, len(LONG) - 2, len(LONG) - 1) is not None
        for item in (context, utterance):
            assert item.length == longest if longest is not None else LIMIT < item.length <= 1000


# What is refused, and how.


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for open_it in (Tokenizer.load, load_encoder):
        with pytest.raises(ConfigError, match=r"was not found.*FRIEND_TRAINING_MODELS.*hub") as refused:
            open_it(tmp_path / "missing")
        assert "\n" not in str(refused.value)


def test_a_hub_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for open_it in (Tokenizer.load, load_encoder):
        with pytest.raises(ConfigError, match=r"'no-such/encoder' was not found.*downloaded before"):
            open_it("no-such/encoder")


def test_a_folder_that_holds_no_encoder(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"its config.json cannot be read"):
        Tokenizer.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(ConfigError, match=r"its config.json cannot be read .*unheard-of"):
        load_encoder(tmp_path)
    shutil.copy(folder_of("ernie") / "config.json", tmp_path)
    with pytest.raises(ConfigError, match="its weights cannot be read"):
        load_encoder(tmp_path)


def test_a_tokenizer_that_is_not_fast(tmp_path: Path) -> None:
    AutoConfig.for_model("canine", hidden_size=8, num_hidden_layers=1).save_pretrained(str(tmp_path))
    CanineTokenizer().save_pretrained(str(tmp_path))  # type: ignore[no-untyped-call]
    with pytest.raises(ConfigError, match="a fast tokenizer is needed"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize(
    ("family", "sizes", "reason"),
    [
        ("t5", {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}, "has a decoder too"),
        (
            "fnet",
            {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 8, "use_tpu_fourier_optimizations": False},
            "takes no attention_mask",
        ),
    ],
)
def test_a_model_that_is_no_such_encoder(tmp_path: Path, family: str, sizes: dict[str, Any], reason: str) -> None:
    model: Any = AutoModel.from_config(AutoConfig.for_model(family, vocab_size=30, **sizes))
    model.save_pretrained(str(tmp_path))
    with pytest.raises(ConfigError, match=reason):
        load_encoder(tmp_path)

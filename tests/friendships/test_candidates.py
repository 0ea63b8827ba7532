"""Finding friends: pairs that were made to be good, useless and copying are ranked as they were made."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from friend_training.data.catalogue import locate
from friend_training.data.readers.emotions import few_shot, read_cped_emotions, read_meld, split_by_dialogue
from friend_training.data.text_io import Problems
from friend_training.errors import ConfigError, DataError
from friend_training.friendships.candidates import Predicted, PredictedLine, means_of, rank_friends
from friend_training.friendships.polarity import CPED, MELD
from friend_training.tasks.sources import Rule, read_lexicon

EMOTIONS = ("joy", "love", "anger", "fear", "calm")
MEANS = {"joy": "good", "love": "good", "anger": "bad", "fear": "bad", "calm": None}


def predicted(name, gold, right, other, *, with_gold=True):
    labels = sorted(set(gold))
    rng = np.random.default_rng(len(name))
    lines = {}
    for place, (true, ok) in enumerate(zip(gold, right, strict=True)):
        wrong = [label for label in labels if label != true]
        label = true if ok else other.get(place, wrong[rng.integers(len(wrong))])
        lines[f"t{place}"] = PredictedLine(
            id=f"t{place}", label=label, confidence=0.5, gold=true if with_gold else None
        )
    return Predicted(name, lines)


def tasks(count=900, *, with_gold=True):
    """An emotion, a polarity whose errors are its own, one that errs where the emotion does, and one that guesses."""
    rng = np.random.default_rng(0)
    emotion = rng.choice(EMOTIONS, count)
    polarity = np.array([MEANS[one] or rng.choice(["good", "bad"]) for one in emotion])
    right = rng.random(count) < 0.6
    made = predicted("emotion", emotion, right, {}, with_gold=with_gold)
    said = [MEANS[made.lines[f"t{place}"].label] for place in range(count)]
    copying = {place: one for place, one in enumerate(said) if one is not None}
    return [
        made,
        predicted("polarity", polarity, rng.random(count) < 0.8, {}, with_gold=with_gold),
        predicted("copying", polarity, [one == two for one, two in zip(said, polarity, strict=True)], copying),
        predicted("guessing", polarity, rng.random(count) < 0.5, {}, with_gold=with_gold),
    ]


TABLES = {("emotion", friend): MEANS for friend in ("polarity", "copying", "guessing")}


def of(ranked, task, friend):
    return next(one for one in ranked if (one.task, one.friend) == (task, friend))


@pytest.mark.parametrize("means", [TABLES, None])
def test_friends_are_ranked_as_they_were_made(means):
    ranked = rank_friends(tasks(), means)
    for_emotion = [one for one in ranked if one.task == "emotion"]
    assert next(one.friend for one in for_emotion) == "polarity"
    good, copying, guessing = (of(ranked, "emotion", friend) for friend in ("polarity", "copying", "guessing"))
    assert good.lift > 0.05
    assert copying.lift < good.lift / 2
    assert copying.agreed > good.agreed, "agreement alone would have taken the one that copies"
    assert guessing.by_chance_alone
    assert not good.by_chance_alone
    assert abs(guessing.lift or 0.0) < 0.03


def test_the_numbers_are_those_of_their_definitions():
    made = tasks()
    found = of(rank_friends(made, TABLES), "emotion", "polarity")
    emotion, polarity = made[0].lines, made[1].lines
    told = [text for text in emotion if MEANS[emotion[text].label] is not None]
    agreed = [text for text in told if MEANS[emotion[text].label] == polarity[text].label]
    assert found.texts == len(told)
    assert found.agreed == pytest.approx(len(agreed) / len(told))
    # Of a text whose gold is calm, polarity's answer can be neither right nor wrong: it is in no share.
    known = [text for text in told if MEANS[emotion[text].gold] is not None]
    wrong = [text for text in known if emotion[text].label != emotion[text].gold]
    assert found.wrong == pytest.approx(len(wrong) / len(known))
    both = set(agreed) & set(known)
    assert found.wrong_if_agreed == pytest.approx(len(both & set(wrong)) / len(both))
    assert found.by_chance == pytest.approx(0.5, abs=0.04)
    assert found.wrong_if_independent < found.wrong


def test_a_table_that_is_learned_comes_close_to_the_true_one():
    found, given = (of(rank_friends(tasks(), means), "emotion", "polarity") for means in (None, TABLES))
    assert found.agreed == pytest.approx(given.agreed, abs=0.05)
    assert found.lift == pytest.approx(given.lift, abs=0.05)


def test_learning_a_table_does_not_make_a_stranger_a_friend():
    rng = np.random.default_rng(7)
    noise = [
        Predicted(
            name,
            {
                f"t{n}": PredictedLine(id=f"t{n}", label=str(label))
                for n, label in enumerate(rng.integers(0, size, 300))
            },
        )
        for name, size in (("many", 20), ("few", 4))
    ]
    assert all(one.by_chance_alone for one in rank_friends(noise))


def test_without_gold_excess_ranks():
    made = [one for one in tasks(with_gold=False) if one.task != "copying"]
    ranked = rank_friends(made, {pair: table for pair, table in TABLES.items() if pair[1] != "copying"})
    assert all(one.lift is None for one in ranked)
    assert {ranked[0].task, ranked[0].friend} == {"emotion", "polarity"}
    assert [one.excess for one in ranked] == sorted((one.excess for one in ranked), reverse=True)


def test_too_few_texts_in_common_are_refused():
    one, other, *_ = tasks(150)
    few = Predicted("few", dict(list(other.lines.items())[:40]))
    with pytest.raises(DataError, match="40 texts in common, expected 100"):
        rank_friends([one, few])
    with pytest.raises(ConfigError, match="two tasks or more"):
        rank_friends([one])
    with pytest.raises(ConfigError, match="emotion-stars"):
        rank_friends([one, other], {("emotion", "stars"): MEANS})


def test_means_are_given_by_pairs_or_of_two_tasks_as_one_table():
    table = {"joy": "good"}
    assert means_of({"a-b": table, "c-b": table}, ["a", "b", "c"]) == {("a", "b"): table, ("c", "b"): table}
    assert means_of(table, ["a", "b"]) == {("a", "b"): table}
    for wrong in (["joy"], {"a-d": table}, {"joy": "good"}):
        with pytest.raises(ConfigError, match="pairs"):
            means_of(wrong, ["a", "b", "c"])


EXPERIMENTS = Path(__file__).parents[2] / "experiments"
WORD_LISTS, EMOTIONS_RECORDED = EXPERIMENTS / "emotions", EXPERIMENTS / "archive" / "emotions"


def few_shot_predictions(corpus, data_dir, seed):
    """What Base of experiments/meld predicts for dev, and what the list of words says."""
    if corpus == "meld":
        train, dev = (_read(data_dir, f"emo_meld/{part}_sent_emo.csv", read_meld) for part in ("train", "dev"))
        words = {"token_pattern": r"[\w']+|[!?.]", "ngram_range": (1, 2), "min_df": 2}
    else:
        valid, test = (_read(data_dir, f"cped/{part}_split.csv", read_cped_emotions) for part in ("valid", "test"))
        first = split_by_dialogue(valid, {"dev": 300, "train": None})
        train, dev = [*first["train"], *split_by_dialogue(test, {"test": 800, "train": None})["train"]], first["dev"]
        words = {"analyzer": "char", "ngram_range": (1, 2), "min_df": 3}
    shot = few_shot(train, 100, pool=6000, seed=seed)
    features = TfidfVectorizer(sublinear_tf=True, **words).fit([one.text.text for one in shot.pool])
    texts = [one.text.text for one in dev]
    made = []
    for task, gold in (("polarity", shot.polarity_gold), ("emotion", shot.emotion_gold)):
        model = LogisticRegression(C=10, max_iter=200, tol=1e-3, class_weight="balanced")
        model.fit(features.transform([one.text.text for one in gold]), [getattr(one, task) for one in gold])
        p = model.predict_proba(features.transform(texts))
        labels = model.classes_[p.argmax(1)].tolist()
        made.append(_as_predicted(task, dev, labels, [getattr(one, task) for one in dev], p.max(1).tolist()))
    language, spaced = {"meld": ("english", True), "cped": ("chinese", False)}[corpus]
    lexicon = replace(read_lexicon(WORD_LISTS / f"{language}.txt", spaced=spaced), undecided="neutral")
    said = Rule("lexicon", lexicon, version=language).predict([one.text for one in dev])
    labels = [units[0].label for units in said]
    return [*made, _as_predicted("lexicon", dev, labels, [one.polarity for one in dev], [1.0] * len(dev))]


def _as_predicted(task, dev, labels, gold, confidence):
    columns = zip((one.text.id for one in dev), labels, confidence, gold, strict=True)
    return Predicted(task, {i: PredictedLine(id=i, label=a, confidence=min(c, 1.0), gold=g) for i, a, c, g in columns})


def _read(data_dir, name, read):
    path = locate(name, data_dir)
    return list(read(path, Problems(path, strict=True)))


@pytest.mark.realdata
def test_pairs_that_were_measured_are_ranked_as_friend_training_gained_from_them(data_dir):
    """FDT − SST, and for a list of words as a third friend FDT with three − FDT: test macro F1 as recorded."""
    lines = (EMOTIONS_RECORDED / "results.jsonl").read_text(encoding="utf-8").splitlines()
    scores = {}
    for one in map(json.loads, lines):
        for task in ("polarity", "emotion"):
            scores[one["corpus"], one["seed"], one["method"], task] = one[task]["test"]["macro_f1"]
    found = {}
    for corpus, sets in (("meld", MELD), ("cped", CPED)):
        table = {label: sorted(allowed) for label, allowed in sets.items()}
        means = {("emotion", "polarity"): table, ("emotion", "lexicon"): table}
        for seed in range(1, 6):
            for one in rank_friends(few_shot_predictions(corpus, data_dir, seed), means):
                if one.task != "lexicon":
                    more, less = ("fdt-three", "fdt") if one.friend == "lexicon" else ("fdt", "sst")
                    gained = scores[corpus, seed, more, one.task] - scores[corpus, seed, less, one.task]
                    found.setdefault((corpus, one.task, one.friend), []).append((one.lift, gained))
    cells = [cell for of_pair in found.values() for cell in of_pair]
    assert (len(found), len(cells)) == (8, 40)
    assert spearmanr(*zip(*cells, strict=True)).statistic > 0.3
    assert spearmanr(*np.mean(list(found.values()), 1).T).statistic > 0.6

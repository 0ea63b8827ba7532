"""The section of a config that says where data come from: made by us, public, or your own files."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from friend_training.scenarios.section import Count, Section

PoolCorpus = Literal["lccc", "xdailydialog", "cped", "corecode", "kdconv", "duconv-raw"]


class EmbeddedData(Section):
    """Dialogues that the project makes itself. Gold of the two tasks comes from different dialogues.

    `domain` is where gold comes from, `target` what dev, test and the unlabeled pool are made of.
    """

    kind: Literal["embedded"]
    domain: Literal["film", "travel"]
    target: Literal["film", "travel"]
    csrl_labels: Count
    rewriting_labels: Count
    dev: Count
    test: Count
    pool: Count
    bridge_sentences: Count


class PublicData(Section):
    """The public datasets, found by --data-dir or FRIEND_TRAINING_DATA, in the splits that all experiments share.

    Labels are so many predicates or dialogues drawn with the run's seed; null takes all there are. `pool_of`
    'labelled' makes the pool of training dialogues that are not among the drawn ones, whose hidden gold can tell which
    pseudo-labels are right; 'chats' are dialogues that nobody has labelled. `pool_corpora` are the chats to take, as
    many of each; empty is LCCC as in the paper, and others only when it is used up (corpora/pool.py).
    `dev` is so many predicates and dialogues of dev; null takes all there are.
    `finder` finds the predicates of chats: LTP, from the folder `ltp`, or the bridge, where that is HanLP; then `ltp`
    may be null.
    """

    kind: Literal["public"]
    scenario: Literal["few-shot", "domain-generalisation"]
    csrl_labels: Count | None
    rewriting_labels: Count | None
    dev: Count | None
    pool: Count
    finder: Literal["ltp-verbs", "ltp-framed-verbs", "hanlp-frames"]
    ltp: str | None
    pool_of: Annotated[Literal["chats", "labelled"], Field(exclude_if=lambda said: said == "chats")] = "chats"
    pool_corpora: Annotated[tuple[PoolCorpus, ...], Field(exclude_if=lambda names: not names)] = ()

    @field_validator("ltp")
    @classmethod
    def _ltp_is_named_where_it_is_used(cls, ltp: str | None, given: ValidationInfo) -> str | None:
        if ltp is None and given.data.get("finder") != "hanlp-frames":
            raise ValueError("this finder is LTP's: name its folder, or let finder be hanlp-frames")
        return ltp

    @field_validator("pool_of")
    @classmethod
    def _labels_are_left_over(cls, pool_of: str, given: ValidationInfo) -> str:
        if pool_of == "labelled" and given.data.get("scenario") != "few-shot":
            raise ValueError("labels are left over only in few-shot: all others of the target domain are dev or test")
        return pool_of


class FileData(Section):
    """Your own files, in any known format. Predicates of the pool are those that the file gives.

    A pool that is a folder, a pattern with * or an address (s3://…) is one of shards (corpora/sharded_pool.py): it is
    never held in memory, and its broken dialogues are set aside.
    """

    kind: Literal["files"]
    csrl_train: str
    csrl_dev: str
    csrl_test: str
    rewriting_train: str
    rewriting_dev: str
    rewriting_test: str
    pool: str

"""Batches side by side: the order, the threads, and what is left as it was."""

import threading

import pytest
import torch

from friend_training.nn.training import side_by_side
from helpers import patience


def test_answers_come_in_order_and_from_two_threads_with_one_each(two_threads: None) -> None:
    both_at_work = threading.Barrier(2, timeout=patience.ANSWER)  # broken if one thread had to do both

    def work(part: int) -> tuple[int, int]:
        both_at_work.wait()
        return part, torch.get_num_threads()

    assert list(side_by_side(work, [0, 1, 2, 3])) == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert torch.get_num_threads() == 2


def test_one_part_gets_all_threads(two_threads: None) -> None:
    assert list(side_by_side(lambda part: torch.get_num_threads(), ["alone"])) == [2]


def test_the_number_of_threads_is_given_back_after_an_error(two_threads: None) -> None:
    def work(part: int) -> int:
        raise ValueError(part)

    with pytest.raises(ValueError, match="0"):
        list(side_by_side(work, [0, 1]))
    assert torch.get_num_threads() == 2

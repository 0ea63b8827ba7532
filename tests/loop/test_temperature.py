"""Temperature scaling finds the distortion of scores again."""

import numpy as np
import pytest

from friend_training.loop.thresholds import apply_temperature, fit_temperature


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_is_found_again(temperature: float) -> None:
    generator = np.random.default_rng(0)
    truth = generator.uniform(0.02, 0.98, 20_000)
    correct = generator.random(20_000) < truth
    distorted = apply_temperature(truth, 1 / temperature)
    found = fit_temperature(distorted, correct)
    assert found == pytest.approx(temperature, rel=0.05)
    assert np.abs(apply_temperature(distorted, found) - truth).max() < 0.02


def test_temperature_keeps_the_order_and_takes_extremes() -> None:
    scaled = apply_temperature([0.0, 0.2, 0.5, 0.9, 1.0], 2.0)
    assert (np.diff(scaled) > 0).all()
    assert scaled[2] == 0.5
    assert np.isfinite(fit_temperature([0.0, 1.0], [True, False]))
    with pytest.raises(ValueError, match="positive"):
        apply_temperature([0.5], 0.0)

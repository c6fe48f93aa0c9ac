"""Boxes are reversible: a short list of the suite passes with each of them flipped, and with random
combinations. HAK_SEED=N tries another combination."""

from __future__ import annotations

import os
import random

import pytest

from preload import LAB, Arm, passes, program
from registry import Box, boxes, setting

PROGRAMS = (
    ("k01_alignment",),
    ("k07_usable_size",),
    ("k11_entry_points", "every_pair"),
    ("k12_wrong_size",),
    ("k13_fork", "50"),
    ("k18_address_space", "realloc_across_kinds"),
    ("k25_statistics", "after_threads"),
    ("stress", "4", "10", "5000"),
)
BOUNDED = (
    ("k14_thread_ends", "block_outlives_thread"),
    ("k16_producer_consumer", "consumer_also_allocates"),
)
GROWS = "HAKMEM_DRAIN_SUPPRESSED"  # a fault on purpose: blocks never return to their slabs
KNOWN = boxes()
FLIPS = [(box, value) for box in KNOWN.values() for value in box.others]
SEEDS = [int(os.environ["HAK_SEED"])] if "HAK_SEED" in os.environ else list(range(12))

pytestmark = pytest.mark.slow


def all_pass(env: dict[str, str]) -> None:
    arm = Arm(" ".join(f"{name}={value}" for name, value in env.items()), LAB, env)
    grows = env.get(GROWS, "0") != "0"
    for name, *words in PROGRAMS if grows else PROGRAMS + BOUNDED:
        passes(arm, [program(name), *words])


@pytest.mark.parametrize(("box", "value"), FLIPS, ids=lambda p: p.id if isinstance(p, Box) else p)
def test_a_box_flipped(box: Box, value: int) -> None:
    all_pass(setting(box, value, KNOWN))


def is_possible(env: dict[str, str]) -> bool:
    """Whether nothing that excludes another is on beside it, and nothing lacks what it requires."""

    def is_on(name: str) -> bool:
        box = KNOWN[name]
        return box.is_on(int(env.get(box.env, box.default)))

    on = [box for box in KNOWN.values() if is_on(box.id)]
    return all(all(map(is_on, box.requires)) and not any(map(is_on, box.excludes)) for box in on)


def combination(seed: int) -> dict[str, str]:
    """A value for every data and slow box, and at most one variant: that one is built."""
    chance = random.Random(seed)
    while True:
        env: dict[str, str] = {}
        for box in KNOWN.values():
            if not box.is_shape:
                values = [box.minimum, box.default, box.maximum]
                values.append(chance.randint(box.minimum, box.maximum))
                env[box.env] = str(chance.choice(values))
        shape = chance.choice([None, *(box for box in KNOWN.values() if box.is_shape)])
        if shape is not None:
            env |= setting(shape, 1 - shape.default if shape.is_switch else shape.maximum, KNOWN)
        if is_possible(env):
            return env


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_combination(seed: int) -> None:
    env = combination(seed)
    print(f"HAK_SEED={seed}:", *(f"{name}={value}" for name, value in env.items()))
    all_pass(env)

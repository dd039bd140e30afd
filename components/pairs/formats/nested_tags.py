"""Nested tags, generated: `<etdomp> <pegsh> </pegsh> <au> </au> </etdomp>`.

As in Jozefowicz et al. (2015), "An Empirical Exploration of Recurrent Network Architectures",
section 3: with probability 1/2, and always after `options.steps` steps, the tag that was opened
last is closed, or, if none is open, the passage ends; else a new tag is opened.
"""

from collections.abc import Mapping
from random import Random
from string import ascii_lowercase
from typing import Any

from pairloom.components.pairs.formats.generated import Generated
from pairloom.components.pairs.formats.options import Option

__all__ = ["NestedTags"]

SHORTEST, LONGEST = 2, 10
"""Letters of a tag."""


class NestedTags(Generated):
    """One field, a passage that begins with a tag and ends when the last one is closed."""

    name = "xml"
    held = ("the passage",)
    options: Mapping[str, Option] = {
        **Generated.options,
        "steps": Option(50, at_least=1, at_most=10_000),
    }

    def make(self, number: int, random: Random, options: Mapping[str, Any]) -> tuple[Any, ...]:
        del number
        # The first tag is always opened: an empty passage would teach nothing.
        opened = [_tag(random)]
        parts = [f"<{opened[0]}>"]
        step = 1
        while True:
            if step >= options["steps"] or random.random() < 0.5:
                if not opened:
                    return (" ".join(parts),)
                parts.append(f"</{opened.pop()}>")
            else:
                opened.append(_tag(random))
                parts.append(f"<{opened[-1]}>")
            step += 1


def _tag(random: Random) -> str:
    return "".join(random.choices(ascii_lowercase, k=random.randint(SHORTEST, LONGEST)))

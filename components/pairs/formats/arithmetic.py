"""Sums and differences with letters strewn among the digits, generated.

`3e36d9-h1h39f94eeh43keg3c=` is 3369 - 13994433, and the result `-13991064`: Jozefowicz et al.
(2015), "An Empirical Exploration of Recurrent Network Architectures", section 3.
"""

from collections.abc import Mapping
from random import Random
from string import ascii_lowercase
from typing import Any

from pairloom.components.pairs.formats.generated import Generated
from pairloom.components.pairs.formats.options import Option

__all__ = ["Arithmetic"]

MOST_LETTERS = 3
"""How many letters stand between two characters, at most."""


class Arithmetic(Generated):
    """The first field is the problem, the second its result.

    `options.digits` is the length of the longest numbers; every length up to it is as frequent.
    """

    name = "arithmetic"
    held = ("the problem", "its result")
    # Numbers of thousands of digits cannot be printed, and no network would add them.
    options: Mapping[str, Option] = {
        **Generated.options,
        "digits": Option(8, at_least=1, at_most=100),
    }

    def make(self, number: int, random: Random, options: Mapping[str, Any]) -> tuple[Any, ...]:
        del number
        first, second = (_number(random, random.randint(1, options["digits"])) for _ in range(2))
        minus = random.random() < 0.5
        plain = f"{first}{'-' if minus else '+'}{second}"
        problem = "".join(char + _letters(random) for char in plain) + "="
        return problem, str(first - second if minus else first + second)


def _number(random: Random, digits: int) -> int:
    return random.randrange(10 ** (digits - 1) if digits > 1 else 0, 10**digits)


def _letters(random: Random) -> str:
    return "".join(random.choices(ascii_lowercase, k=random.randint(0, MOST_LETTERS)))

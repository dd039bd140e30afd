"""How long a training will take, told once its first steps are measured."""

from dataclasses import dataclass, field

# The first ones trace, and tell nothing of those to come.
_NOT_COUNTED = 3
_MEASURED = 20
_MEASURED_SECONDS = 10.0
# Of what is over so soon there is no need to speak.
_SHORT_SECONDS = 60.0


@dataclass
class Estimate:
    """Takes the seconds of each step, and says once how long all will take.

    Args:
        steps: Steps that are to be done, at most.
        seconds: The limit of time; 0: none.
    """

    steps: int
    seconds: float = 0.0
    _taken: list[float] = field(default_factory=list, repr=False)
    _told: bool = field(default=False, repr=False)

    def add(self, taken: float, step: int, spent: float) -> str:
        """What there is to say after a step; mostly nothing.

        Args:
            taken: The seconds of this step.
            step: The steps done so far, those before a stop too.
            spent: The seconds of the training so far.
        """
        if self._told:
            return ""
        self._taken.append(taken)
        counted = self._taken[_NOT_COUNTED:]
        if len(counted) < _MEASURED and sum(counted) < _MEASURED_SECONDS:
            return ""
        self._told = True
        if not counted:
            return ""
        each = sum(counted) / len(counted)
        left = (self.steps - step) * each
        measured = f"by {len(counted)} steps of {each:.2g} s"
        if self.seconds and left > self.seconds - spent:
            reached = step + int((self.seconds - spent) / each)
            return (
                f"`training.minutes`, {self.seconds / 60:g}, will end the training near step "
                f"{reached:,} of {self.steps:,} on this machine, {measured}: a faster one gets "
                f"further, and scores better. All steps, by `--set training.minutes=0`, would take "
                f"about {_minutes(spent + left)}."
            )
        if left < _SHORT_SECONDS:
            return ""
        return (
            f"training will take about {_minutes(left)} for {self.steps - step:,} steps, {measured}"
        )


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"

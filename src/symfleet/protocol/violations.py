"""Two kinds of broken rules, and the stories that come with them.

`LocalProtocolError`: this process broke its own rules; it is raised and ends the epoch with 70.
`RemoteViolation`: the peer sent something that its table does not allow; it is a value, counted and
noted, because nothing that arrives from outside may end a machine.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.errors import InternalError
from symfleet.types import DispatchToken, SlotAddress

Subject = DispatchToken | SlotAddress | int
"""What a story is about: a delivery, a slot, or a rank."""

_LINES_MAX: Final = 64
_SUBJECTS_MAX: Final = 4096
"""For a coordinator, with hundreds of slots."""


class LocalProtocolError(InternalError):
    """A machine was asked for a transition that its table does not have."""


@dataclass(frozen=True, slots=True)
class RemoteViolation:
    """A peer's message that does not belong there, with what led to it."""

    rank: int
    what: str
    story: str


class Chronicle:
    """The last lines of what happened, by subject; bounded, for error reports and tests.

    The least recently mentioned subjects are forgotten first, and of each its oldest lines."""

    __slots__ = ("_stories", "_subjects_max")

    def __init__(self, subjects_max: int = _SUBJECTS_MAX) -> None:
        """`subjects_max`: more than are under way at a time."""
        self._subjects_max = subjects_max
        self._stories: OrderedDict[Subject, deque[tuple[float, str]]] = OrderedDict()

    def note(self, now: float, what: str, *subjects: Subject) -> None:
        """Add a line to the story of each subject."""
        stories = self._stories
        for subject in subjects:
            story = stories.get(subject)
            if story is None:
                story = stories[subject] = deque(maxlen=_LINES_MAX)
                if len(stories) > self._subjects_max:
                    stories.popitem(last=False)
            else:
                stories.move_to_end(subject)
            story.append((now, what))

    def story(self, subject: Subject) -> Sequence[str]:
        """Return the lines about a subject, oldest first."""
        return [f"{now:.3f} {what}" for now, what in self._stories.get(subject, ())]

    def last(self, subject: Subject, lines: int) -> str:
        """Return the end of a story in one line."""
        return "; ".join(self.story(subject)[-lines:])

    def broken(self, what: str, subject: Subject) -> LocalProtocolError:
        """Return the error for a rule that we broke, with the subject's story."""
        return LocalProtocolError(
            what,
            where=str(subject),
            why=self.last(subject, 12) or "nothing happened to it before",
            hint="this is a defect of symfleet: please report it with this text",
        )

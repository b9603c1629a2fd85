"""Be a symfleet whose worker cannot say how one input went. Arguments: the input, how often, and a
command line. A RESULT of that input then has a body that is none; its token is right."""

import hashlib
import sys

from symfleet.protocol import messages
from symfleet.protocol.events import Send
from symfleet.runtime import worker_loop

word, left = sys.argv.pop(1), [None] * int(sys.argv.pop(1))
digest = hashlib.sha256(word.encode()).hexdigest()
honest_send = worker_loop.WorkerLoop._send


def send(loop, action):
    """Spoil what is to be spoilt, also when it is said again."""
    opened = loop._machine._codec.open(action.frame)
    header, message = opened.header, opened.message
    names = [getattr(item, "input_id", "") for item in getattr(message, "items", ())]
    if isinstance(message, messages.Result) and digest in names and left:
        if not header.repeat:
            left.pop()
        frame = loop._machine._codec.seal_as(
            messages.Result,
            {"spoilt": True},
            slot=header.slot,
            incarnation=header.incarnation,
            token=header.token,
            repeat=header.repeat,
        )
        action = Send(action.rank, frame)
    honest_send(loop, action)


worker_loop.WorkerLoop._send = send

from symfleet.cli.main import main  # noqa: E402

main()

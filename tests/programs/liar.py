"""Be a symfleet whose worker lies about its deliveries. Arguments: a file, where it writes down
what it has done, the order of RESULT and READY (`result` or `ready` first), and a command line.

Each finished delivery gets the next trick. Tricks that cost a delivery its RESULT are played on
items that were not tricked before, so that each item is recovered once. What a trick must count is
written down: counter, reason, amount."""

import json
import secrets
import sys
from collections import Counter

from symfleet.protocol import codec, messages
from symfleet.protocol.events import Send
from symfleet.protocol.tokens import NO_TOKEN
from symfleet.runtime import worker_loop

path, order = sys.argv.pop(1), sys.argv.pop(1)
honest_send = worker_loop.WorkerLoop._send
SIZES = (0, 1, 1000, (4 << 20) - codec.HEADER_BYTES, 8 << 20)


class Liar:
    """What one worker says instead of the truth."""

    def __init__(self, loop):
        self.loop = loop
        self.codec = loop._machine._codec
        self.counts = Counter()
        self.recovered = 0
        self.items = set()  # those that were tricked
        self.results = {}  # per slot: RESULT that waits for its READY
        self.before = {}  # per slot: RESULT and READY of the last delivery that ended well
        self.tricks = self.all_tricks()
        self.begun = set()
        self.played = []

    def send(self, rank, frame):
        honest_send(self.loop, Send(rank, frame))

    def count(self, name, reason, amount=1):
        self.counts[f"{name}/{reason}"] += amount

    def note(self):
        told = {"counts": self.counts, "recovered": self.recovered, "played": self.played}
        with open(path, "w") as file:
            json.dump(told, file)

    def says(self, action):
        """Say what the machine wants to be said, or something else."""
        opened = self.codec.open(action.frame)
        header, message = opened.header, opened.message
        if header.repeat or header.slot is None:
            self.send(action.rank, action.frame)
        elif isinstance(message, messages.Result):
            self.results[header.slot] = (action, header, message)
        elif isinstance(message, messages.Ready) and message.completed is None:
            self.begin(action, header)
        elif isinstance(message, messages.Ready):
            self.finish(action.rank, self.results.pop(header.slot), (action, header, message))
        else:
            self.send(action.rank, action.frame)

    def begin(self, action, header):
        """Before its first READY a slot has nothing: a RESULT for it is unowned."""
        if header.incarnation not in self.begun:
            self.begun.add(header.incarnation)
            for token in (NO_TOKEN, secrets.token_hex(32)):
                self.send(action.rank, self.seal(messages.Result(()), header, token))
                self.count("quarantined_results", "unowned")
            self.note()
        self.send(action.rank, action.frame)

    def finish(self, rank, result, ready):
        """A delivery is done, and still in flight as far as anybody knows: play a trick."""
        slot, self.lost = result[1].slot, False
        trick = next(self.tricks, None)
        if trick is not None:
            trick(rank, slot, result, ready)
        else:
            self.tell(rank, result[0].frame, ready[0].frame)
        if not self.lost:
            # The RESULT of one that was lost would be good news, until it is recovered.
            self.before[slot] = (result, ready)
        self.note()

    def tell(self, rank, result, ready):
        """Say both in the order that was asked for; None is not said."""
        pair = (result, ready) if order == "result" else (ready, result)
        for frame in pair:
            if frame is not None:
                self.send(rank, frame)

    def seal(self, content, header, token, kind=messages.Result):
        return self.codec.seal_as(
            kind, content, slot=header.slot, incarnation=header.incarnation, token=token
        )

    def with_body(self, kind, size, header):
        """Return a frame whose body is no message, of any size, its checksum right."""
        sealed = self.seal(b"", header, header.token, kind)
        head = bytearray(sealed[: codec.HEADER_BYTES])
        body = secrets.token_bytes(min(size, 1 << 16)).ljust(size, b"\xc1")
        head[80:84] = len(body).to_bytes(4, "little")
        crc = codec.zlib.crc32(body, codec.zlib.crc32(bytes(head[:84])))
        return bytes(head[:84]) + crc.to_bytes(4, "little") + body

    # ---- tricks ------------------------------------------------------------------------------

    def all_tricks(self):
        for size in SIZES:
            yield lambda *a, size=size: self.bad_result(*a, size=size)
        yield lambda *a: self.bad_result(*a, size=None)
        yield self.no_result
        yield self.result_of_before
        yield self.result_of_nobody
        yield self.result_of_another_slot
        yield self.result_of_another_rank
        yield self.damaged_result
        for said in (None, "xyz", 7, "A" * 64, secrets.token_hex(32)):
            yield lambda *a, said=said: self.odd_ready(*a, said=said)
        for size in SIZES:
            yield lambda *a, size=size: self.ready_with_body(*a, size=size)
        yield self.ready_of_before
        yield self.ready_of_another_slot

    def fresh(self, result):
        """Whether none of its items was tricked before."""
        items = {item.work_id for item in result[2].items}
        if items & self.items:
            return False
        self.items |= items
        return True

    def bad_result(self, rank, slot, result, ready, size):
        """Missing token (size None), or a body that is no RESULT."""
        if not self.fresh(result):
            self.put_off(lambda *a: self.bad_result(*a, size=size), rank, result, ready)
            return
        header = result[1]
        if size is None:
            frame = self.seal(result[2], header, NO_TOKEN)
            self.count("quarantined_results", "missing")
        else:
            frame = self.with_body(messages.Result, size, header)
            too_large = size + codec.HEADER_BYTES > 4 << 20
            name = "quarantined_frames" if too_large else "quarantined_results"
            self.count(name, "too_large" if too_large else "malformed")
        self.lose(result, f"bad result {size}")
        self.tell(rank, frame, ready[0].frame)

    def no_result(self, rank, slot, result, ready):
        """The RESULT stays away."""
        if not self.fresh(result):
            self.put_off(self.no_result, rank, result, ready)
            return
        self.lose(result, "no result")
        self.tell(rank, None, ready[0].frame)

    def put_off(self, trick, rank, result, ready):
        rest = self.tricks

        def again():
            yield trick
            yield from rest

        self.tricks = again()
        self.tell(rank, result[0].frame, ready[0].frame)

    def lose(self, result, what):
        self.lost = True
        self.recovered += len(result[2].items)
        self.played.append(what)

    def extra(self, rank, frame, result, ready, name, reason):
        """Say something more while the delivery is in flight, then the truth."""
        self.send(rank, frame)
        self.count(name, reason)
        self.played.append(f"{name} {reason}")
        self.tell(rank, result[0].frame, ready[0].frame)

    def result_of_before(self, rank, slot, result, ready):
        if slot not in self.before:
            self.put_off(self.result_of_before, rank, result, ready)
            return
        frame = self.before[slot][0][0].frame
        self.extra(rank, frame, result, ready, "quarantined_results", "stale")

    def result_of_nobody(self, rank, slot, result, ready):
        frame = self.seal(result[2], result[1], secrets.token_hex(32))
        self.extra(rank, frame, result, ready, "quarantined_results", "stale")

    def result_of_another_slot(self, rank, slot, result, ready):
        """A token that is in flight, or was, in another slot."""
        others = [pair for other, pair in self.before.items() if other != slot]
        if not others:
            self.put_off(self.result_of_another_slot, rank, result, ready)
            return
        frame = self.seal(others[0][0][2], result[1], others[0][0][1].token)
        self.extra(rank, frame, result, ready, "quarantined_results", "stale")

    def result_of_another_rank(self, rank, slot, result, ready):
        forger = codec.Codec(
            self.codec._campaign.hex(), self.codec._epoch, self.codec._rank + 1, 4 << 20
        )
        header = result[1]
        frame = forger.seal(
            result[2], slot=header.slot, incarnation=header.incarnation, token=header.token
        )
        self.extra(rank, frame, result, ready, "quarantined_frames", "sender")

    def damaged_result(self, rank, slot, result, ready):
        frame = bytearray(result[0].frame)
        frame[-1] ^= 1
        self.extra(rank, bytes(frame), result, ready, "quarantined_frames", "checksum")

    def odd_ready(self, rank, slot, result, ready, said):
        frame = self.seal(messages.Ready(said, 0), result[1], NO_TOKEN, messages.Ready)
        valid = isinstance(said, str) and len(said) == 64 and said == said.lower()
        reason = "missing" if said is None else "stale" if valid else "malformed"
        self.extra(rank, frame, result, ready, "quarantined_ready", reason)

    def ready_with_body(self, rank, slot, result, ready, size):
        frame = self.with_body(messages.Ready, size, result[1])
        too_large = size + codec.HEADER_BYTES > 4 << 20
        name = "quarantined_frames" if too_large else "quarantined_ready"
        reason = "too_large" if too_large else "malformed"
        self.extra(rank, frame, result, ready, name, reason)

    def ready_of_before(self, rank, slot, result, ready):
        if slot not in self.before:
            self.put_off(self.ready_of_before, rank, result, ready)
            return
        frame = self.before[slot][1][0].frame
        self.extra(rank, frame, result, ready, "quarantined_ready", "stale")

    def ready_of_another_slot(self, rank, slot, result, ready):
        others = [pair for other, pair in self.before.items() if other != slot]
        if not others:
            self.put_off(self.ready_of_another_slot, rank, result, ready)
            return
        frame = self.seal(others[0][1][2], result[1], NO_TOKEN, messages.Ready)
        self.extra(rank, frame, result, ready, "quarantined_ready", "stale")


liars = {}


def send(loop, action):
    """Let this worker's liar say it."""
    if loop not in liars:
        liars[loop] = Liar(loop)
    liars[loop].says(action)


worker_loop.WorkerLoop._send = send

from symfleet.cli.main import main  # noqa: E402

main()

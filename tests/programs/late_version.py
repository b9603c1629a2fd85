"""Be a symfleet that passes the roll call and then speaks as another version. Arguments: `protocol`
or `symfleet`, the version, and a command line."""

import sys

import symfleet
from symfleet.protocol import codec
from symfleet.runtime import introduction, roll_call

what, value = sys.argv.pop(1), sys.argv.pop(1)
present = roll_call.present


def present_and_change(program: str) -> roll_call.RollCall:
    """Answer as one of this version, and be another one from then on."""
    answer = present(program)
    if what == "protocol":
        codec.PROTOCOL_VERSION = int(value)  # type: ignore[misc]
    else:
        symfleet.__version__ = value
    return answer


introduction.present = present_and_change  # type: ignore[attr-defined]

from symfleet.cli.main import main  # noqa: E402

main()

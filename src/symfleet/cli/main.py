"""Entry of the `symfleet` command.

The compiler wrapper goes its own way before anything heavy is imported: a build calls it thousands
of times.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def hold_standard_streams() -> None:
    """Lead closed standard descriptors nowhere (`symfleet ... >&-`, some daemons): the next file
    that is opened would get the number, and whatever is printed would be written into it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    hold_standard_streams()
    arguments = sys.argv[1:]
    match arguments:
        case ["cc", *words]:
            from symfleet.compiler.main import main as compile_program

            sys.exit(compile_program(words, "c"))
        case ["c++", *words]:
            from symfleet.compiler.main import main as compile_program

            sys.exit(compile_program(words, "c++"))
        case _:
            pass
    from symfleet.cli.app import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()

"""Entry of the `symfleet` command.

The compiler wrapper goes its own way before anything heavy is imported: a build calls it thousands
of times.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and exit."""
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

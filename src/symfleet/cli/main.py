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
    if arguments and arguments[0] in {"cc", "c++"}:
        from symfleet.compiler.main import main as compile_program

        sys.exit(compile_program(arguments))
    from symfleet.cli.app import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()

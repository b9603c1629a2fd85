"""The `symcc` engine: any binary built by a SymCC-compatible compiler.

The input is a file (`SYMCC_INPUT_FILE`, `@@`) or standard input; new inputs are the files that the
binary writes into `SYMCC_OUTPUT_DIR`. Each run gets a folder of its own. The coverage map that
such binaries use to leave out what was explored before is a private file of this executor: with
`--keep all` it is new for every run, so that children depend on the input alone; with `--keep
novel` it stays, so that a slot does not generate the same flips again.
"""

from __future__ import annotations

from collections.abc import Mapping

from symfleet.engine.adapter import Command, Layout
from symfleet.engine.trees import remove


class SymccAdapter:
    """Run an instrumented binary with its variables."""

    name = "symcc"
    fails_by_code = False

    def program(self, target: tuple[str, ...]) -> tuple[str, ...]:
        """The target is the program."""
        return target

    def prepare(self, layout: Layout, keep: str) -> None:
        """Forget the coverage map unless the campaign keeps only what is new."""
        if keep == "all":
            remove(layout.root / "map")

    def command(
        self, argv: tuple[str, ...], layout: Layout, *, stdin: bool, env: Mapping[str, str]
    ) -> Command:
        """Set the variables of the SymCC runtime."""
        from_file = not stdin and any("@@" in word for word in argv)
        variables = {
            "SYMCC_OUTPUT_DIR": str(layout.output),
            "SYMCC_AFL_COVERAGE_MAP": str(layout.root / "map"),
        }
        if from_file:
            variables["SYMCC_INPUT_FILE"] = str(layout.input)
        return Command(
            argv=tuple(word.replace("@@", str(layout.input)) for word in argv),
            env={**env, **variables},
            stdin=not from_file,
        )

    def confirmation(self, command: Command) -> Command:
        """Run concretely: a crash inside the solver is not one of the target."""
        return Command(
            argv=command.argv,
            env={**command.env, "SYMCC_NO_SYMBOLIC_INPUT": "1"},
            stdin=command.stdin,
        )

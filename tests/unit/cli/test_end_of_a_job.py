"""What a job says last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symfleet.cli import explore
from symfleet.errors import ExitCode


@pytest.mark.parametrize("as_json", [False, True])
def test_a_job_that_was_stopped_before_there_was_a_ledger_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    out = tmp_path / "an output"
    out.mkdir()
    explore._tell_end(out, ExitCode.DONE, as_json=as_json, quiet=False)
    said = capsys.readouterr()
    assert not said.err
    if as_json:
        assert json.loads(said.out) == {"exit_code": 0, "report": None}
    else:
        assert f"`symfleet resume '{out}'` begins it" in said.out

"""What a job says last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symfleet.cli import campaign, explore
from symfleet.config.project import CONFIG_NAME
from symfleet.errors import DataError, ExitCode
from symfleet.runtime.campaign_lock import LOCK_NAME


@pytest.mark.parametrize("as_json", [False, True])
def test_a_job_that_was_stopped_before_there_was_a_ledger_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    out = tmp_path / "an output"
    out.mkdir()
    (out / CONFIG_NAME).touch()
    explore._tell_end(out, ExitCode.DONE, as_json=as_json, quiet=False)
    said = capsys.readouterr()
    assert not said.err
    if as_json:
        assert json.loads(said.out) == {"exit_code": 0, "report": None}
    else:
        assert f"`symfleet resume '{out}'` begins it" in said.out


@pytest.mark.parametrize("noted", [False, True])
def test_advice_for_a_job_without_a_ledger_is_what_works(tmp_path: Path, *, noted: bool) -> None:
    (tmp_path / LOCK_NAME).touch()
    if noted:
        (tmp_path / CONFIG_NAME).touch()
    with pytest.raises(DataError) as caught:
        campaign.require_campaign(tmp_path)
    assert ("resume" if noted else "the same `symfleet explore`") in caught.value.hint

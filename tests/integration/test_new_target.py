"""The target's program was changed: refused with both digests; `--accept-new-target` goes on with
it as a new coverage generation."""

from __future__ import annotations

import dataclasses
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.clock import SystemClock
from symfleet.config.model import Advanced, CampaignConfig, Stop
from symfleet.coverage.digests import digest_of_file
from symfleet.errors import ExitCode, IntegrityError, UserError
from symfleet.runtime.identity import version
from symfleet.runtime.stores import open_ledger
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import Keep, WorkState

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "two.py"
ACCEPT = Advanced(idle_window_s=0.1, accept_new_target=True)


class Rebuilt(ProgramCampaign):
    """A campaign whose target can be built anew."""

    @property
    def target(self) -> Path:
        """The target's program."""
        return self.folder / "target"

    def build(self, version: bytes) -> str:
        """Make the target; return its digest."""
        shutil.copy("/bin/true", self.target)
        with self.target.open("ab") as program:
            program.write(version)
        return digest_of_file(self.target)

    def config(
        self,
        *,
        seconds: float | None = None,
        stop: Stop | None = None,
        advanced: Advanced | None = None,
    ) -> CampaignConfig:
        made = super().config(seconds=seconds, stop=stop, advanced=advanced)
        target = dataclasses.replace(made.target, argv=(str(self.target),))
        return dataclasses.replace(made, target=target)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Rebuilt]:
    made = Rebuilt(tmp_path, PROGRAM, {"one": b"1"})
    yield made
    made.close()
    made.assert_tidy()


@pytest.mark.guarantee("C7")
def test_a_new_target_is_refused_and_then_explored_anew(campaign: Rebuilt) -> None:
    first = campaign.build(b"first")
    job = campaign.job()
    assert job.run() == ExitCode.DONE, job.story.read_text()
    files, runs = campaign.corpus_files(), campaign.runs()
    assert len(runs) == 3
    with campaign.reader() as reader:
        decisions = list(reader.decisions())

    second = campaign.build(b"second")
    refused = campaign.job()
    assert refused.run() == ExitCode.USAGE
    story = refused.story.read_text()
    assert "the campaign was made with another target;" in story
    assert f"target: {first[:16]}... in the campaign, {second[:16]}... now" in story
    assert "--accept-new-target" in story
    assert campaign.epochs() == 1, "nothing was begun"
    assert campaign.runs() == runs

    accepted = campaign.job(advanced=ACCEPT)
    assert accepted.run() == ExitCode.DONE, accepted.story.read_text()
    status = campaign.status()
    assert status.campaign.key.target_digest == second
    assert status.campaign.generation_number == 2
    assert (status.this_epoch.executed, status.total.executed, status.decisions) == (3, 6, 6)
    assert status.total.external_inputs == 1, "the corpus does not come from outside again"
    assert status.states[WorkState.DONE] == 6
    assert Counter(campaign.runs()) == Counter(runs * 2), "each input once for each program"
    assert campaign.corpus_files() == files
    with campaign.reader() as reader:
        assert list(reader.decisions())[:3] == decisions, "old decisions stay"

    again = campaign.job()
    assert again.run() == ExitCode.DONE, again.story.read_text()
    assert campaign.status().total.executed == 6, "nothing that was decided is done again"


def test_a_root_makes_no_ledger_for_a_campaign_that_had_one(campaign: Rebuilt) -> None:
    """Its folder was moved away after the launcher had looked."""
    campaign.build(b"first")
    assert campaign.job().run() == ExitCode.DONE
    with campaign.reader() as reader:
        key = reader.status().campaign.key
    config = campaign.config()
    out = Path(config.output.out_dir)
    out.rename(out.with_name("away"))
    out.mkdir()
    with pytest.raises(IntegrityError, match="moved, unmounted or emptied"):
        open_ledger(config, key, SystemClock(), may_make=False)
    assert not list(out.iterdir())


@pytest.mark.parametrize(
    ("change", "headline", "hint"),
    [
        ("engine", "another engine build", "the symfleet and the engine of that build"),
        ("limits", "other limits", "give the old limits"),
        ("keep", "another --keep", "give the old --keep"),
        ("both", "another target and another engine build", "(3) is executed again"),
    ],
)
def test_a_refusal_names_what_differs(
    campaign: Rebuilt, change: str, headline: str, hint: str
) -> None:
    campaign.build(b"first")
    assert campaign.job().run() == ExitCode.DONE
    with campaign.reader() as reader:
        row = reader.status().campaign
    key, config = row.key, campaign.config()
    match change:
        case "engine":
            key = dataclasses.replace(key, engine_build="e" * 64)
        case "limits":
            key = dataclasses.replace(key, limits=())
        case "keep":
            other = Keep.NOVEL if row.keep is Keep.ALL else Keep.ALL
            target = dataclasses.replace(config.target, keep=other.value)
            config = dataclasses.replace(config, target=target)
        case _:
            key = dataclasses.replace(key, target_digest="d" * 64, engine_build="e" * 64)
    with pytest.raises(UserError) as caught:
        open_ledger(config, key, SystemClock())
    assert caught.value.what == f"the campaign was made with {headline}"
    assert hint in (caught.value.hint or "")
    assert ("--accept-new-target" in (caught.value.hint or "")) == (change != "keep")
    assert (f"this is {version()}" in (caught.value.why or "")) == (change in ("engine", "both"))

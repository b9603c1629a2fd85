"""`symfleet resume OUT`: go on with what the campaign itself says, changed by what is said now."""

# Cyclopts reads the annotations of a command made at run time: no `from __future__` here.

import dataclasses
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import prepare_ledger, stored_config
from symfleet.cli.explore import follow, launch
from symfleet.cli.options import given, options_type
from symfleet.config.environment import settings_environment
from symfleet.config.knob import read_value
from symfleet.config.model import CampaignConfig
from symfleet.config.resolve import SETTINGS, resolve
from symfleet.errors import UserError
from symfleet.runtime.stores import is_on_server


def register(app: App, invocation: Invocation) -> None:
    """Add the command."""
    options_class = options_type(everything=invocation.everything, leave_out=("out_dir",))

    @app.command(name="resume")
    def resume(
        out: OutFolder,
        /,
        *,
        options: Annotated[options_class, Parameter(name="*")] = options_class(),  # type: ignore[valid-type]  # noqa: B008
        json: Json = False,
    ) -> int:
        """Go on with a campaign where it stopped, however it stopped.

        Everything comes from the campaign; options that do not change results may be given anew.
        """
        follow()
        flags: dict[str, Any] = given(options)
        said = _said_of_the_ledger(flags)
        prepare_ledger(out, said.output.ledger, accept_older=said.advanced.accept_older_ledger)
        base = stored_config(out)
        if not said.advanced.accept_new_target:
            _refuse_fixed(flags, base)
        flags["out_dir"] = str(Path(out).absolute())
        base = _forget_idle(_forget_once(base), Path(out))
        resolved = resolve(flags, settings_environment(), base=base)
        return launch(resolved.config, as_json=json, resumes=True)


def _said_of_the_ledger(flags: dict[str, Any]) -> CampaignConfig:
    """Return what is said now of the settings that matter before a campaign can be read."""
    names = ("ledger", "accept_older_ledger", "accept_new_target")
    variables = {SETTINGS[name].variable for name in names}
    environment = {name: text for name, text in settings_environment().items() if name in variables}
    return resolve({name: flags[name] for name in names if name in flags}, environment).config


def _forget_once(base: CampaignConfig) -> CampaignConfig:
    """Drop what answered a question of one launch; the next one asks again.

    Where the ledger is, the folder knows better than what the first launch was told: a server may
    have moved since, and a campaign."""
    advanced = dataclasses.replace(
        base.advanced, accept_older_ledger=False, accept_new_target=False
    )
    output = dataclasses.replace(base.output, ledger="")
    return dataclasses.replace(base, advanced=advanced, output=output)


def _forget_idle(base: CampaignConfig, out: Path) -> CampaignConfig:
    """Drop what a campaign was made with and has no meaning where it has moved since."""
    if is_on_server(out):
        return base
    advanced = dataclasses.replace(base.advanced, own_connections=False)
    return dataclasses.replace(base, advanced=advanced)


def _refuse_fixed(flags: dict[str, Any], base: CampaignConfig) -> None:
    """Raise UserError for a setting that belongs to the campaign and is given otherwise now."""
    for name, raw in flags.items():
        setting = SETTINGS[name]
        stored = getattr(getattr(base, setting.group), name)
        if setting.knob.fixed and read_value(name, raw, setting.knob) != stored:
            raise UserError(
                f"{setting.flag} belongs to the campaign",
                where=name,
                why=f"it is {stored} there and {raw} now; results of both would be mixed",
                hint="leave it away; or explore into a new folder with -i OUT/corpus; or say"
                " --accept-new-target, too: every input of the corpus is executed again",
            )

"""The reference pages say what the program does."""

from __future__ import annotations

from pathlib import Path

from symfleet.cli.app import build_app
from symfleet.cli.arguments import Invocation
from symfleet.config.catalogue import settings
from symfleet.config.reference import config_reference
from symfleet.corpus.scan import Skip
from symfleet.errors import ExitCode
from symfleet.observe.readme import README
from symfleet.observe.report import FAULTS

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def test_the_settings_page_is_current() -> None:
    page = (REFERENCE / "config.md").read_text()
    assert page == config_reference(), (
        "python -m symfleet.config.reference > docs/reference/config.md"
    )


def test_the_settings_page_names_every_setting() -> None:
    page = config_reference()
    assert all(f"`{setting.name}`" in page for setting in settings())


def test_the_command_page_names_every_verb_code_and_fault() -> None:
    page = (REFERENCE / "cli.md").read_text()
    app = build_app(Invocation(everything=True, target=None), None)
    for name in app:
        if name.startswith("-"):
            continue
        assert f"`{name}" in page, name
        for inner in app[name]:
            if not inner.startswith("-"):
                assert f"`{name} {inner}" in page, inner
    assert all(f"| {code.value} |" in page for code in ExitCode)
    assert all(f"`{name}`" in page for name in FAULTS)


def test_the_folder_page_names_every_reason_and_what_the_readme_names() -> None:
    page = (REFERENCE / "output-folder.md").read_text()
    assert all(f"`{reason.value}`" in page for reason in Skip)
    for line in README.splitlines():
        if line.startswith("  ") and not line.startswith("  symfleet"):
            assert f"`{line.split()[0].rstrip('/')}" in page, line

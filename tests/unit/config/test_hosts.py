"""Which hosts there are, and what is said against a wrong list of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from symfleet.config.hostfile import with_hostfile
from symfleet.config.hosts import HostSlots, parse_hosts, read_hostfile, render_hosts
from symfleet.config.model import CampaignConfig, Resources
from symfleet.config.resolve import resolve
from symfleet.errors import DataError, UserError

TWO = (HostSlots("a", 8), HostSlots("10.0.0.2", 4))


def test_hosts_of_the_command_line_keep_their_order() -> None:
    assert parse_hosts("a:8, 10.0.0.2:4") == TWO
    assert parse_hosts(render_hosts(TWO)) == TWO
    assert parse_hosts("") == ()


@pytest.mark.parametrize(
    "text",
    ["a", "a:", "a:0", "a:-1", "a:1025", "a:x", ":8", "a:8,", "a b:8", "-o:8", "a:8:9", "a:٣"],
)
def test_what_is_no_host_with_its_slots_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="no host with its slots"):
        Resources(hosts=text)


def test_a_host_has_one_number_of_slots() -> None:
    with pytest.raises(UserError, match="named twice"):
        parse_hosts("a:8,b:1,a:4")


def test_a_hostfile_is_read_in_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# ours\na slots=8 max_slots=9 # the fast one\n\n10.0.0.2:4\n")
    assert read_hostfile(path) == TWO


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a", "no host with its slots"),
        ("a slots=", "no host with its slots"),
        ("a slots=8 gpu=1", "no host with its slots"),
        ("a slots=0", "no host with its slots"),
        ("slots=8", "no host with its slots"),
        ("a slots=8\nb:1\na:2", "named twice"),
    ],
)
def test_a_wrong_line_of_a_hostfile_is_refused(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(UserError, match=why) as caught:
        read_hostfile(path)
    assert str(path) in caught.value.where


def test_a_garbled_line_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("a:1\n\nwhat is this\n")
    with pytest.raises(UserError) as caught:
        read_hostfile(path)
    assert caught.value.where.endswith("line 3")
    assert "what is this" in caught.value.what


def test_a_hostfile_that_says_nothing_is_data_of_no_use(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_hostfile(tmp_path / "missing")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    with pytest.raises(DataError, match="cannot be read"):
        read_hostfile(tmp_path / "binary")
    (tmp_path / "empty").write_text("# nobody\n")
    with pytest.raises(DataError, match="names no host"):
        read_hostfile(tmp_path / "empty")


def test_slots_are_those_of_all_hosts_or_fewer_never_more(tmp_path: Path) -> None:
    assert Resources(hosts="a:8,b:4").slots == 12
    assert Resources(hosts="a:8,b:4", jobs=9).slots == 9
    with pytest.raises(UserError, match="jobs cannot be 13"):
        Resources(hosts="a:8,b:4", jobs=13)
    path = tmp_path / "hosts"
    path.write_text("a:8\nb:4\n")
    config = CampaignConfig(resources=Resources(hostfile=str(path), jobs=13))
    with pytest.raises(UserError, match="too few slots") as caught:
        with_hostfile(config)
    assert "12 slots" in caught.value.why
    assert "13" in caught.value.why
    path.write_text("a:1\n")
    with pytest.raises(UserError, match="its host has 1 slot, 13 are asked for"):
        with_hostfile(config)


def test_a_hostfile_is_read_anew_by_each_launch(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("a:8\n")
    first = with_hostfile(CampaignConfig(resources=Resources(hostfile=str(path))))
    assert first.resources.hosts == "a:8"
    path.write_text("a:8\nb:4\n")
    again = resolve({"jobs": "10"}, {}, base=first).config
    assert with_hostfile(again).resources.hosts == "a:8,b:4"


def test_what_is_said_now_replaces_what_the_campaign_remembers(tmp_path: Path) -> None:
    base = CampaignConfig(resources=Resources(hostfile="old", hosts="a:1"))
    assert resolve({"hosts": "b:2"}, {}, base=base).config.resources.hostfile == ""
    chosen = resolve({"hostfile": "new"}, {}, base=base).config.resources
    assert (chosen.hostfile, chosen.hosts) == ("new", "")
    with pytest.raises(UserError, match="named twice"):
        resolve({"hostfile": "new", "hosts": "b:2"}, {})

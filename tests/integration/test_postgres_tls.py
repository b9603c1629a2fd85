"""A ledger on a PostgreSQL server that is reached by TLS, as over a network."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest

from symfleet.errors import HostError
from symfleet.ledger import opener, postgres_opener
from symfleet.protocol.operations import Admit, SetSource
from symfleet.testing.ledgers import ManualClock, admission, campaign_row, epoch_request
from symfleet.testing.stores.postgres_cluster import USER, Cluster, programs
from symfleet.types import CampaignId, WorkState

REQUEST = opener.OwnerRequest("here", 4711, lock_wait_s=0.1)
FAILED = "the TLS connection to PostgreSQL failed"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@dataclass(frozen=True)
class Server:
    """A server that takes TLS alone, for the name `localhost`."""

    port: int
    authority: Path
    """Who vouches for its certificate."""
    stranger: Path
    """An authority that does not."""

    def url(self, host: str = "localhost", **parameters: str) -> str:
        """Return its address, checked as strictly as can be unless told otherwise."""
        words = {"sslmode": "verify-full", "sslrootcert": str(self.authority), **parameters}
        # A name for the certificate, an address for the connection: localhost may be ::1 first.
        words |= {"hostaddr": "127.0.0.1", "gssencmode": "disable"}
        told = "&".join(f"{name}={value}" for name, value in words.items())
        return f"postgresql://{USER}@{host}:{self.port}/postgres?{told}"


def certify(folder: Path, name: str, subject: str) -> None:
    """Make NAME.key and a certificate NAME.crt that vouches for itself and the host `subject`."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    command += ["-subj", f"/CN={subject}", "-addext", f"subjectAltName=DNS:{subject}"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed (`./symfleet.sh test` installs one)")
    cluster = Cluster(folder)
    try:
        known = tmp_path_factory.mktemp("certificates")
        certify(known, "server", "localhost")
        certify(known, "stranger", "localhost")
        owner = cluster.folder.stat()
        for name, mode in (("server.crt", 0o644), ("server.key", 0o600)):
            copy = cluster.folder / name
            copy.write_bytes((known / name).read_bytes())
            copy.chmod(mode)
            os.chown(copy, owner.st_uid, owner.st_gid)
        port = free_port()
        with (cluster.folder / "extra.conf").open("a") as stream:
            stream.write(f"listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\n")
            stream.write(f"ssl_cert_file = '{cluster.folder}/server.crt'\n")
            stream.write(f"ssl_key_file = '{cluster.folder}/server.key'\n")
        (cluster.folder / "data" / "pg_hba.conf").write_text(
            f"local all all trust\nhostssl all {USER} 127.0.0.1/32 trust\n"
        )
        cluster.halt("fast")
        cluster.start()
        yield Server(port, known / "server.crt", known / "stranger.crt")
    finally:
        cluster.stop()


def create(out: Path, url: str) -> None:
    """Make a campaign with one input, and own it again."""
    row = replace(campaign_row(), campaign=CampaignId(secrets.token_hex(16)))
    ledger = postgres_opener.create(out, row, REQUEST, ManualClock(), url)
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    ledger.run([Admit(1, (admission(b"a"),)), SetSource(1, is_open=False)])
    ledger.close()


def refusal(out: Path, url: str) -> HostError:
    with pytest.raises(HostError) as caught:
        create(out, url)
    assert not opener.has_ledger(out)
    return caught.value


def test_a_campaign_lives_behind_tls(tmp_path: Path, server: Server) -> None:
    create(tmp_path, server.url())
    again = postgres_opener.open_owner(tmp_path, REQUEST, ManualClock())
    try:
        assert again.status().states[WorkState.PENDING] == 1
        assert list(again.audit()) == []
    finally:
        again.close()
    with psycopg.connect(server.url()) as connection:
        row = connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        assert row.fetchone() == (True,)


def test_a_certificate_that_nobody_known_vouches_for(tmp_path: Path, server: Server) -> None:
    error = refusal(tmp_path, server.url(sslrootcert=str(server.stranger)))
    assert error.what == FAILED
    assert "certificate verify failed" in error.why
    assert "sslrootcert" in error.hint


def test_a_certificate_of_another_host(tmp_path: Path, server: Server) -> None:
    error = refusal(tmp_path, server.url("elsewhere"))
    assert error.what == FAILED
    assert "elsewhere" in error.why


def test_a_missing_file_of_certificates(tmp_path: Path, server: Server) -> None:
    error = refusal(tmp_path, server.url(sslrootcert=str(tmp_path / "none.crt")))
    assert error.what == FAILED
    assert "none.crt" in error.why


def test_a_server_that_takes_tls_alone(tmp_path: Path, server: Server) -> None:
    error = refusal(tmp_path, server.url(sslmode="disable"))
    assert error.what == "PostgreSQL takes no connection without TLS"
    assert "no encryption" in error.why
    assert "sslmode" in error.hint


def test_a_login_that_is_refused_over_tls_is_no_fault_of_tls(
    tmp_path: Path, server: Server
) -> None:
    error = refusal(tmp_path, server.url().replace(f"{USER}@", "stranger@"))
    assert error.what == "PostgreSQL refuses the login"
    assert "stranger" in error.why

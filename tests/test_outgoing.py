"""Requests to addresses that callers choose: what was checked is what is used."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.resources.hooks import Got, Receiver, receiving

from farthing.core.addresses import read_target
from farthing.outgoing import Poster, Reply

FORBIDDEN = "The host has an address to which nothing is sent."


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as opened:
        yield opened


class Names:
    """A resolver that answers each look-up as it is told, and counts them."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, _: int) -> list[str]:
        self.asked.append(host)
        if not self._answers:
            raise OSError("no such name")
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def post(url: str, names: Names, *, private_ok: bool = True) -> Reply:
    poster = Poster(private_ok=private_ok, resolver=names)
    try:
        return await poster.post(read_target(url), {}, b"{}")
    finally:
        await poster.close()


async def test_a_name_is_looked_up_once_and_stays_the_name_of_the_host(
    receiver: Receiver,
) -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    reply = await post(f"http://shop.example:{receiver.port}/x", names)
    assert (reply.status, reply.error) == (204, None)
    assert names.asked == ["shop.example"]
    assert receiver.got[0].headers["host"] == f"shop.example:{receiver.port}"


async def test_a_name_that_changes_its_answer_is_checked_anew_for_each_connection(
    receiver: Receiver,
) -> None:
    async def closing(_: Got) -> tuple[int, bytes]:
        raise ConnectionError

    names = Names(["127.0.0.1"], ["169.254.169.254"])
    poster = Poster(private_ok=True, resolver=names)
    target = read_target(f"http://shop.example:{receiver.port}/x")
    assert (await poster.post(target, {}, b"")).status == 204
    receiver.answers["/x"] = closing
    assert (await poster.post(target, {}, b"")).status is None
    assert (await poster.post(target, {}, b"")).error == FORBIDDEN
    await poster.close()
    assert len(receiver.got) == 2
    assert names.asked == ["shop.example"] * 2


@pytest.mark.parametrize(
    "addresses",
    [
        ["169.254.169.254"],
        ["127.0.0.1", "169.254.169.254"],
        ["169.254.169.254", "127.0.0.1"],
        ["::ffff:169.254.169.254"],
        ["64:ff9b::169.254.169.254"],
        ["fe80::1%lo"],
        ["0.0.0.0"],  # noqa: S104 - nothing listens there
        ["224.0.0.1"],
        ["127.0.0.1", "::"],
    ],
)
async def test_one_forbidden_address_of_a_name_is_enough(
    receiver: Receiver, addresses: list[str]
) -> None:
    reply = await post(f"http://shop.example:{receiver.port}/", Names(addresses))
    assert (reply.status, reply.error) == (None, FORBIDDEN)
    assert receiver.connections == 0


async def test_private_addresses_need_the_setting_also_behind_a_name(receiver: Receiver) -> None:
    for host in ("shop.example", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"):
        url = f"http://{host}:{receiver.port}/"
        reply = await post(url, Names(["127.0.0.1"]), private_ok=False)
        assert reply.error == FORBIDDEN, host
    assert receiver.connections == 0


async def test_a_name_without_an_address_is_an_error_that_says_so(receiver: Receiver) -> None:
    for names in (Names(), Names([]), Names(["nonsense"])):
        reply = await post(f"http://shop.example:{receiver.port}/", names)
        assert reply.error == "The name of the host has no address."


async def test_the_next_address_is_tried_when_the_first_does_not_answer(
    receiver: Receiver,
) -> None:
    url = f"http://shop.example:{receiver.port}/"
    reply = await post(url, Names(["127.1.2.3", "127.0.0.1"]))
    assert reply.status == 204


async def test_nobody_at_home_and_nonsense_are_errors_that_say_so(receiver: Receiver) -> None:
    closed = await post("http://127.0.0.1:1/", Names())
    assert closed.error == "No connection to the host."

    async def nonsense(_: Got) -> tuple[int, bytes]:
        raise ConnectionError

    receiver.answers["/"] = nonsense
    broken = await post(receiver.url("/"), Names())
    assert broken.error == "The connection broke."


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server needs to prove a name, and what a client needs to believe it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "pem").write_bytes(written + signed.public_bytes(Encoding.PEM))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "pem")
    return server, ssl.create_default_context(cafile=folder / "pem")


async def test_https_is_for_the_name_and_not_for_the_address(tmp_path: Path) -> None:
    server, client = certificate(tmp_path, "shop.example")
    asked: list[str | None] = []
    server.sni_callback = lambda _, name, __: asked.append(name)
    async with receiving(server) as receiver:
        poster = Poster(private_ok=True, resolver=Names(["127.0.0.1"]), tls=client)
        good = await poster.post(read_target(f"https://shop.example:{receiver.port}/"), {}, b"")
        bad = await poster.post(read_target(f"https://other.example:{receiver.port}/"), {}, b"")
        await poster.close()
    assert (good.status, good.error) == (204, None)
    assert (bad.status, bad.error) == (None, "No connection to the host.")
    assert asked == ["shop.example", "other.example"]


async def test_in_live_nothing_goes_out_over_http(receiver: Receiver) -> None:
    poster = Poster(private_ok=True, https_only=True)
    reply = await poster.post(read_target(receiver.url("/")), {}, b"")
    assert reply.error == "Only https is allowed."
    assert receiver.connections == 0


async def raw(answer: bytes) -> Reply:
    """Send to a server that answers with these bytes and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        return await post(f"http://127.0.0.1:{port}/", Names())
    finally:
        server.close()


@pytest.mark.parametrize(
    ("answer", "status", "kept"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end"),
        (b"HTTP/1.0 200 OK\r\n\r\n", 200, ""),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200, "ab"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 X\r\ncontent-length: 1\r\n\r\nx", 202, "x"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 500 X\r\n\r\n", 200, "x"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", None, ""),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab", None, ""),
        (b"HTTP/1.1 200 OK\r\ncontent-length", None, ""),
        (b"SSH-2.0-OpenSSH_9.9\r\n", None, ""),
        (b"HTTP/1.1 100 Continue\r\n\r\n", None, ""),
        (b"", None, ""),
    ],
)
async def test_answers_are_read_as_http_says(answer: bytes, status: int | None, kept: str) -> None:
    reply = await raw(answer)
    assert (reply.status, reply.answer) == (status, kept)
    assert (reply.error is None) == (status is not None)


async def test_a_connection_that_the_receiver_closed_is_not_used_again(receiver: Receiver) -> None:
    poster = Poster(private_ok=True)
    target = read_target(receiver.url("/"))
    assert (await poster.post(target, {}, b"")).status == 204
    await receiver.hang_up()
    await asyncio.sleep(0.05)
    assert (await poster.post(target, {}, b"")).status == 204
    await poster.close()
    assert receiver.connections == 2

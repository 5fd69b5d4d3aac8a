"""Silence: after real traffic, refusals, faults and a crash, no number and no CVV is anywhere."""

import base64
import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest
from tests.cli.test_serving import FARTHING, PATIENCE, environment, free_port, run

from farthing.core.ids import new_id
from farthing.db.embedded import binary
from farthing.rails.numbers import MAGIC_CARDS

if TYPE_CHECKING:
    from tests.conftest import Database

CHALLENGED, OURS = "4000002500003155", "4716293846150280"
DISPUTED = next(card.number for card in MAGIC_CARDS if card.disputed)
GOOD = [*(card.number for card in MAGIC_CARDS), OURS, "4929384756108", "4938475610293847561"]
# A wrong check digit, a scheme that we do not take, and a CVV that could not be found by chance.
BAD, LONG_CVV = ["4716293846150281", "378282246310005"], "98127364550"
SECRETS = [*GOOD, *BAD, LONG_CVV]
ENDS = ["ENABLED", "FAILED", "FAILED", "INACTIVE"]
# Where a charge of each card comes to rest, by what its rail answers.
RESTS = {"done": "EFFECTED", "refused": "FAILED", "unknown": "ERRORED", "challenge": "PROCESSING"}
CHARGES = {card.number: card.charge for card in MAGIC_CARDS}
# Amounts whose sums and differences have more than three digits, like no CVV.
AMOUNT, PART = "100000", "40000"
# Three digits are part of something everywhere. As a value of their own these are nowhere, unless
# they were stored: no status, version or count is one of them.
CVVS = [str(601 + 37 * n % 397) for n in range(397)]
A_CVV = re.compile(
    rb"""(?<![^\s"':=,\[{(])(%s)(?![^\s"',\]})])|cvv["'\s:=]{1,8}\d""" % "|".join(CVVS).encode(),
    re.IGNORECASE,
)


def grouped(number: str, between: str) -> str:
    return between.join(number[at : at + 4] for at in range(0, len(number), 4))


def forms(secret: str) -> Iterator[bytes]:
    """Yield a secret as it could look in a text, in a binary column, or in something encoded."""
    for text in (secret, *(grouped(secret, one) for one in (" ", "-", "%20", "+", "."))):
        plain = text.encode()
        yield from (plain, plain.hex().encode(), plain.hex().upper().encode())
        for shift, spoilt in enumerate((0, 2, 3)):
            # Within a longer text it is encoded in one of three ways; its ends depend on the rest.
            whole = base64.b64encode(bytes(shift) + plain).rstrip(b"=")
            yield whole[spoilt : len(whole) - ((shift + len(plain)) % 3 > 0)]


WANTED = [A_CVV, *(re.compile(re.escape(form)) for one in SECRETS for form in set(forms(one)))]


def search(places: dict[str, bytes]) -> list[str]:
    """Return wherever something is that must be nowhere."""
    return [
        f"{found[0]!r} in {place}: {heap[max(0, found.start() - 80) : found.end() + 40]!r}"
        for place, heap in places.items()
        for pattern in WANTED
        if (found := pattern.search(heap))
    ]


def test_the_search_finds_a_number_in_every_form_and_no_other() -> None:
    for text in (OURS, grouped(OURS, " "), grouped(OURS, "-")):
        for shape in ("{}", "a{}", "ab{}z", '{{"name":"{}"}}'):
            heap = shape.format(text).encode()
            for hidden in (heap, heap.hex().encode(), base64.b64encode(heap)):
                assert search({"there": b"..." + hidden + b"..."})
    assert not search({"there": base64.b64encode(b"4716293846150271" * 3)})


def test_the_search_finds_a_cvv_that_stands_alone_and_no_other() -> None:
    for text in (b'{"cvv":"612"}', b"CVV=123", b'a\t"712"\tb', b"x\t675\ty", b"[1,675]"):
        assert search({"there": text})
    assert not search({"there": b'"/cvv: Must be three digits.", "ms":675.2, 10:11:12.675'})


class Scene:
    """A service and a worker, whatever is said to them, and whatever they say."""

    def __init__(self, database: "Database", folder: Path, stack: ExitStack) -> None:
        self.database, self._folder, self._stack = database, folder, stack
        self.port, self._cvvs = free_port(), cycle(CVVS)
        self.token, self.owner, self.heard = "", "", list[bytes]()
        self.account, self.operator = "", ""

    def start(self, command: str) -> subprocess.Popen[bytes]:
        log = self._folder / f"{command} {new_id()}.log"
        env = environment(self.database, FARTHING_PORT=str(self.port), FARTHING_LOG_LEVEL="debug")
        with log.open("wb") as out:
            process = subprocess.Popen([*FARTHING, command], env=env, stdout=out, stderr=out)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def serve(self) -> subprocess.Popen[bytes]:
        process = self.start("serve")
        eventually(lambda: self.tell("GET", "/readyz")[0] == 200)
        return process

    def send(self, raw: bytes, *, hang_up: bool = False) -> bytes:
        """Send bytes as they are, and return what comes back."""
        wire, answer = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE), b""
        with wire, suppress(ConnectionError):  # Whoever says too much is hung up on.
            wire.sendall(raw)
            if hang_up:
                wire.shutdown(socket.SHUT_WR)
            while part := wire.recv(65536):
                answer += part
        # The length of an answer is a number of three digits too.
        self.heard.append(re.sub(rb"content-length: \d+", b"", answer))
        return answer

    def tell(self, method: str, target: str, body: Any = b"", **headers: str) -> tuple[int, Any]:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = {"X_Token": self.token, "Content_Type": "application/json", **headers}
        head = "".join(f"{name.replace('_', '-')}: {one}\r\n" for name, one in lines.items())
        first = f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        raw = f"{first}{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        answer, _, said = self.send(raw).partition(b"\r\n\r\n")
        if not answer:
            raise ConnectionError
        return int(answer.split()[1]), json.loads(said) if b"json" in answer else None

    def body(self, number: str, **changes: Any) -> dict[str, Any]:
        rest = {"expiry": "1239", "billingAddress": {"countryISO": "GB"}, "cvv": next(self._cvvs)}
        return {"ownerId": self.owner, "cardNumber": number, **rest, **changes}

    def new_card(self, number: str, **changes: Any) -> dict[str, Any]:
        status, card = self.tell("POST", "/v1/cards", self.body(number, **changes))
        assert status == 201, card
        return dict(card)

    def charge(self, card: dict[str, Any], **headers: str) -> tuple[int, Any]:
        body = {"accountId": self.account, "amount": AMOUNT, "method": "card"}
        body |= {"purpose": "PURCHASE", "paymentInstrumentId": card["id"]}
        return self.tell("POST", "/v1/tx/inbound", body, **headers)

    def move(self, tx: dict[str, Any], target: str, **more: Any) -> tuple[int, Any]:
        by = {"X_Token": more.pop("by", self.token)}
        return self.tell("PATCH", f"{path_of(tx)}/state", {"toStateId": target, **more}, **by)

    def state(self, tx: dict[str, Any]) -> str:
        return str(self.tell("GET", path_of(tx))[1]["stateId"])

    def rest(self, tx: dict[str, Any]) -> dict[str, Any]:
        """Wait until the rail has answered, and return the transaction as it is then."""

        def rests() -> bool:
            now = self.tell("GET", path_of(tx))[1]
            return bool(now["requirements"]) or now["stateId"] not in {"ACCEPTED", "PROCESSING"}

        eventually(rests)
        return dict(self.tell("GET", f"{path_of(tx)}?include=accounts,entries,transitions")[1])

    def places(self) -> dict[str, bytes]:
        """Return everything that was said, logged and stored."""
        command = [str(binary("pg_dump")), f"--dbname={self.database.admin_url}"]
        dump = subprocess.check_output(command)
        kept = [bytes.fromhex(one.decode()) for one in re.findall(rb"\\\\x([0-9a-f]+)", dump)]
        logs = {path.name: path.read_bytes() for path in self._folder.glob("*.log")}
        assert all(logs.values())
        for table in (b"farthing.events", b"farthing.history", b"farthing.idempotency"):
            assert b"COPY " + table in dump
        texts = b"\n".join(one for one in kept if one.isascii())
        return {"dump": dump, "bytes": texts, "answers": b"\n".join(self.heard), **logs}


def path_of(tx: dict[str, Any]) -> str:
    return f"/v1/tx/tx/{tx['id'].partition('/')[2]}"


def eventually(holds: Callable[[], bool]) -> None:
    deadline, held = time.monotonic() + PATIENCE, False
    while not held:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        with suppress(OSError):
            held = holds()


def create_cards(scene: Scene) -> None:
    """Make a card of every number, repeat it, and try its key with another number."""
    for number in GOOD:
        body, key = scene.body(number), f"key-{new_id()}"
        first = scene.tell("POST", "/v1/cards", body, Idempotency_Key=key)
        assert first[0] == 201, first
        assert scene.tell("POST", "/v1/cards", body, Idempotency_Key=key) == first
        other = scene.body(GOOD[0] if number == OURS else OURS)
        assert scene.tell("POST", "/v1/cards", other, Idempotency_Key=key)[0] == 422


def answer(scene: Scene, asked: dict[str, Any], decision: str) -> None:
    """Answer as the cardholder, if anything is asked."""
    if "threeDSecure" in asked["requirements"]:
        link = urlsplit(asked["requirements"]["threeDSecure"]).path
        assert scene.tell("GET", link)[0] == 200
        assert scene.tell("POST", link, f"decision={decision}".encode())[0] == 200


def charge_cards(scene: Scene) -> None:
    """Charge every card, for one use and for many, and repeat it; then refund what was paid."""
    for number, storage in product(GOOD, ("CARD_ON_FILE", "ONE_TIME_USE")):
        card = scene.new_card(number, storageType=storage)
        answer(scene, card, "approve")
        key = {"Idempotency_Key": f"key-{new_id()}"}
        first = scene.charge(card, **key)
        assert scene.charge(card, **key) == first
        if card["stateId"] == "FAILED":
            assert (first[0], first[1]["code"]) == (409, "instrument_not_usable")
            continue
        assert first[0] == 201, first
        tx = scene.rest(first[1])
        assert tx["stateId"] == RESTS[CHARGES.get(number, "done")]
        if tx["stateId"] == "EFFECTED":
            refund(scene, tx)
        decision = "approve" if storage == "CARD_ON_FILE" else "decline"
        answer(scene, tx, decision)
        if tx["requirements"]:
            ended = scene.rest(tx)["stateId"]
            assert ended == {"approve": "EFFECTED", "decline": "FAILED"}[decision]
    listed = "/v1/tx?limit=100&include=accounts,entries,transitions"
    assert scene.tell("GET", listed)[0] == 200


def refund(scene: Scene, tx: dict[str, Any]) -> None:
    """Give a part back, and too much."""
    part = {"options": {"adjustment": {"adjustmentAmount": PART}}}
    assert scene.move(tx, "ADJUSTED", **part)[0] == 200
    more = {"options": {"adjustment": {"adjustmentAmount": AMOUNT + "0"}}}
    assert scene.move(tx, "ADJUSTED", **more)[0] == 409


def refuse_payments(scene: Scene, number: str) -> None:
    """Send the number where a payment or a move does not take it."""
    spaced, dashed = grouped(number, " "), grouped(number, "-")
    body: dict[str, Any] = {"accountId": scene.account, "amount": AMOUNT, "method": "card"}
    body |= {"purpose": "PURCHASE"}
    wrong: list[dict[str, Any]] = [
        *({name: one} for name in ("accountId", "method", "purpose") for one in (number, spaced)),
        *({"paymentInstrumentId": one} for one in (number, f"card/{number}", int(number))),
        *({name: "x"} for name in (number, spaced, dashed, "cardNumber", "cvv")),
        *({"annotations": {name: 5}} for name in (number, spaced, dashed)),
        {"amount": int(number), "description": spaced, "groupId": number, "tags": [number]},
        {"cardNumber": number, "cvv": LONG_CVV},
        {"targetStateId": number, "description": number},
    ]
    for one, way in product(wrong, ("inbound", "outbound", "internal")):
        key = {"Idempotency_Key": f"key-{new_id()}"}
        assert scene.tell("POST", f"/v1/tx/{way}", {**body, **one}, **key)[0] == 422
    tx = scene.tell("POST", "/v1/tx/inbound", {**body, "method": "bankAccount"})[1]
    moves: list[dict[str, Any]] = [
        {"toStateId": number},
        {"toStateId": "CANCELLED", "fromStateId": number},
        {"toStateId": "CANCELLED", number: "x"},
        {"toStateId": "CANCELLED", "options": {number: spaced}},
        {"toStateId": "CANCELLED", "options": {"amount": int(number)}},
        {"toStateId": "ADJUSTED", "options": {"adjustment": {dashed: number}}},
    ]
    for move, query in product(moves, ("", "?dryRun=true", f"?dryRun={number}")):
        assert scene.tell("PATCH", f"{path_of(tx)}/state{query}", move)[0] == 422
    for one in (number, quote(spaced), dashed):
        for target in (f"/v1/tx/{one}", f"/v1/tx/tx/{one}", f"/v1/tx?groupId={one * 9}"):
            assert scene.tell("GET", target)[0] >= 400


async def fail_to_pay(scene: Scene) -> None:
    """Let the database refuse the order, and then let the rail break when it is to charge."""
    refuse = "ALTER TABLE {} ADD CONSTRAINT refused CHECK (false) NOT VALID"
    await scene.database.execute(refuse.format("orders"))
    assert scene.charge(scene.new_card(OURS))[0] == 500
    await scene.database.execute("ALTER TABLE orders DROP CONSTRAINT refused")
    await scene.database.execute(refuse.format("sandbox_orders"))
    status, tx = scene.charge(scene.new_card(OURS))
    assert status == 201
    assert scene.rest(tx)["stateId"] == "ERRORED"
    await scene.database.execute("ALTER TABLE sandbox_orders DROP CONSTRAINT refused")
    assert scene.move(tx, "PROCESSING")[0] == 200
    eventually(lambda: scene.state(tx) == "EFFECTED")


async def argue(scene: Scene) -> None:
    """Let cardholders dispute what they paid; one loses, one wins, and one gets a part."""
    charged = [scene.rest(scene.charge(scene.new_card(DISPUTED))[1]) for _ in range(3)]
    await scene.database.execute("UPDATE sandbox_news SET due_at = now() WHERE NOT heard")
    eventually(lambda: {scene.state(tx) for tx in charged} == {"DISPUTED"})
    won, lost, partly = charged
    by = {"fromStateId": "CHARGEBACK", "by": scene.operator}
    assert scene.move(won, "EFFECTED", **by)[0] == 200
    assert scene.move(lost, "ADJUSTED", **by)[0] == 200
    assert scene.move(partly, "ADJUSTED", options={"amount": PART}, **by)[0] == 200


def refuse_bodies(scene: Scene, number: str) -> None:
    """Send bodies that hold the number where it does not belong."""
    spaced, dashed, late = grouped(number, " "), grouped(number, "-"), {"expiry": "0101"}
    wrong: list[dict[str, Any]] = [
        *({"cardNumber": one} for one in (*BAD, spaced, dashed, int(number), [number])),
        *({"cvv": one} for one in ("12", LONG_CVV, int(LONG_CVV))),
        *({name: "x"} for name in (number, spaced, dashed, f"card {number}", "cardNumbr")),
        *({"billingAddress": {name: "x"}} for name in (number, spaced, dashed)),
        *({"annotations": {name: 5}} for name in (number, spaced, dashed)),
        *({name: number} for name in ("expiry", "ownerId", "storageType", "setAsPreferred")),
        {"tags": [number, spaced], "annotations": {number: number}, **late},
        {"billingAddress": {"countryISO": number, "street": number}, **late},
        {"ownerId": f"customer/{new_id()}"},
    ]
    for changes in wrong:
        headers = {"Idempotency_Key": f"key-{new_id()}"}
        assert scene.tell("POST", "/v1/cards", scene.body(number, **changes), **headers)[0] == 422
    for name in ("Idempotency_Key", "X_Request_Id", "X_Tenant", "X_Token", "Content_Type"):
        for one in (number, spaced, dashed):
            body = scene.body(number, ownerId=f"customer/{new_id()}")
            assert scene.tell("POST", "/v1/cards", body, **{name: one})[0] >= 400


def refuse_addresses(scene: Scene, number: str) -> None:
    """Send the number in paths, queries and methods."""
    for one in (number, quote(grouped(number, " ")), grouped(number, "-")):
        paths = (f"/{one}", f"/v1/cards/{one}", f"/v1/cards/card/{one}/state", f"/challenges/{one}")
        queries = (f"{one}=1", f"limit={one}", f"cursor={one}", f"ownerId={one}", f"stateId={one}")
        twice = f"annotation.{one}=1&annotation.{one}=2"
        for target in (*paths, *(f"/v1/cards?{query}" for query in (*queries, twice))):
            for method in ("GET", "PATCH", "DELETE"):
                assert scene.tell(method, target, {"toStateId": number})[0] >= 400
        scene.send(f"{one} / HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        scene.send(f"GET / HTTP/{one}\r\n\r\n".encode())


def garble(scene: Scene, number: str) -> None:
    """Send what is no body at all."""
    good = json.dumps(scene.body(number)).encode()
    bodies = [good[:-1], good + good, good + b"\xff", b"\xef\xbb\xbf" + good, b"[" * 9000 + good]
    bodies += [number.encode(), b'"%s"' % number.encode(), b'{"%s":NaN}' % number.encode()]
    bodies += [good.replace(b'"expiry"', b'"cardNumber"'), good * 2000, b" " * 70_000 + good]
    for body in bodies:
        assert scene.tell("POST", "/v1/cards", body)[0] in {400, 413, 422}
    assert scene.tell("POST", "/v1/cards", good, Content_Type="text/plain")[0] == 415
    start = f"POST /v1/cards HTTP/1.1\r\nHost: x\r\nX-Token: {scene.token}\r\n"
    scene.send(f"{start}Content-Length: 900\r\n\r\n".encode() + good, hang_up=True)
    chunked = f"{start}Transfer-Encoding: chunked\r\n\r\n{number}\r\n".encode()
    scene.send(chunked + good, hang_up=True)


async def fail_inside(scene: Scene) -> None:
    """Let the database refuse, so that tracebacks are logged."""
    refuse = "ALTER TABLE vault.{} ADD CONSTRAINT refused CHECK (false) NOT VALID"
    for table in ("sightings", "numbers"):
        await scene.database.execute(refuse.format(table))
        assert scene.tell("POST", "/v1/cards", scene.body(OURS))[0] == 500
        await scene.database.execute(f"ALTER TABLE vault.{table} DROP CONSTRAINT refused")


def crash(scene: Scene, service: subprocess.Popen[bytes]) -> None:
    """Kill the service while it makes cards, and start it again."""
    made: list[dict[str, Any]] = []

    def write() -> None:
        with suppress(OSError):
            while True:
                made.append(scene.new_card(OURS))
                scene.charge(made[-1])

    writers = [threading.Thread(target=write) for _ in range(4)]
    for one in writers:
        one.start()
    eventually(lambda: len(made) >= 20)
    service.kill()
    for one in writers:
        one.join()
    scene.serve()


async def let_time_pass(scene: Scene) -> None:
    """Approve, decline and ignore challenges, and let a card expire."""
    asked = [scene.new_card(CHALLENGED) for _ in range(3)]
    links = [urlsplit(card["requirements"]["threeDSecure"]).path for card in asked]
    for link, decision in zip(links, (b"approve", b"decline"), strict=False):
        assert scene.tell("GET", link)[0] == 200
        assert scene.tell("POST", link, b"decision=" + decision)[0] == 200
    old = scene.new_card(OURS)
    await scene.database.execute("UPDATE challenges SET expires_at = now() WHERE outcome IS NULL")
    past = "UPDATE cards SET expires_at = now() WHERE id = $1"
    await scene.database.execute(past, old["id"].partition("/")[2])
    scene.start("worker")
    paths = [f"/v1/cards/{card['id']}" for card in (*asked, old)]
    eventually(lambda: [scene.tell("GET", one)[1]["stateId"] for one in paths] == ENDS)


@pytest.mark.slow
async def test_no_number_and_no_cvv_is_ever_said_logged_or_kept(
    database: "Database", tmp_path: Path
) -> None:
    fresh = await database.create()
    assert run(fresh, "migrate").returncode == 0
    tenant = json.loads(run(fresh, "tenants", "create", "Shop").stdout)
    with ExitStack() as stack:
        scene = Scene(fresh, tmp_path, stack)
        service = scene.serve()
        path = f"/v1/customers/{tenant['tenantId']}/tokens"
        scene.token, scene.owner = tenant["apiKey"], tenant["tenantId"]
        scene.token = scene.tell("POST", path)[1]["accessToken"]
        scene.operator = json.loads(run(fresh, "operator-key").stdout)["operatorKey"]
        opened = {"ownerId": scene.owner, "currencyISO": "GBP"}
        scene.account = scene.tell("POST", "/v1/accounts", opened)[1]["id"]
        create_cards(scene)
        charge_cards(scene)
        for number in (OURS, CHALLENGED):
            refuse_bodies(scene, number)
            refuse_addresses(scene, number)
            refuse_payments(scene, number)
            garble(scene, number)
        await fail_inside(scene)
        await fail_to_pay(scene)
        crash(scene, service)
        await let_time_pass(scene)
        await argue(scene)
        for target in ("/v1/cards?limit=100", "/v1/customers", "/v1/status", "/metrics"):
            assert scene.tell("GET", target)[0] == 200
        places = scene.places()
        assert search(places) == []
        for table in (b"transactions", b"orders", b"entries", b"sandbox_orders", b"sandbox_news"):
            assert b"COPY farthing." + table in places["dump"]
        assert b"rail_failed" in b"".join(places.values())
        # The search would have found something, had there been something.
        await fresh.execute("UPDATE customers SET name = $1", grouped(OURS, " "))
        await fresh.execute("UPDATE idempotency SET body = $1", f'["{CVVS[1]}"]'.encode())
        (tmp_path / "worker.log").write_text(f'{{"cvv":"{CVVS[0]}"}}')
        scene.heard.append(OURS.encode())
        found = {one.partition(" in ")[2].partition(":")[0] for one in search(scene.places())}
        assert found == {"dump", "bytes", "answers", "worker.log"}

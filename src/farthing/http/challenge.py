"""The challenge page: the cardholder's answer, with no credential but the link itself."""

import base64
import hashlib
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from farthing.catalog import CHALLENGED
from farthing.core.actors import Grant, Principal
from farthing.core.errors import MethodNotAllowed
from farthing.db.commands import Context
from farthing.http.requests import read_body
from farthing.http.service import Service
from farthing.resources.challenges import store
from farthing.resources.challenges.actions import end_challenge
from farthing.resources.challenges.api import STYLE, question, verdict
from farthing.resources.challenges.model import PATH, ChallengeRow, Link, read_link

_GONE: Final = "This link is not good any more."
_ENDINGS: Final = {
    "approve": ("approved", "Approved. Thank you."),
    "decline": ("declined", "Declined. Nothing happens with your card."),
}
_DIGEST: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class ChallengePage:
    """Shows the question at GET, takes the answer at POST, and both only while the link is good."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["state"]["operation"] = "challenges.page"
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            scope["state"]["headers"] = {"Allow": "GET, POST"}
            raise MethodNotAllowed("This address takes GET, POST.")
        request = Request(scope, receive)
        link = read_link(scope["path_params"]["link"])
        challenge = await self._find(link)
        if link is None or challenge is None:
            response = _html(verdict(_GONE), 404)
        elif scope["method"] == "POST":
            response = await self._take_answer(request, link, challenge, receive)
        else:
            response = await self._ask(link, challenge)
        await response(scope, receive, send)

    async def _find(self, link: Link | None) -> ChallengeRow | None:
        if link is None:
            return None
        now = await self._service.clocks.now(link.tenant_id)
        found = await store.find(self._service.pool, link.tenant_id, link.challenge_id)
        if found is None or found.outcome is not None or found.expires_at <= now:
            return None
        return found

    async def _ask(self, link: Link, challenge: ChallengeRow) -> Response:
        merchant = await store.find_merchant(self._service.pool, link.tenant_id)
        facts = await CHALLENGED[challenge.noun].facts(
            self._service.pool, link.tenant_id, challenge.object_id
        )
        return _html(question(merchant, facts))

    async def _take_answer(
        self, request: Request, link: Link, challenge: ChallengeRow, receive: Receive
    ) -> Response:
        form = parse_qs((await read_body(request.headers, receive)).decode("latin-1"))
        ending = _ENDINGS.get(form.get("decision", [""])[0])
        if ending is None:
            return await self._ask(link, challenge)
        outcome, sentence = ending
        approved = outcome == "approved"
        reason = f"The cardholder {outcome} it."
        consequence = CHALLENGED[challenge.noun].resolve(
            challenge.object_id, approved=approved, reason=reason
        )
        command = end_challenge(challenge.id, "approved" if approved else "declined", consequence)
        platform = Principal(link.tenant_id, Grant.PLATFORM)
        context = Context(platform, request.scope["state"]["request_id"])
        answer = await self._service.committer.submit(context, command)
        ended = answer.status < 400  # noqa: PLR2004 - HTTP's own line
        return _html(verdict(sentence)) if ended else _html(verdict(_GONE), 404)


def route(service: Service) -> Route:
    """Make the route of the challenge page."""
    return Route(f"{PATH}{{link}}", ChallengePage(service))


def _html(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, _HEADERS)

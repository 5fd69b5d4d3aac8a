"""What can be done with challenges: they are opened, and they end once."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

import msgspec

from farthing.core.errors import NotFound
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.resources.challenges.model import ChallengeRow, Link
from farthing.resources.challenges.store import CHALLENGES

Outcome = Literal["approved", "declined", "expired"]


def open_challenge(
    draft: Draft, link: Link, noun: str, object_id: UUID, lifetime: timedelta
) -> None:
    """Ask the cardholder about an object."""
    challenge = ChallengeRow(
        tenant_id=draft.tenant_id,
        id=link.challenge_id,
        version=1,
        noun=noun,
        object_id=object_id,
        created_at=draft.now,
        expires_at=draft.now + lifetime,
        outcome=None,
    )
    draft.insert(CHALLENGES, challenge)


def end_challenge(challenge_id: UUID, outcome: Outcome, consequence: Command) -> Command:
    """End a challenge together with what follows for its object; it ends only once."""

    def decide(draft: Draft) -> Shown:
        challenge = draft.find(CHALLENGES, challenge_id)
        if challenge is None or challenge.outcome is not None:
            raise NotFound("This link was used already.")
        if (challenge.expires_at <= draft.now) != (outcome == "expired"):
            raise NotFound("This link has expired.")
        draft.update(CHALLENGES, msgspec.structs.replace(challenge, outcome=outcome))
        return consequence.decide(draft)

    return Command(decide, needs=[Need(CHALLENGES, challenge_id), *consequence.needs])

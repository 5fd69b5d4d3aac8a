"""How a challenge looks: a small page that works without JavaScript."""

from html import escape
from typing import Final

from farthing.core.operation import Operation

# The cardholder's page is no operation of the API.
OPERATIONS: Final[tuple[Operation, ...]] = ()

STYLE: Final = """
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
* { box-sizing: border-box; overflow-wrap: anywhere; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; }
main { width: min(24rem, 90vw); padding: 2rem; border: 1px solid #8884; border-radius: 1rem; }
h1 { font-size: 1.2rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .3rem 1rem; margin: 0 0 1.5rem; }
dt { color: GrayText; } dd { margin: 0; font-weight: 600; }
form { display: flex; gap: .8rem; }
button { flex: 1; font: inherit; padding: .7rem; border-radius: .6rem; border: 1px solid #8886; }
button[value=approve] { background: #17693f; color: #fff; border-color: #17693f; }
p { margin: 0 0 1rem; }
"""


def question(merchant: str, facts: dict[str, str]) -> str:
    """Ask the cardholder to approve or decline."""
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in {"Merchant": merchant, **facts}.items()
    )
    return _page(
        "Is this you?",
        f"<dl>{rows}</dl><form method='post'>"
        "<button name='decision' value='approve'>Approve</button>"
        "<button name='decision' value='decline'>Decline</button></form>",
    )


def verdict(sentence: str) -> str:
    """Tell the cardholder how it ended."""
    return _page(sentence, "<p>You can close this page.</p>")


def _page(title: str, body: str) -> str:
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )

"""The page for whoever comes without the key, or in another way than by the printed address.

It stands alone: whoever may ask for nothing gets no style and no script from us. Its few rules of style are
named in its policy by their hash.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from starlette.datastructures import Headers
from starlette.responses import Response

from geminids.faces.web.faults import fault

_STYLE = """
:root { color-scheme: light dark; font: 0.9375rem/1.6 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 80vh; margin: 0; padding: 2rem;
  color: light-dark(#1b1d21, #e6e7ea); background: light-dark(#fcfcfb, #16171a); }
main { max-width: 30rem; padding-left: 1.25rem; border-left: 3px solid light-dark(#2f55c8, #8fabff); }
h1 { margin: 0 0 0.5rem; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0; color: light-dark(#50555e, #acb1bb); }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_TITLES = {400: "Wrong address", 401: "This page is locked", 403: "Request from elsewhere"}


def refusal_page(headers: Headers, status: int, detail: str) -> Response:
    """Why somebody may not pass: a page for a person who opened an address, a document for all others."""
    if "text/html" not in headers.get("accept", ""):
        return fault(status, detail)
    title = escape(_TITLES[status])
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} · geminids</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n"
        f"<body><main><h1>{title}</h1><p>{escape(detail)}</p></main></body></html>\n"
    )
    return Response(page, status, {"content-security-policy": POLICY}, "text/html; charset=utf-8")

"""Verifying and signing webhook deliveries."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from ._errors import WebhookSignatureError
from ._shapes import is_object

if TYPE_CHECKING:
    from .types import WebhookEvent

_SIGNED = re.compile(r"t=([0-9]{1,15}),v1=([0-9a-f]{64})\Z")
_STANDARD = re.compile(r"v1,([A-Za-z0-9+/]{43}=)\Z")
_TIME = re.compile(r"[0-9]{1,15}\Z")


class HeadersLike(Protocol):
    """Whatever has the headers of a delivery: a `dict`, or those of httpx, Starlette, Django, Flask."""

    def items(self) -> Iterable[tuple[str, Any]]: ...


def _bytes_of(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    raise TypeError("body must be the raw body, as bytes or str: parsed JSON does not match the signature")


def _read_headers(headers: HeadersLike) -> dict[str, str | None]:
    """By lower-case name; None for one that comes twice."""
    if not hasattr(headers, "items"):
        raise TypeError("headers must be the headers of the delivery")
    found: dict[str, str | None] = {}
    # Where one name has several values, `items` alone would show the first or the last.
    multi = getattr(headers, "multi_items", None)
    pairs: Iterable[tuple[Any, Any]] = headers.items() if multi is None else multi()
    for name, value in pairs:
        values: Any = [value] if isinstance(value, (str, bytes)) else value
        key = (name.decode("latin-1") if isinstance(name, bytes) else str(name)).lower()
        texts = list(cast("Sequence[Any]", values)) if isinstance(values, (list, tuple)) else []
        if key in found or len(texts) != 1:
            found[key] = None
        else:
            text: Any = texts[0]
            found[key] = text.decode("latin-1") if isinstance(text, bytes) else str(text)
    return found


def _secrets_of(secret: object) -> list[str]:
    secrets: list[Any] = [secret]
    if isinstance(secret, (list, tuple)):
        secrets = list(cast("Sequence[Any]", secret))
    if not all(isinstance(each, str) for each in secrets):
        raise TypeError("secret must be the whsec_… of the endpoint, or several of them")
    if len(secrets) == 0 or "" in secrets:
        raise ValueError("secret must be the whsec_… of the endpoint, or several of them")
    return secrets


def _hmac(key: bytes, text: str, body: bytes) -> bytes:
    return hmac.new(key, text.encode() + body, hashlib.sha256).digest()


def _secret_bytes(secret: str) -> bytes | None:
    """The secret's own bytes, which Standard Webhooks signs with; None when it is not in that form."""
    if not secret.startswith("whsec_"):
        return None
    text = secret[len("whsec_") :]
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True) or None
    except (binascii.Error, ValueError):
        return None


@dataclass(frozen=True)
class _Claim:
    """A time, and whether a secret signed it together with the body."""

    timestamp: int
    is_signed_with: Callable[[str], bool] = field(repr=False)


def _claims_of(headers: dict[str, str | None], body: bytes) -> list[_Claim]:
    claims: list[_Claim] = []
    for name in ("x-svc-signature", "x-purser-signature"):
        found = _SIGNED.match(headers.get(name) or "")
        if found is not None:
            claims.append(_own_claim(found.group(1), bytes.fromhex(found.group(2)), body))
    message_id, told = headers.get("webhook-id"), headers.get("webhook-timestamp") or ""
    for signature in (headers.get("webhook-signature") or "").split(" ")[:10]:
        standard = _STANDARD.match(signature)
        if message_id is not None and _TIME.match(told) and standard is not None:
            claims.append(_standard_claim(message_id, told, base64.b64decode(standard.group(1)), body))
    return claims


def _own_claim(told: str, digest: bytes, body: bytes) -> _Claim:
    return _Claim(
        int(told),
        lambda secret: hmac.compare_digest(
            _hmac(secret.encode("utf-8", "surrogatepass"), f"{told}.", body), digest
        ),
    )


def _standard_claim(message_id: str, told: str, digest: bytes, body: bytes) -> _Claim:
    def is_signed_with(secret: str) -> bool:
        key = _secret_bytes(secret)
        return key is not None and hmac.compare_digest(_hmac(key, f"{message_id}.{told}.", body), digest)

    return _Claim(int(told), is_signed_with)


def unwrap(
    body: bytes | str,
    headers: HeadersLike,
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """
    The event of a delivery, once its signature and time were verified. `body` is the raw body, exactly as received; with
    several secrets any of them may have signed. `tolerance` and `now` are seconds; the time may be off to either side.
    Compares in constant time. Raises a `WebhookSignatureError` when the delivery proves nothing, a `TypeError` or a
    `ValueError` when an argument is wrong. Deduplicate on the event's `id`.
    """
    raw = _bytes_of(body)
    given = _read_headers(headers)
    secrets = _secrets_of(secret)
    at = time.time() if now is None else now
    for name, value in (("tolerance", tolerance), ("now", at)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} must be a number of seconds")
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number of seconds from 0")
    claims = _claims_of(given, raw)
    if not claims:
        raise WebhookSignatureError("The delivery is unsigned, or its signature has an unknown form")
    timely = [each for each in claims if abs(at - each.timestamp) <= tolerance]
    if not timely:
        off = round(at - claims[0].timestamp)
        raise WebhookSignatureError(
            f"The delivery is {abs(off)} seconds {'old' if off > 0 else 'ahead of our clock'}"
        )
    if not any([claim.is_signed_with(each) for claim in timely for each in secrets]):
        raise WebhookSignatureError("The signature does not match this body and these secrets")
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        event = None
    if (
        is_object(event)
        and isinstance(event.get("id"), str)
        and isinstance(event.get("type"), str)
        and isinstance(event.get("data"), dict)
    ):
        return cast("WebhookEvent", event)
    raise WebhookSignatureError("The delivery is signed, but is not an event")


def sign(
    body: bytes | str,
    secret: str,
    *,
    id: str | None = None,
    type: str | None = None,
    timestamp: int | None = None,
) -> dict[str, str]:
    """
    The headers of a delivery of this body, as the service would send them. For tests of receivers. `id` and `type` are
    the body's by default, `timestamp` (Unix seconds) is now.
    """
    raw = _bytes_of(body)
    if not isinstance(secret, str):
        raise TypeError("secret must be a str such as whsec_…")
    if secret == "":
        raise ValueError("secret must be a text such as whsec_…")
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        event = None
    told: dict[str, Any] = event if is_object(event) else {}
    event_id = id if id is not None else str(told.get("id", "evt_test"))
    event_type = type if type is not None else str(told.get("type", "webhook.test"))
    at = int(time.time()) if timestamp is None else timestamp
    signature = f"t={at},v1={_hmac(secret.encode('utf-8', 'surrogatepass'), f'{at}.', raw).hex()}"
    headers = {"content-type": "application/json"}
    for prefix in ("x-svc", "x-purser"):
        headers[f"{prefix}-id"] = event_id
        headers[f"{prefix}-type"] = event_type
        headers[f"{prefix}-signature"] = signature
    key = _secret_bytes(secret)
    if key is not None:
        standard = base64.b64encode(_hmac(key, f"{event_id}.{at}.", raw)).decode()
        headers |= {
            "webhook-id": event_id,
            "webhook-timestamp": str(at),
            "webhook-signature": f"v1,{standard}",
        }
    return headers

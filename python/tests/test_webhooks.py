"""A delivery counts when its signature and its time do, in either form, and only then."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from purser import WebhookSignatureError, webhooks

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"id": "evt_1", "type": "decision.created", "created_at": "2026-11-21T08:30:00.000Z", "data": {}}
BODY = json.dumps(EVENT)
NOW = 1_790_000_000


def signed(body: str = BODY, secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    return webhooks.sign(body, secret, timestamp=at)


@pytest.mark.parametrize("kept", ["x-svc-signature", "x-purser-signature", "webhook-"])
@pytest.mark.parametrize("body", [BODY, BODY.encode(), bytearray(BODY.encode())])
def test_each_form_of_signature_proves_the_event(kept: str, body: Any) -> None:
    headers = {name.upper(): text for name, text in signed().items() if name.startswith(kept)}
    assert webhooks.unwrap(body, headers, SECRET, now=NOW) == EVENT
    assert webhooks.unwrap(body, headers, ["whsec_b2xk", SECRET], now=NOW + 300) == EVENT


@pytest.mark.parametrize("off", [-301, 301])
def test_a_time_that_is_off_to_either_side_is_refused(off: int) -> None:
    with pytest.raises(WebhookSignatureError, match="301 seconds"):
        webhooks.unwrap(BODY, signed(at=NOW + off), SECRET, now=NOW)
    assert webhooks.unwrap(BODY, signed(at=NOW + off), SECRET, now=NOW, tolerance=301) == EVENT


def test_another_body_secret_or_time_is_refused() -> None:
    for body, headers, secret in (
        (BODY + " ", signed(), SECRET),
        (BODY, signed(), "whsec_b3RoZXI="),
        (BODY, signed(secret="other"), SECRET),
        (BODY, {"x-svc-signature": signed()["x-svc-signature"].replace(str(NOW), str(NOW + 1))}, SECRET),
    ):
        with pytest.raises(WebhookSignatureError, match="does not match"):
            webhooks.unwrap(body, headers, secret, now=NOW)


def test_a_header_that_comes_twice_counts_as_missing() -> None:
    name, text = "x-svc-signature", signed()["x-svc-signature"]
    twice: list[Any] = [
        httpx2.Headers([(name, text), (name, text)]),
        {name: [text, text]},
        {name: text, name.upper(): text},
    ]
    for headers in twice:
        with pytest.raises(WebhookSignatureError, match="unsigned"):
            webhooks.unwrap(BODY, headers, SECRET, now=NOW)
    assert webhooks.unwrap(BODY, {name: [text]}, SECRET, now=NOW) == EVENT
    assert webhooks.unwrap(BODY, httpx2.Headers({name: text}), SECRET, now=NOW) == EVENT


@pytest.mark.parametrize(
    "headers", [{}, {"x-svc-signature": "v1=00"}, {"x-svc-signature": "t=٣,v1=" + "0" * 64}]
)
def test_a_delivery_in_no_known_form_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(WebhookSignatureError, match="unsigned"):
        webhooks.unwrap(BODY, headers, SECRET, now=NOW)


@pytest.mark.parametrize(
    "body", ["[]", "null", "{", '{"id":"evt_1"}', '{"id":1,"type":"a","data":{}}', "[" * 99_999]
)
def test_what_is_signed_and_no_event_is_refused(body: str) -> None:
    with pytest.raises(WebhookSignatureError, match="not an event"):
        webhooks.unwrap(body, signed(body), SECRET, now=NOW)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ((EVENT, {}, SECRET), TypeError),
        ((BODY, "x-svc-signature", SECRET), TypeError),
        ((BODY, {}, None), TypeError),
        ((BODY, {}, b"whsec_"), TypeError),
        ((BODY, {}, ""), ValueError),
        ((BODY, {}, []), ValueError),
    ],
)
def test_a_wrong_argument_is_no_refusal(arguments: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        webhooks.unwrap(*arguments)
    for wrong in ({"tolerance": -1}, {"now": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            webhooks.unwrap(BODY, {}, SECRET, **wrong)


def test_the_signatures_are_those_of_the_typescript_client() -> None:
    headers = webhooks.sign('{"id":"evt_1","type":"a","data":{}}', "whsec_c2VjcmV0", timestamp=1_700_000_000)
    import base64
    import hashlib
    import hmac

    raw = b'{"id":"evt_1","type":"a","data":{}}'
    own = hmac.new(b"whsec_c2VjcmV0", b"1700000000." + raw, hashlib.sha256).hexdigest()
    standard = hmac.new(b"secret", b"evt_1.1700000000." + raw, hashlib.sha256).digest()
    assert headers["x-svc-signature"] == headers["x-purser-signature"] == f"t=1700000000,v1={own}"
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(standard).decode()}"
    assert (headers["x-svc-id"], headers["webhook-id"], headers["x-svc-type"]) == ("evt_1", "evt_1", "a")
    assert "webhook-id" not in webhooks.sign(BODY, "no prefix")

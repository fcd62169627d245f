from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Decision


class PurserError(Exception):
    """Everything that this library raises, but for `TypeError` and `ValueError` about wrong arguments."""

    def __init__(
        self, message: str, *, request_id: str | None = None, idempotency_key: str | None = None
    ) -> None:
        super().__init__(message)
        #: The `x-request-id` of the call, for whoever reads the service's log.
        self.request_id = request_id
        #: The call's `idempotency-key`, the same on all its attempts.
        self.idempotency_key = idempotency_key


class APIError(PurserError):
    """The service refused or failed, and said so."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "unexpected_response",
        headers: Mapping[str, str] | None = None,
        request_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id, idempotency_key=idempotency_key)
        self.status = status
        #: The code to branch on; `unexpected_response` if the response was not Purser's.
        self.code = code
        self.headers: Mapping[str, str] = {} if headers is None else headers

    @property
    def retryable(self) -> bool:
        """True if the same request may succeed later."""
        return self.status in (408, 429) or self.status >= 500


class AuthenticationError(APIError):
    """401: the key is missing, unknown, revoked or expired."""


class PermissionDeniedError(APIError):
    """403: the key or its agent may not do this."""


class InvalidRequestError(APIError):
    """400: the request is wrong."""

    @property
    def field(self) -> str | None:
        """The name of the field at fault, where the message begins with one."""
        found = re.match(r"([A-Za-z_][\w.[\]-]*): ", str(self))
        return None if found is None else found.group(1)


class ConflictError(APIError):
    """409: the state of things forbids it. Never retried."""


class RateLimitError(APIError):
    """429: too many requests."""

    @property
    def retry_after(self) -> float:
        """Seconds."""
        try:
            seconds = float(self.headers.get("retry-after", ""))
        except ValueError:
            return 60.0
        return seconds if 0 <= seconds < float("inf") else 60.0


class APIConnectionError(PurserError):
    """No whole answer of the service came. Whether the request was carried out is not known."""


class APITimeoutError(APIConnectionError):
    """No whole answer came within `timeout`."""


class PurserUnavailable(PurserError):
    """Purser cannot be asked right now, so nothing was paid. The same call may be made again."""


class WebhookSignatureError(PurserError):
    """A webhook delivery whose signature proves nothing."""


class SpendError(PurserError):
    """A spend that did not end in a payment that is known of."""

    def __init__(
        self,
        message: str,
        decision: Decision,
        *,
        request_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        text = f"{message} ({decision['decision_id']})"
        super().__init__(text, request_id=request_id, idempotency_key=idempotency_key)
        self.decision = decision


class SpendDenied(SpendError):
    """DENY, by policy or by a person, or nobody reviewed it in time. Nothing was paid."""


class SpendPending(SpendError):
    """It waits for a person. Nothing was paid; call again with the same `idempotency_key` to go on."""


class SpendRefused(SpendError):
    """The capability was refused. Nothing was paid."""


class SpendUnfinished(SpendError):
    """An earlier call with this name began to pay: whether it did is for the payment system to say."""


class SpendFailed(SpendError):
    """The payment definitely failed, and was reported so. A new attempt needs a new `idempotency_key`."""


class SpendUncertain(SpendError):
    """`pay` raised and that proves nothing: nothing was reported and the money stays held."""


class PaymentFailed(Exception):
    """Raise it in `pay` when the payment system said no: proof that no money moved."""


_BY_STATUS: dict[int, type[APIError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(
    status: int, headers: Mapping[str, str], text: str, request_id: str | None, idempotency_key: str | None
) -> APIError:
    """The error of an answer with this status and text."""
    code, message = "unexpected_response", f"HTTP {status} without a Purser error"
    try:
        told = json.loads(text)["error"]
        if isinstance(told["code"], str) and isinstance(told["message"], str):
            code, message = told["code"], told["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        # Not the service's own body: something between here and there spoke.
        pass
    return _BY_STATUS.get(status, APIError)(
        message,
        status=status,
        code=code,
        headers=headers,
        request_id=request_id,
        idempotency_key=idempotency_key,
    )

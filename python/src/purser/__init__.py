"""The Python client of Purser: ask before an agent spends, wait for a person if it must, pay once, report."""

from . import types, webhooks
from ._authorize import Authorization
from ._client import AsyncPurser, Purser, Response
from ._errors import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    PaymentFailed,
    PermissionDeniedError,
    PurserError,
    PurserUnavailable,
    RateLimitError,
    SpendDenied,
    SpendError,
    SpendFailed,
    SpendPending,
    SpendRefused,
    SpendUncertain,
    SpendUnfinished,
    WebhookSignatureError,
)
from ._options import RequestEvent
from ._pages import AsyncLines, AsyncPage, AsyncPages, Lines, Page
from ._shapes import is_decision
from ._spend import Grant, Spent, Unreported
from ._version import VERSION as __version__
from .types import SpendRequest, WebhookEvent

__all__ = [
    "APIConnectionError",
    "APIError",
    "APITimeoutError",
    "AsyncLines",
    "AsyncPage",
    "AsyncPages",
    "AsyncPurser",
    "AuthenticationError",
    "Authorization",
    "ConflictError",
    "Grant",
    "InvalidRequestError",
    "Lines",
    "Page",
    "PaymentFailed",
    "PermissionDeniedError",
    "Purser",
    "PurserError",
    "PurserUnavailable",
    "RateLimitError",
    "RequestEvent",
    "Response",
    "SpendDenied",
    "SpendError",
    "SpendFailed",
    "SpendPending",
    "SpendRefused",
    "SpendRequest",
    "SpendUncertain",
    "SpendUnfinished",
    "Spent",
    "Unreported",
    "WebhookEvent",
    "WebhookSignatureError",
    "__version__",
    "is_decision",
    "types",
    "webhooks",
]

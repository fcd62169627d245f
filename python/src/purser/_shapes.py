from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

#: The largest whole number that every language of the API counts exactly.
MAX_AMOUNT = 2**53 - 1
_DECISION_ID = re.compile(r"dec_[0-9A-Za-z]{1,60}\Z")
_CURRENCY = re.compile(r"[A-Z]{3}\Z")


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """An object of JSON."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """An object as a caller may give it."""
    return isinstance(value, Mapping)


def is_amount(value: object) -> bool:
    """A whole number from 0 that is exact."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_AMOUNT


def is_currency(value: object) -> bool:
    """Three capital letters."""
    return isinstance(value, str) and _CURRENCY.match(value) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_decision_id(value: object) -> bool:
    return isinstance(value, str) and _DECISION_ID.match(value) is not None


def _is_among(value: object, *known: str) -> bool:
    return isinstance(value, str) and value in known


def _is_capability(value: Any) -> bool:
    return (
        is_object(value)
        and _is_among(value.get("status"), "ISSUED", "CONSUMED", "EXPIRED", "REVOKED")
        and ("token" not in value or _is_text(value["token"]))
        and "payee_id" in value
        and (value["payee_id"] is None or _is_text(value["payee_id"]))
        and is_amount(value.get("max_amount_minor"))
        and is_currency(value.get("currency"))
    )


def is_decision(value: Any) -> bool:
    """True if every field by which a payment is made or refused is there, and of its type."""
    return (
        is_object(value)
        and _is_decision_id(value.get("decision_id"))
        and _is_among(value.get("mode"), "SHADOW", "ENFORCE")
        and _is_among(value.get("effective_decision"), "ALLOW", "REVIEW", "DENY")
        and "review_state" in value
        and (value["review_state"] is None or _is_text(value["review_state"]))
        and _is_among(
            value.get("outcome_state"),
            *("NONE", "EXECUTED", "FAILED", "CANCELLED", "PARTIALLY_REFUNDED", "REFUNDED"),
        )
        and is_amount(value.get("requested_amount_minor"))
        and is_amount(value.get("authorized_amount_minor"))
        and is_currency(value.get("currency"))
        and "capability" in value
        and (value["capability"] is None or _is_capability(value["capability"]))
    )


def _is_page(value: Any) -> bool:
    return (
        is_object(value)
        and isinstance(value.get("data"), list)
        and all(map(is_object, value["data"]))
        and "next_cursor" in value
        and (value["next_cursor"] is None or _is_text(value["next_cursor"]))
    )


def _is_consumption(value: Any) -> bool:
    return (
        is_object(value)
        and _is_decision_id(value.get("decision_id"))
        and value.get("status") == "CONSUMED"
        and is_amount(value.get("amount_minor"))
        and is_currency(value.get("currency"))
    )


def _is_outcome(value: Any) -> bool:
    return (
        is_object(value)
        and _is_decision_id(value.get("decision_id"))
        and _is_text(value.get("outcome_id"))
        and _is_text(value.get("type"))
    )


def _is_allowance(value: Any) -> bool:
    return is_object(value) and _is_text(value.get("id"))


#: What answers are held against, since a proxy may answer instead of the service: a name for errors, and a check.
SHAPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", is_object),
    "page": ("a page of a list", _is_page),
    "nothing": ("a response without a body", lambda value: value is None),
    "anything": ("JSON", lambda _: True),
    "decision": ("a decision", is_decision),
    "consumption": ("a consumption", _is_consumption),
    "outcome": ("an outcome", _is_outcome),
    "allowance": ("an allowance", _is_allowance),
}

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from ._shapes import is_mapping

MAX_SECONDS = 2_147_483.647
_VISIBLE = re.compile(r"[!-~]{1,255}\Z")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}\Z")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")


@dataclass(frozen=True)
class RequestEvent:
    """What `on_request` is given: one for each attempt and each result. Times in seconds; no body, no key."""

    type: Literal["request", "response", "retry", "failure"]
    method: str
    path: str
    #: 1 for the first.
    attempt: int
    request_id: str
    status: int | None = None
    duration: float | None = None
    wait: float | None = None
    error: BaseException | None = None


def check_text(name: str, value: object) -> str:
    """1 to 255 visible ASCII characters."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str")
    if not _VISIBLE.match(value):
        raise ValueError(f"{name} must be 1 to 255 visible ASCII characters")
    return value


def check_request_id(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("request_id must be a str")
    if not _REQUEST_ID.match(value):
        raise ValueError("request_id must be 1 to 128 characters of A-Z, a-z, 0-9 and ._:/+=@-")
    return value


def check_seconds(name: str, value: object, *, least: float | None = None) -> float:
    """A number of seconds above 0, or from `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds")
    fits = value > 0 if least is None else value >= least
    if not fits or not value <= MAX_SECONDS:
        bound = "above 0" if least is None else f"from {least}"
        raise ValueError(f"{name} must be a number of seconds {bound}, at most {MAX_SECONDS}")
    return float(value)


def check_count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int")
    if not 0 <= value <= 100:
        raise ValueError(f"{name} must be a whole number from 0 to 100")
    return value


def check_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False")
    return value


def check_callable(name: str, value: object) -> Any:
    if not callable(value):
        raise TypeError(f"{name} must be a function")
    return value


def check_headers(name: str, value: object) -> dict[str, str]:
    items: list[tuple[Any, Any]] = list(value.items()) if is_mapping(value) else [(None, None)]
    if not all(isinstance(each, str) for item in items for each in item):
        raise TypeError(f"{name} must be a mapping of header names and texts")
    for key, text in items:
        if not _HEADER.match(key) or re.search(r"[^\t -~\x80-\xff]", text):
            raise ValueError(f"{name}: {key!r} is no header")
    return {key.lower(): text for key, text in items}


class Settings:
    """Checked options of a client. The key is in closures alone: neither `vars` nor `repr` shows it."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None,
        timeout: float,
        max_retries: int,
        default_headers: Mapping[str, str] | None,
        on_request: Callable[[RequestEvent], object] | None,
        allow_insecure: bool,
    ) -> None:
        key = os.environ.get("PURSER_API_KEY") if api_key is None else check_text("api_key", api_key)
        if not key or not _VISIBLE.match(key):
            raise ValueError("api_key is missing: give it, or set PURSER_API_KEY")
        given = os.environ.get("PURSER_BASE_URL") or "http://127.0.0.1:8080" if base_url is None else base_url
        self.base_url, host, scheme = _check_base_url(given)
        self.is_loopback = _is_loopback(host)
        if scheme == "http" and not self.is_loopback and not check_flag("allow_insecure", allow_insecure):
            raise ValueError(
                f"base_url: the key would be sent unencrypted to {host}; use https, or allow_insecure=True"
            )
        check_flag("allow_insecure", allow_insecure)
        self.timeout = check_seconds("timeout", timeout)
        self.max_retries = check_count("max_retries", max_retries)
        self.default_headers = check_headers("default_headers", default_headers or {})
        self.on_request = None if on_request is None else check_callable("on_request", on_request)
        #: False once the service has refused to hold a look back until something changes.
        self.holds_looks = True
        self.with_key: Callable[[Mapping[str, str]], dict[str, str]] = lambda headers: {
            **headers,
            "x-api-key": key,
        }
        self._name: Callable[[], str] = lambda: f"{self.base_url}\n{key}"

    def name_of(self, *parts: str) -> str:
        """A name within the service and the key, as a hash."""
        return hashlib.sha256("\n".join([self._name(), *parts]).encode("utf-8", "surrogatepass")).hexdigest()


def _check_base_url(value: object) -> tuple[str, str, str]:
    if not isinstance(value, str):
        raise TypeError("base_url must be a str")
    try:
        url = urlsplit(value.strip())
        host, port = url.hostname, url.port
    except ValueError:
        host, port, url = None, None, urlsplit("")
    extra = url.query or url.fragment or url.username or url.password
    if url.scheme not in ("http", "https") or not host or extra or not re.match(r"[!-~]+\Z", value.strip()):
        raise ValueError("base_url must be an http or https URL without user, query and fragment")
    shown = f"[{host}]" if ":" in host else host
    return (
        f"{url.scheme}://{shown}{'' if port is None else f':{port}'}{url.path.rstrip('/')}",
        host,
        url.scheme,
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

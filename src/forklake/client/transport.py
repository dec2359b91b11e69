"""Requests to a service, and its problems as the errors that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from forklake import errors
from forklake.errors import ForklakeError, InvalidInput, Unavailable

ARROW = "application/vnd.apache.arrow.stream"
_CODES: dict[str, type[ForklakeError]] = {kind.code: kind for kind in errors.OUTCOMES}
_STEPS = frozenset({"", ".", ".."})
_again = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(4),
    wait=wait_random_exponential(multiplier=0.05, max=1.0),
    reraise=True,
)


class Transport:
    """One service and the credential to use it with. Safe to share between threads."""

    def __init__(self, url: str, key: str | None, *, seconds: float) -> None:
        self.url = _checked(url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=seconds)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def get(self, path: str, **wanted: Any) -> Any:
        """What is there; asked again when the service cannot be reached."""
        return _again(self.send)("GET", path, wanted=wanted).json()

    def change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Change something; asked once, since an answer may be lost after it was done."""
        answer = self.send(method, path, body=body)
        return answer.json() if answer.content else None

    def send(
        self,
        method: str,
        path: str,
        *,
        wanted: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> httpx.Response:
        """One request; its answer, or the error that it tells of."""
        given = {name: value for name, value in (wanted or {}).items() if value is not None}
        try:
            answer = self._client.request(
                method,
                path,
                params=given,
                json=body,
                headers={"Accept": accept},
            )
        except httpx.TransportError as reason:
            raise Unavailable(
                f"The service at {self.url} does not answer: {reason or type(reason).__name__}.",
                remedy="See whether it runs, and whether the address is right.",
            ) from None
        if answer.is_success:
            return answer
        raise _error(answer)


def path_of(*parts: object) -> str:
    """An address below /v1 of names, whatever they are made of.

    >>> path_of("catalogs", "a/b", "forks")
    '/v1/catalogs/a%2Fb/forks'
    """
    texts = [str(part) for part in parts]
    for text in texts:
        if text in _STEPS:  # on the way it would be taken for a step to another address
            raise InvalidInput(
                f"The name {text!r} cannot be part of an address.",
                remedy="Use SQL in a session to get at it.",
            )
    return "/v1/" + "/".join(quote(text, safe="") for text in texts)


def _error(answer: httpx.Response) -> ForklakeError:
    try:
        told = answer.json()["error"]
        return error_of(told)
    except (ValueError, KeyError, TypeError):
        return Unavailable(
            f"The answer {answer.status_code} of {answer.url.host} is not of a service.",
            remedy="See whether the address is right.",
        )


def error_of(told: Mapping[str, Any]) -> ForklakeError:
    """The error that a service tells of."""
    kind = _CODES.get(told["code"], ForklakeError)
    return kind(told["message"], remedy=told["remedy"], **told["details"])


def _checked(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{url!r} is not the address of a service.",
            remedy="Write it as http://host:port or https://host.",
        )
    return url.rstrip("/")

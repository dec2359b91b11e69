"""HTTP requests to a service, with error responses raised as Forklake errors."""

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
_STEPS = frozenset({"", ".", ".."})  # path segments that clients and proxies normalize away
_retry_if_unavailable = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(4),
    wait=wait_random_exponential(multiplier=0.05, max=1.0),
    reraise=True,
)


class Transport:
    """Connection pool to one service, with a credential. Thread-safe."""

    def __init__(self, url: str, key: str | None, *, seconds: float) -> None:
        self.url = _check_url(url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=seconds)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """Send a GET request and return the JSON response. Retry if the service is unavailable."""
        return _retry_if_unavailable(self.send)("GET", path, parameters=parameters).json()

    def change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request that changes something, and return the JSON response or None.

        It is not retried: the change may have been made even if the response was lost.
        """
        response = self.send(method, path, body=body)
        return response.json() if response.content else None

    def send(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> httpx.Response:
        """Send one request and return its response, or raise the error that it reports."""
        query = {name: value for name, value in (parameters or {}).items() if value is not None}
        try:
            response = self._client.request(
                method,
                path,
                params=query,
                json=body,
                headers={"Accept": accept},
            )
        except httpx.TransportError as reason:
            raise Unavailable(
                f"The service at {self.url} does not respond: {reason or type(reason).__name__}.",
                remedy="Check that it is running and that the URL is correct.",
            ) from None
        if response.is_success:
            return response
        raise _response_error(response)


def path_of(*parts: object) -> str:
    """Return the path below /v1 with the given segments, percent-encoded.

    >>> path_of("catalogs", "a/b", "forks")
    '/v1/catalogs/a%2Fb/forks'
    """
    texts = [str(part) for part in parts]
    for text in texts:
        if text in _STEPS:
            raise InvalidInput(
                f"The name {text!r} cannot be part of a URL.",
                remedy="Use SQL in a session to access an object with this name.",
            )
    return "/v1/" + "/".join(quote(text, safe="") for text in texts)


def _response_error(response: httpx.Response) -> ForklakeError:
    try:
        problem = response.json()["error"]
        return to_error(problem)
    except (ValueError, KeyError, TypeError):
        return Unavailable(
            f"The response of {response.url.host} with status {response.status_code} is not from a"
            " Forklake service.",
            remedy="Check the URL of the service.",
        )


def to_error(problem: Mapping[str, Any]) -> ForklakeError:
    """Return the error that an error response describes."""
    kind = _CODES.get(problem["code"], ForklakeError)
    return kind(problem["message"], remedy=problem["remedy"], **problem["details"])


def _check_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{url!r} is not the URL of a service.",
            remedy="Use the form http://host:port or https://host.",
        )
    return url.rstrip("/")

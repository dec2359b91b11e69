"""Settings of a service, from the command line or a TOML file."""

from __future__ import annotations

import ipaddress
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from forklake.errors import InvalidInput

Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseModel):
    """Settings with their defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Metastores and data
    metastore: str = "ducklake:forklake.db"
    metadata_schema: str | None = None
    create: bool = False
    data_path: str | None = None  # of new catalogs
    stamps: dict[str, str] = {}  # name -> attach string of an additional metastore

    # Network
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8480
    shutdown_seconds: Seconds = 30.0
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-… are trusted

    # Limits of connections
    connections: Positive = 1024
    connections_per_address: Positive = 256
    head_seconds: Seconds = 10.0
    body_seconds: Seconds = 20.0  # between two parts of a body
    refusals_per_minute: Positive = 60  # invalid credentials, by address and by key

    # Limits of requests
    body_bytes: Positive = 8 * 2**20
    request_seconds: Seconds = 60.0
    threads: Positive = 32

    # Sessions
    sessions: Positive = 64
    sessions_per_principal: Positive = 8
    idle_seconds: Seconds = 1800.0
    statement_seconds: Seconds = 3600.0
    stop_seconds: Seconds = 5.0  # until Java is restarted if a cancelled statement does not end
    result_bytes: Positive = 256 * 2**20
    file_roots: tuple[str, ...] = ()  # folders whose files statements may read
    spark_dialect: bool = False

    # Background tasks
    expiry_seconds: Seconds = 30.0  # interval at which expired catalogs are dropped
    automations: Annotated[int, Field(ge=0, le=64)] = 0  # workbooks run concurrently when due
    log_level: str = "info"

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for one in given:
            ipaddress.ip_network(one, strict=False)
        return given

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is a loopback address of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_settings(path: str | None = None, **given: Any) -> Settings:
    """Return the settings in a TOML file, overridden by the given ones that are not None."""
    found = _read(Path(path)) if path is not None else {}
    found |= {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**found)
    except ValidationError as reason:
        first = reason.errors(include_input=False, include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"Setting '{name}' is invalid: {first['msg']}.",
            remedy=f"Available settings: {', '.join(Settings.model_fields)}.",
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise InvalidInput(
            f"The settings file '{path}' cannot be read: {reason.strerror}.",
            remedy="Check the path and permissions of the TOML file.",
        ) from None
    except ValueError as reason:
        raise InvalidInput(
            f"The settings file '{path}' is not valid TOML: {reason}.",
            remedy="Correct the file.",
        ) from None

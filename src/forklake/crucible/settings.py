"""Settings: what an operator says about a service, by command line or in a TOML file."""

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
    """All settings, with what holds when nothing is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Where the catalogs are
    metastore: str = "ducklake:forklake.db"
    metadata_schema: str | None = None
    create: bool = False
    data_path: str | None = None  # of new catalogs
    stamps: dict[str, str] = {}  # name -> attach string of a further metastore

    # Where it listens
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8480
    shutdown_seconds: Seconds = 30.0
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-… are believed

    # What a connection may take
    connections: Positive = 1024
    connections_per_address: Positive = 256
    head_seconds: Seconds = 10.0
    body_seconds: Seconds = 20.0  # between two parts of a body
    refusals_per_minute: Positive = 60  # credentials, by address and by key

    # What a request may take
    body_bytes: Positive = 8 * 2**20
    request_seconds: Seconds = 60.0
    threads: Positive = 32

    # Sessions
    sessions: Positive = 64
    sessions_per_principal: Positive = 8
    idle_seconds: Seconds = 1800.0
    statement_seconds: Seconds = 3600.0
    stop_seconds: Seconds = 5.0  # until Java is replaced under a statement that does not stop
    result_bytes: Positive = 256 * 2**20
    file_roots: tuple[str, ...] = ()  # folders that statements may read files of
    spark_dialect: bool = False

    # What it does by itself
    expiry_seconds: Seconds = 30.0  # how often catalogs whose time is over are dropped
    automations: Annotated[int, Field(ge=0, le=64)] = 0  # workbooks that it runs at once when due
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
    """Whether a name or address is this machine's own, for itself alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_settings(path: str | None = None, **given: Any) -> Settings:
    """The settings of a TOML file, with those that were given (and are not None) on top."""
    found = _read(Path(path)) if path is not None else {}
    found |= {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**found)
    except ValidationError as reason:
        first = reason.errors(include_input=False, include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"The setting '{name}' cannot be taken: {first['msg']}.",
            remedy=f"Settings are: {', '.join(Settings.model_fields)}.",
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise InvalidInput(
            f"The file of settings '{path}' cannot be read: {reason.strerror}.",
            remedy="Give the path of a TOML file.",
        ) from None
    except ValueError as reason:
        raise InvalidInput(
            f"The file of settings '{path}' is not TOML: {reason}.", remedy="Mend it."
        ) from None

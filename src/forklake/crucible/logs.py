"""Logs: one JSON object a line, with the request's id; never a credential, never a body."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("forklake.crucible")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON; what it carries as `facts` becomes keys of their own."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        found: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            found["trace"] = self.formatException(record.exc_info)
        return json.dumps(found, default=str)


def configure(level: str) -> None:
    """Write the service's log, and that of its web server, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("forklake", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False


def note(event: str, *, level: int = logging.INFO, failed: bool = False, **facts: Any) -> None:
    """Log an event with its facts; with the trace of the error at hand if it failed."""
    LOGGER.log(level, event, exc_info=failed, extra={"facts": facts})

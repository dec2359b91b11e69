"""Logging as one JSON object per line, with the request id. Never log a credential or a body."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("forklake.crucible")


class JsonFormatter(logging.Formatter):
    """Formatter for JSON lines. The attribute `facts` of a record becomes top-level keys."""

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


def configure_logging(level: str) -> None:
    """Write the logs of the service and of its web server to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("forklake", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False


def log_event(event: str, *, level: int = logging.INFO, failed: bool = False, **facts: Any) -> None:
    """Log an event with its facts, and with the traceback of the current exception if `failed`."""
    LOGGER.log(level, event, exc_info=failed, extra={"facts": facts})

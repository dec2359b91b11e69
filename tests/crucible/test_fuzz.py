"""Random requests compared with the OpenAPI document: every response is documented, none fails.

FORKLAKE_FUZZ_CASES is the total number of requests.
"""

from __future__ import annotations

import math
import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, reject, settings, strategies
from hypothesis.strategies import DrawFn
from schemathesis import GenerationMode, checks
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from tests.crucible.served import RunningService

CASES = int(os.environ.get("FORKLAKE_FUZZ_CASES", "240"))
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
# Existing names: with random ones alone little more than "not found" would be tested.
KNOWN = {
    "catalog": "c",
    "schema": "main",
    "table": "t",
    "column": "a",
    "option": "target_file_size",
    "principal": "alice",
}
# These start Spark jobs as soon as there is a catalog.
WITH_SPARK = ("/maintenance/", "/views")
C = "/v1/catalogs"


def restore_objects(service: RunningService) -> None:
    """Create the known objects again if an earlier request removed them."""
    root = service.client_of("root")
    root.post(C, json={"name": "c", "if_not_exists": True})
    columns = [{"name": name, "type": "int32"} for name in "ab"]
    table = {"name": "t", "columns": columns, "if_not_exists": True}
    root.post(f"{C}/c/schemas", json={"name": "main", "if_not_exists": True})
    root.post(f"{C}/c/schemas/main/tables", json=table)
    assert root.get(f"{C}/c/schemas/main/tables/t").is_success


@pytest.mark.slow
@pytest.mark.timeout(3600 if CASES > 1000 else 300)
def test_random_requests_get_documented_responses(service: RunningService) -> None:
    schema = schemathesis.openapi.from_url(f"{service.address}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) > 50
    count = 0
    # Requests without parameters are few: their unused share goes to the others.
    for done, operation in enumerate(sorted(operations, key=count_variable_parts)):
        restore_objects(service)
        count += fuzz(operation, service, math.ceil((CASES - count) / (len(operations) - done)))
    assert count >= CASES


def count_variable_parts(operation: APIOperation[Any, Any, Any, Any]) -> int:
    """Return how much of a request can be varied."""
    parameters = (operation.path_parameters, operation.query, operation.body)
    return sum(len(list(group)) for group in parameters)


@pytest.mark.slow
def test_a_failing_service_is_detected(service: RunningService) -> None:
    restore_objects(service)
    schema = schemathesis.openapi.from_url(f"{service.address}/openapi.json")
    with service.service.home.database.writing() as connection:
        connection.fetch("DROP TABLE ducklake_schema")
        connection.commit()
    with pytest.raises(FailureGroup):
        fuzz(schema["/v1/catalogs/{catalog}/schemas"]["GET"], service, 20)


def fuzz(operation: APIOperation[Any, Any, Any, Any], service: RunningService, most: int) -> int:
    """Send up to `most` requests of one operation, and return how many there were."""
    count = 0
    keeping = {"principal"} if operation.method.upper() == "DELETE" else set()
    headers = {"Authorization": f"Bearer {service.keys['root']}"}

    @given(case=cases_of(operation), is_known=strategies.booleans())
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def one(case: schemathesis.Case[Any], is_known: bool) -> None:
        nonlocal count
        count += 1
        if is_known and not any(part in operation.path for part in WITH_SPARK):
            for name in set(KNOWN) & set(case.path_parameters) - keeping:
                case.path_parameters[name] = KNOWN[name]
        case.call_and_validate(headers=headers, checks=CHECKS)

    one()
    return count


@strategies.composite
def cases_of(draw: DrawFn, operation: APIOperation[Any, Any, Any, Any]) -> schemathesis.Case[Any]:
    """Draw requests that match the document, and requests that do not."""
    if draw(strategies.booleans()):
        return draw(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    try:
        return draw(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    except InvalidSchema:  # nothing matches the negation of this schema
        reject()

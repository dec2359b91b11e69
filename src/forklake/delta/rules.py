"""Rules of a Delta table: what its log requires of writers, in the form that the lake stores.

A rule counts if the protocol lists its feature. A rule that Forklake cannot enforce blocks only the
changes that could violate it: rows that cannot be written can still be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from forklake.catalog.transaction import Transaction
from forklake.delta.actions import Metadata, Protocol
from forklake.delta.expressions import UnusableExpression, require_usable
from forklake.delta.features import explain_unwritable, writer_features
from forklake.delta.schema import DeltaColumnMapping, DeltaField, parse_schema
from forklake.model.entities import Table
from forklake.model.rules import NO_RULES, Check, Generated, Rules

_CONSTRAINT = "delta.constraints."
_IDENTITY = "delta.identity.start"
# Spark functions that are valid defaults, and their names in defaults of the lake.
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.CurrentTimestamp: "now()",
    exp.CurrentDate: "current_date",
}


def apply_rules(
    transaction: Transaction,
    table: Table,
    protocol: Protocol | None,
    metadata: Metadata | None,
) -> None:
    """Apply the rules and the column defaults of a log to a table."""
    reason = explain_unwritable(protocol, metadata)
    transaction.set_unwritable(table, reason)
    if reason is not None or protocol is None or metadata is None:
        transaction.set_rules(table, NO_RULES)
        return
    reader = _RuleReader(protocol, metadata)
    transaction.set_rules(table, reader.read_rules())
    for name, (text, kind) in reader.defaults.items():
        transaction.set_default(table, name, text, default_type=kind)


@dataclass
class _RuleReader:
    """Extraction of the rules from the protocol and metadata of a table."""

    protocol: Protocol
    metadata: Metadata
    defaults: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    _obstacles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._features = writer_features(self.protocol)
        mapping = DeltaColumnMapping.of(self.metadata.configuration)
        self._fields = parse_schema(self.metadata.schema_string, mapping)
        if "allowColumnDefaults" in self._features:
            self._read_defaults()

    def read_rules(self) -> Rules:
        """Return the rules that the lake stores."""
        checks = (*self._read_constraints(), *self._read_invariants(self._fields))
        generated = tuple(self._read_generated())
        if "identityColumns" in self._features:
            self._reject_identities()
        return Rules(
            checks, generated, " ".join(self._obstacles) or None, no_ends=self._read_append_only()
        )

    def _read_append_only(self) -> str | None:
        value = self.metadata.configuration.get("delta.appendOnly") or ""
        is_set = "appendOnly" in self._features and value.lower() == "true"
        return "It is append-only: its rows are never deleted or changed." if is_set else None

    # Constraints

    def _read_constraints(self) -> Iterator[Check]:
        if "checkConstraints" in self._features:
            for key, text in sorted(self.metadata.configuration.items()):
                if key.startswith(_CONSTRAINT) and text:
                    name = f"CHECK constraint '{key.removeprefix(_CONSTRAINT)}'"
                    yield from self._parse_check(name, text)

    def _read_invariants(self, fields: Sequence[DeltaField], inside: str = "") -> Iterator[Check]:
        for one in fields if "invariants" in self._features else ():
            path = f"{inside}{one.name}"
            if one.invariant is not None:
                yield from self._parse_check(f"invariant of column '{path}'", one.invariant)
            yield from self._read_invariants(one.fields, f"{path}.")

    def _parse_check(self, name: str, text: str) -> Iterator[Check]:
        try:
            found = require_usable(text, [one.name for one in self._fields])
            yield Check(name, found.text, found.columns)
        except UnusableExpression as reason:
            self._obstacles.append(f"Forklake cannot check its {name} ({text}): {reason}.")

    # Columns

    def _read_generated(self) -> Iterator[Generated]:
        for one in self._fields if "generatedColumns" in self._features else ():
            text = one.generation_expression
            if text is None:
                continue
            others = [other.name for other in self._fields if other.generation_expression is None]
            try:
                found = require_usable(text, others)
                yield Generated(one.name, found.text, found.columns)
            except UnusableExpression as reason:
                self._obstacles.append(
                    f"Forklake cannot compute its column '{one.name}' ({text}): {reason}."
                )

    def _reject_identities(self) -> None:
        for one in self._fields:
            if _IDENTITY in one.metadata:
                self._obstacles.append(
                    f"Its column '{one.name}' is an identity column, which Forklake does not"
                    " support."
                )

    def _read_defaults(self) -> None:
        for one in self._fields:
            try:
                self.defaults[one.name] = _parse_default(one.default)
            except UnusableExpression:
                self._obstacles.append(
                    f"Its column '{one.name}' has a default that Forklake does not support:"
                    f" {one.default}."
                )


def _parse_default(text: str | None) -> tuple[str | None, str]:
    """Return a default in the form of the lake, with its kind: a literal or an expression."""
    try:
        node = None if text is None else sqlglot.parse_one(text, read="spark")
    except (SqlglotError, RecursionError):
        raise UnusableExpression from None
    match node:
        case None | exp.Null():
            return None, "literal"
        case exp.Literal() | exp.Boolean() | exp.Neg(this=exp.Literal(is_string=False)):
            return node.name if isinstance(node, exp.Literal) else node.sql(), "literal"
        case exp.Cast(this=exp.Literal()):  # DATE '2024-01-31'
            return node.this.name, "literal"
        case exp.Anonymous() if node.name.lower() == "now":
            return "now()", "expression"
        case _ if type(node) in _MOMENTS:
            return _MOMENTS[type(node)], "expression"
    raise UnusableExpression

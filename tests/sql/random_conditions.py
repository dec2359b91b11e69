"""Random values and conditions, which may contain subqueries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.sql.random_relations import (
    BOOL,
    COMPARISONS,
    DATE,
    DECIMAL,
    INT,
    TEXT,
    Describe,
    From,
    Ref,
    Table,
)


@dataclass
class Conditions:
    """A source of random expressions over some tables.

    `describe` returns the names and types of the columns of a query.
    """

    random: Random
    tables: Sequence[Table]
    describe: Describe
    _number: int = 0

    @abstractmethod
    def _from(self, outer: Sequence[Ref], depth: int, *, most: int = 3) -> From: ...

    # Helpers

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _name(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}{self._number}"

    def _pick(self, refs: Sequence[Ref], kind: str) -> Ref | None:
        fitting = [one for one in refs if one.kind == kind]
        return self.random.choice(fitting) if fitting else None

    # Values

    def literal(self, kind: str) -> str:
        """Return a constant of a kind."""
        choice = self.random.choice
        match kind:
            case "int":
                return str(choice([0, 1, 2, 3, 4, 5, -1, 10]))
            case "text":
                return choice(["'x'", "'y'", "'z'", "''", "'Xy'"])
            case "bool":
                return choice(["true", "false"])
            case "decimal":
                return choice(["1.50", "2.00", "0.25", "-3.75"])
        return choice(["DATE '2024-01-01'", "DATE '2024-02-29'", "DATE '2023-12-31'"])

    def value(self, refs: Sequence[Ref], kind: str, depth: int) -> str:
        """Return an expression of a kind."""
        column = self._pick(refs, kind)
        roll = self.random.random()
        if column is not None and (roll < 0.55 or depth <= 0):
            return column.text
        if depth <= 0 or roll < 0.68:
            return self.literal(kind)
        inner = depth - 1
        if roll < 0.76:
            return self._scalar_subquery(refs, kind, inner)
        if roll < 0.84:
            condition = self.condition(refs, inner)
            yes, no = self.value(refs, kind, inner), self.value(refs, kind, inner)
            return f"CASE WHEN {condition} THEN {yes} ELSE {no} END"
        if roll < 0.9:
            return f"coalesce({self.value(refs, kind, inner)}, {self.value(refs, kind, inner)})"
        return self._computed(refs, kind, inner)

    def _computed(self, refs: Sequence[Ref], kind: str, depth: int) -> str:
        one = self.value(refs, kind, depth)
        choice = self.random.choice
        match kind:
            case "int":
                other = self.value(refs, choice([INT, INT, TEXT]), depth)
                if other.startswith("'") or self._chance(0.3):
                    return f"length({self.value(refs, TEXT, depth)})"
                return choice([f"({one} + {self.value(refs, INT, 0)})", f"abs({one})", f"-({one})"])
            case "text":
                return choice([f"upper({one})", f"({one} || {self.value(refs, TEXT, 0)})"])
            case "bool":
                return f"({self.condition(refs, depth)})"
            case "decimal":
                return f"({one} + {self.value(refs, DECIMAL, 0)})"
        return f"({one} + 1)"

    def _scalar_subquery(self, refs: Sequence[Ref], kind: str, depth: int) -> str:
        source = self._from(refs if self._chance(0.6) else (), depth - 1, most=2)
        inner = [*source.refs, *(refs if self._chance(0.3) else ())]
        where = self._where(inner, refs, depth, share=0.8)
        aggregate = self._aggregate(source.refs, kind)
        return f"(SELECT {aggregate} FROM {source.text}{where})"

    def _aggregate(self, refs: Sequence[Ref], kind: str) -> str:
        choice = self.random.choice
        column = self._pick(refs, kind)
        if kind == INT and (column is None or self._chance(0.4)):
            some = self.random.choice(refs).text if refs else "1"
            return choice(["count(*)", f"count({some})", f"count(DISTINCT {some})"])
        text = self.literal(kind) if column is None else column.text
        if kind == BOOL:
            return choice([f"bool_and({text})", f"bool_or({text})"])
        if kind in (INT, DECIMAL):
            return choice([f"min({text})", f"max({text})", f"sum({text})"])
        return choice([f"min({text})", f"max({text})"])

    # Conditions

    def condition(self, refs: Sequence[Ref], depth: int) -> str:
        """Return an expression that is true, false or NULL."""
        roll = self.random.random()
        kind = self.random.choice([INT, INT, INT, TEXT, TEXT, DECIMAL, DATE])
        if depth <= 0 or roll < 0.3:
            return self._simple_condition(refs, kind)
        inner = depth - 1
        if roll < 0.5:
            word = self.random.choice(["AND", "OR"])
            return f"({self.condition(refs, inner)} {word} {self.condition(refs, inner)})"
        if roll < 0.57:
            return f"NOT ({self.condition(refs, inner)})"
        if roll < 0.65:
            test = self.random.choice(
                ["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT FALSE", "= true"]
            )
            return f"(({self.condition(refs, inner)}) {test})"
        if roll < 0.88:
            return self._membership(refs, kind, inner)
        left = self.value(refs, kind, inner)
        return f"{left} {self.random.choice(COMPARISONS)} {self.value(refs, kind, inner)}"

    def _simple_condition(self, refs: Sequence[Ref], kind: str) -> str:
        one = self.value(refs, kind, 0)
        roll = self.random.random()
        if roll < 0.12 and (column := self._pick(refs, BOOL)) is not None:
            return column.text
        if roll < 0.25:
            return f"{one} IS {self.random.choice(['', 'NOT '])}NULL"
        if roll < 0.35:
            low, high = self.literal(kind), self.literal(kind)
            return f"{one} BETWEEN {low} AND {high}"
        if roll < 0.5:
            values = [self.literal(kind) for _ in range(self.random.randint(1, 3))]
            if self._chance(0.2):
                values.append("NULL")
            return f"{one} {self.random.choice(['', 'NOT '])}IN ({', '.join(values)})"
        if roll < 0.56 and kind == TEXT:
            pattern = self.random.choice(["'x%'", "'%y'", "'_'"])
            return f"{one} LIKE {pattern}"
        return f"{one} {self.random.choice(COMPARISONS)} {self.value(refs, kind, 0)}"

    def _membership(self, refs: Sequence[Ref], kind: str, depth: int) -> str:
        outer = refs if self._chance(0.5) else ()
        if self._chance(0.35):
            source = self._from((), depth - 1, most=2)
            where = self._where([*source.refs, *outer], outer, depth, share=0.9)
            word = self.random.choice(["EXISTS", "NOT EXISTS"])
            return f"{word} (SELECT {self.random.choice(['1', '*'])} FROM {source.text}{where})"
        query = self._one_column(outer, kind, depth)
        one = self.value(refs, kind, depth)
        sign = self.random.choice(["IN", "IN", "NOT IN", "NOT IN", "= ANY", "<> ALL"])
        return f"{one} {sign} ({query})"

    def _one_column(self, outer: Sequence[Ref], kind: str, depth: int) -> str:
        source = self._from((), depth - 1, most=2)
        where = self._where([*source.refs, *outer], outer, depth, share=0.7)
        column = self._pick(source.refs, kind)
        text = self.literal(kind) if column is None else column.text
        if self._chance(0.15):
            return f"SELECT {self._aggregate(source.refs, kind)} FROM {source.text}{where}"
        return f"SELECT {text} FROM {source.text}{where}"

    def _where(
        self, refs: Sequence[Ref], outer: Sequence[Ref], depth: int, *, share: float = 0.6
    ) -> str:
        parts = []
        if outer and self._chance(0.7):
            kind = self.random.choice([INT, INT, TEXT])
            left = self._pick(refs, kind)
            right = self._pick(outer, kind)
            if left is not None and right is not None:
                sign = "=" if self._chance(0.8) else self.random.choice(COMPARISONS)
                parts.append(f"{left.text} {sign} {right.text}")
        if self._chance(share):
            parts.append(self.condition(refs, max(depth, 0)))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

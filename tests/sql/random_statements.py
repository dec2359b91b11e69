"""Random SELECT, INSERT, UPDATE, DELETE and MERGE INTO statements in the DuckDB dialect.

They test names, joins, subqueries and clauses, with few plain functions and types. Every result is
determined except for the order of rows: LIMIT and window functions that depend on an order
are ordered by all columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from tests.sql.random_queries import Queries
from tests.sql.random_relations import INT, Ref, Table


class Statements(Queries):
    """A source of random statements over some tables."""

    def change(self, table: Table) -> str:
        """Return a statement that changes a table."""
        make = self.random.choice([self._insert, self._update, self._delete, self._merge])
        return make(table)

    def _insert(self, table: Table) -> str:
        kinds = [kind for kind, _ in table.columns.values()]
        if self._chance(0.25):
            shared = self.random.choice([one for one in self.tables if not one.is_view])
            if shared.columns == table.columns:
                return f"INSERT INTO {table.name} SELECT * FROM {shared.name} LIMIT 0"
        source = self._from((), 1, most=2)
        parts = ", ".join(self.value(source.refs, kind, 1) for kind in kinds)
        names = f" ({', '.join(table.columns)})" if self._chance(0.4) else ""
        where = self._where(source.refs, (), 1)
        return f"INSERT INTO {table.name}{names} SELECT {parts} FROM {source.text}{where}"

    def _own(self, table: Table, alias: str) -> list[Ref]:
        return [
            Ref(f"{alias}.{name}" if self._chance(0.5) else name, kind)
            for name, (kind, _) in table.columns.items()
        ]

    def _assignments(self, table: Table, refs: Sequence[Ref]) -> str:
        names = self.random.sample(list(table.columns), self.random.randint(1, 2))
        return ", ".join(
            f"{name} = {self.value(refs, table.columns[name][0], 2)}" for name in names
        )

    def _update(self, table: Table) -> str:
        alias = table.name
        own = self._own(table, alias)
        where = f" WHERE {self.condition(own, 2)}" if self._chance(0.8) else ""
        return f"UPDATE {table.name} SET {self._assignments(table, own)}{where}"

    def _delete(self, table: Table) -> str:
        own = self._own(table, table.name)
        if self._chance(0.25):
            source = self._relation((), 0)
            if source.alias != table.name:
                target = [Ref(f"{table.name}.{n}", kind) for n, (kind, _) in table.columns.items()]
                right = [Ref(f"{source.alias}.{n}", kind) for n, kind in source.columns.items()]
                condition = self._join_condition(target, right, 1)
                return f"DELETE FROM {table.name} USING {source.text} WHERE {condition}"
        return f"DELETE FROM {table.name} WHERE {self.condition(own, 3)}"

    def _merge(self, table: Table) -> str:
        source = self._relation((), 1)
        while source.alias == table.name:
            source = self._relation((), 1)
        key = self._pick([Ref(n, kind) for n, kind in source.columns.items()], INT)
        own_key = self._pick([Ref(n, kind) for n, (kind, _) in table.columns.items()], INT)
        if key is None or own_key is None:
            return self._update(table)
        name = f"{self._name('m')}"
        # Each key once, because two source rows must not change the same row.
        rows = f"SELECT {key.text} AS key, count(*) AS n FROM {source.text} GROUP BY 1"
        target = [Ref(f"{table.name}.{n}", kind) for n, (kind, _) in table.columns.items()]
        given = [Ref(f"{name}.key", INT), Ref(f"{name}.n", INT)]
        text = f"MERGE INTO {table.name} USING ({rows}) AS {name}"
        text += f" ON {table.name}.{own_key.text} = {name}.key"
        also = f" AND {self.condition([*target, *given], 1)}" if self._chance(0.5) else ""
        if self._chance(0.7):
            change = f"UPDATE SET {self._assignments(table, [*target, *given])}"
            text += f" WHEN MATCHED{also} THEN {change if self._chance(0.7) else 'DELETE'}"
        if self._chance(0.7) or "WHEN" not in text:
            values = ", ".join(self.value(given, kind, 1) for kind, _ in table.columns.values())
            text += f" WHEN NOT MATCHED THEN INSERT VALUES ({values})"
        if self._chance(0.2):
            text += " WHEN NOT MATCHED BY SOURCE THEN DELETE"
        return text


def make_definitions(random: Random, tables: Sequence[Table]) -> Iterator[str]:
    """Yield statements that create and fill tables, with many NULL values and equal rows."""
    statements = Statements(random, tables, lambda _: None)
    for table in tables:
        columns = ", ".join(f"{name} {type}" for name, (_, type) in table.columns.items())
        yield f"CREATE TABLE {table.name} ({columns})"
        rows = [
            ", ".join(
                "NULL" if random.random() < 0.2 else statements.literal(kind)
                for kind, _ in table.columns.values()
            )
            for _ in range(random.randint(3, 9))
        ]
        yield f"INSERT INTO {table.name} VALUES {', '.join(f'({row})' for row in rows)}"

"""Random queries: joins, clauses of SELECT, set operations and WITH."""

from __future__ import annotations

from collections.abc import Sequence

from tests.sql.random_conditions import Conditions
from tests.sql.random_relations import (
    BOOL,
    DATE,
    DECIMAL,
    INT,
    POOL,
    TEXT,
    From,
    Query,
    Ref,
    Source,
    Table,
)


class Queries(Conditions):
    """A source of random queries over some tables."""

    # FROM

    def _relation(self, outer: Sequence[Ref], depth: int) -> Source:
        alias = self._name("t")
        if depth > 0 and self._chance(0.3):
            query = self.query((), depth - 1)
            if self._chance(0.2):
                renamed = {self._name("n"): kind for kind in query.columns.values()}
                names = ", ".join(renamed)
                return Source(f"({query.text}) AS {alias}({names})", alias, renamed)
            return Source(f"({query.text}) AS {alias}", alias, query.columns)
        table = self.random.choice(self.tables)
        columns = {name: kind for name, (kind, _) in table.columns.items()}
        if self._chance(0.3):
            return Source(table.name, table.name, columns)
        return Source(f"{table.name} AS {alias}", alias, columns)

    def _from(self, outer: Sequence[Ref], depth: int, *, most: int = 3) -> From:
        first = self._relation(outer, depth)
        text = first.text
        aliases = {first.alias: dict(first.columns)}
        merged: set[str] = set()  # columns merged by USING
        names = list(first.columns)
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2][: 2 + 2 * most])):
            other = self._relation(outer, depth)
            if other.alias in aliases:
                continue
            shared = [
                name
                for name in other.columns
                if sum(name in columns for columns in aliases.values()) == 1 or name in merged
            ]
            shared = [
                name
                for name in shared
                if all(
                    columns.get(name, other.columns[name]) == other.columns[name]
                    for columns in aliases.values()
                )
            ]
            text, names, is_kept = self._joined(text, aliases, merged, names, other, shared, depth)
            if is_kept:
                aliases[other.alias] = dict(other.columns)
        refs = [
            Ref(f"{alias}.{name}", kind)
            for alias, columns in aliases.items()
            for name, kind in columns.items()
        ]
        for name in {one for columns in aliases.values() for one in columns}:
            kinds = [columns[name] for columns in aliases.values() if name in columns]
            if len(kinds) == 1 or (name in merged and names.count(name) == 1):
                refs.append(Ref(name, kinds[0]))
        refs.sort(key=lambda one: one.text)
        return From(text, refs, names, aliases)

    def _joined(
        self,
        text: str,
        aliases: dict[str, dict[str, str]],
        merged: set[str],
        names: list[str],
        other: Source,
        shared: list[str],
        depth: int,
    ) -> tuple[str, list[str], bool]:
        left = [Ref(f"{a}.{n}", kind) for a, cs in aliases.items() for n, kind in cs.items()]
        right = [Ref(f"{other.alias}.{name}", kind) for name, kind in other.columns.items()]
        all_shared = [n for n in other.columns if any(n in cs for cs in aliases.values())]
        word = self.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        roll = self.random.random()
        both = [*names, *(name for name in other.columns)]
        if roll < 0.1:
            return f"{text} CROSS JOIN {other.text}", both, True
        if roll < 0.15:
            return f"{text}, {other.text}", both, True
        if roll < 0.25:
            condition = self._join_condition(left, right, depth)
            kind = self.random.choice(["SEMI", "ANTI"])
            return f"{text} {kind} JOIN {other.text} ON {condition}", names, False
        if roll < 0.32:
            lateral, columns = self._lateral(left, depth)
            made = self.random.choice(["JOIN", "LEFT JOIN"])
            other.text, other.columns = f"LATERAL ({lateral}) AS {other.alias}", columns
            return f"{text} {made} {other.text} ON true", [*names, *columns], True
        if shared and roll < 0.62:
            if self._chance(0.35) and set(all_shared) == set(shared):
                used, joined = shared, f"{text} NATURAL {word} {other.text}"
            else:
                used = self.random.sample(shared, self.random.randint(1, min(2, len(shared))))
                joined = f"{text} {word} {other.text} USING ({', '.join(used)})"
            merged |= set(used)
            return joined, [*names, *(n for n in other.columns if n not in used)], True
        condition = self._join_condition(left, right, depth)
        return f"{text} {word} {other.text} ON {condition}", both, True

    def _join_condition(self, left: Sequence[Ref], right: Sequence[Ref], depth: int) -> str:
        kind = self.random.choice([INT, INT, TEXT])
        one, other = self._pick(left, kind), self._pick(right, kind)
        parts = []
        if one is not None and other is not None:
            parts.append(f"{one.text} {'=' if self._chance(0.85) else '<'} {other.text}")
        if not parts or self._chance(0.25):
            parts.append(self.condition([*left, *right], min(depth, 1)))
        return " AND ".join(parts)

    def _lateral(self, left: Sequence[Ref], depth: int) -> tuple[str, dict[str, str]]:
        source = self._from((), 0, most=1)
        where = self._where(source.refs, left, 0, share=0.4)
        name = self._name("l")
        kind = self.random.choice([INT, TEXT])
        if self._chance(0.5):
            return (
                f"SELECT {self._aggregate(source.refs, kind)} AS {name} FROM {source.text}{where}",
                {name: kind},
            )
        value = self.value([*source.refs, *left], kind, 0)
        return f"SELECT {value} AS {name} FROM {source.text}{where}", {name: kind}

    # Queries

    def query(self, outer: Sequence[Ref], depth: int, *, is_top: bool = False) -> Query:
        """Return a query, which may refer to outer columns."""
        roll = self.random.random()
        if depth > 0 and roll < 0.1:
            return self._with(outer, depth)
        if depth > 0 and roll < 0.22:
            return self._set_operation(outer, depth)
        if roll < 0.3:
            return self._star(outer, depth)
        if roll < 0.5:
            return self._grouped(outer, depth)
        if roll < 0.6:
            return self._windowed(outer, depth)
        return self._plain(outer, depth)

    def _tail(self, names: Sequence[str]) -> str:
        """Return ORDER BY of all columns with LIMIT, or ""."""
        if not self._chance(0.25):
            return ""
        ends = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"]
        order = ", ".join(f"{name}{self.random.choice(ends)}" for name in names)
        if self._chance(0.2):
            order = ", ".join(str(number + 1) for number in range(len(names)))
        if self._chance(0.2):
            order = "ALL"
        limit = self.random.choice(["", " LIMIT 3", " LIMIT 2 OFFSET 1", " LIMIT 5"])
        return f" ORDER BY {order}{limit}"

    def _plain(self, outer: Sequence[Ref], depth: int) -> Query:
        source = self._from(outer, depth - 1)
        refs = [*source.refs, *(outer if self._chance(0.3) else ())]
        columns: dict[str, str] = {}
        parts = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice([INT, INT, TEXT, BOOL, DECIMAL, DATE])
            text = self.value(refs, kind, depth)
            short = text.rpartition(".")[2]
            if (
                short.isidentifier()
                and short in POOL
                and short not in columns
                and self._chance(0.5)
            ):
                columns[short] = kind
                parts.append(text)
                continue
            name = self._name("c")
            columns[name] = kind
            parts.append(f"{text} AS {name}")
        where = self._where(refs, outer, depth)
        distinct = "DISTINCT " if self._chance(0.12) else ""
        text = f"SELECT {distinct}{', '.join(parts)} FROM {source.text}{where}"
        if not distinct and self._chance(0.08) and source.refs:
            return self._distinct_on(source, where)
        return Query(text + self._tail(list(columns)), columns)

    def _distinct_on(self, source: From, where: str) -> Query:
        key = self.random.choice(source.refs)
        rest = [one for one in source.refs if one != key]
        shown = self.random.sample(rest, min(len(rest), 2))
        names = {self._name("c"): one for one in [key, *shown]}
        columns = ", ".join(f"{one.text} AS {name}" for name, one in names.items())
        order = ", ".join(one.text for one in [key, *rest])
        text = (
            f"SELECT DISTINCT ON ({key.text}) {columns} FROM {source.text}{where} ORDER BY {order}"
        )
        return Query(text, {name: one.kind for name, one in names.items()})

    def _grouped(self, outer: Sequence[Ref], depth: int) -> Query:
        source = self._from(outer, depth - 1)
        if not source.refs:
            return self._plain(outer, depth)
        keys = self._keys(source.refs)
        columns: dict[str, str] = {}
        parts = []
        for key in keys:
            name = self._name("c")
            columns[name] = key.kind
            parts.append(f"{key.text} AS {name}")
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.choice([INT, INT, TEXT, BOOL, DECIMAL])
            name = self._name("c")
            columns[name] = kind
            ending = ""
            if self._chance(0.15):
                ending = f" FILTER (WHERE {self.condition(source.refs, 0)})"
            parts.append(f"{self._aggregate(source.refs, kind)}{ending} AS {name}")
        where = self._where([*source.refs, *outer], outer, depth, share=0.4)
        text = f"SELECT {', '.join(parts)} FROM {source.text}{where}"
        if keys:
            text += f" GROUP BY {self._grouping([one.text for one in keys])}"
        if self._chance(0.3):
            aggregate = Ref(self._aggregate(source.refs, INT), INT)
            text += f" HAVING {self.condition([*keys, aggregate], min(depth, 1))}"
        return Query(text + self._tail(list(columns)), columns)

    def _keys(self, refs: Sequence[Ref]) -> list[Ref]:
        """Return columns to group by, none of them twice under two names."""
        chosen: dict[str, Ref] = {}
        for one in self.random.sample(list(refs), min(len(refs), self.random.randint(0, 2))):
            chosen.setdefault(one.text.rpartition(".")[2], one)
        return list(chosen.values())

    def _grouping(self, keys: Sequence[str]) -> str:
        listed = ", ".join(keys)
        roll = self.random.random()
        if roll < 0.5:
            return listed
        if roll < 0.6:
            return "ALL"
        if roll < 0.7:
            return ", ".join(str(number + 1) for number in range(len(keys)))
        if roll < 0.8:
            return f"ROLLUP ({listed})"
        if roll < 0.9:
            return f"CUBE ({listed})"
        sets = [f"({listed})", f"({keys[0]})", "()"]
        chosen = self.random.sample(sets, self.random.randint(1, 3))
        return f"GROUPING SETS ({', '.join(chosen)})"

    def _windowed(self, outer: Sequence[Ref], depth: int) -> Query:
        source = self._from(outer, depth - 1)
        if not source.refs:
            return self._plain(outer, depth)
        some = self.random.choice(source.refs)
        name, other = self._name("c"), self._name("c")
        every = ", ".join(one.text for one in source.refs)
        part = self.random.choice(source.refs).text
        over = self.random.choice(
            [f"PARTITION BY {part} ORDER BY {every}", f"ORDER BY {every}", f"PARTITION BY {part}"]
        )
        column = self._pick(source.refs, INT)
        number = column.text if column is not None else "1"
        calls = [f"sum({number})", f"count({some.text})", f"max({some.text})", "count(*)"]
        if "ORDER" in over:
            calls += ["row_number()", "rank()", "dense_rank()", f"sum({number})"]
        kinds = {"max": some.kind}
        call = self.random.choice(calls)
        kind = kinds.get(call[:3], INT)
        where = self._where(source.refs, (), depth, share=0.4)
        text = f"SELECT {some.text} AS {name}, {call} OVER ({over}) AS {other}"
        text += f" FROM {source.text}{where}"
        if self._chance(0.4):
            test = self.random.choice(["<= 2", "> 1", "IS NOT NULL", "= 1"])
            if kind == INT:
                text += f" QUALIFY {self.random.choice([other, f'{call} OVER ({over})'])} {test}"
        columns = {name: some.kind, other: kind}
        return Query(text + self._tail(list(columns)), columns)

    def _star(self, outer: Sequence[Ref], depth: int) -> Query:
        source = self._from((), depth - 1)
        star = "*"
        roll = self.random.random()
        if roll < 0.2:
            star = f"{self.random.choice(list(source.aliases))}.*"
        elif roll < 0.4 and len(set(source.names)) > 1:
            star = f"* EXCLUDE ({self.random.choice(source.names)})"
        elif roll < 0.5 and len(set(source.names)) == len(source.names):
            name = self.random.choice(source.names)
            star = f"* REPLACE ({self.literal(INT)} AS {name})"
        elif roll < 0.6 and len(set(source.names)) == len(source.names):
            star = self.random.choice(["COLUMNS(*)", "COLUMNS('a|k|s')"])
        elif roll < 0.7:
            star = f"*, {self.value(source.refs, INT, 0)} AS {self._name('c')}"
        where = self._where(source.refs, (), depth)
        text = f"SELECT {star} FROM {source.text}{where}"
        described = self.describe(f"SELECT * FROM ({text})")
        columns = {} if described is None else described
        if not columns:
            return self._plain(outer, depth)
        return Query(text, columns)

    def _with(self, outer: Sequence[Ref], depth: int) -> Query:
        name = self._name("w")
        inner = self.query((), depth - 1)
        columns = {one: (kind, "") for one, kind in inner.columns.items()}
        before = self.tables
        self.tables = [Table(name, columns), Table(name, columns), *before]
        try:
            query = (
                self._plain((), depth - 1) if self._chance(0.5) else self._grouped((), depth - 1)
            )
        finally:
            self.tables = before
        return Query(f"WITH {name} AS ({inner.text}) {query.text}", query.columns)

    def _set_operation(self, outer: Sequence[Ref], depth: int) -> Query:
        kinds = [self.random.choice([INT, TEXT, DATE]) for _ in range(self.random.randint(1, 2))]
        words = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]
        names = [self._name("c") for _ in kinds]
        sides = []
        for _ in range(self.random.choice([2, 2, 3])):
            source = self._from((), depth - 2)
            parts = [
                f"{self.value(source.refs, kind, depth - 1)} AS {name}"
                for kind, name in zip(kinds, names, strict=True)
            ]
            where = self._where(source.refs, (), depth - 1)
            sides.append(f"SELECT {', '.join(parts)} FROM {source.text}{where}")
        text = sides[0]
        for side in sides[1:]:
            text = f"{text} {self.random.choice(words)} {side}"
        return Query(text + self._tail(names), dict(zip(names, kinds, strict=True)))

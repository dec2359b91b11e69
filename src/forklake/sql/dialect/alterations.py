"""Parser of ALTER and COMMENT ON. A statement has one action."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from forklake.sql.dialect import nodes
from forklake.sql.dialect.statements import StatementParser

_ALTER_KINDS = ("TABLE", "VIEW", "SCHEMA")
_COMMENT_KINDS = ("TABLE", "VIEW", "COLUMN", "SCHEMA")
_CONSTRAINTS = ("CONSTRAINT", "PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY")


class AlterationParser(StatementParser):
    """Mixin that parses changes of definitions. Columns are paths such as `s.x`."""

    def _parse_path(self) -> exp.Expr:
        """Parse the path of a column or of a nested field."""
        parts = self._parse_dotted_name()
        return exp.Dot.build(parts) if len(parts) > 1 else parts[0]

    def _parse_alter(self) -> exp.Alter:
        if not self._match_texts(_ALTER_KINDS):
            self.raise_error("Expected TABLE, VIEW or SCHEMA")
        kind = self._prev.text.upper()
        exists = self._parse_exists()
        name = self._parse_table_parts(schema=True)
        if not self._match_texts(_ACTIONS):
            self.raise_error(f"Expected one of {', '.join(_ACTIONS)}")
        action = _ACTIONS[self._prev.text.upper()](self)
        return self.expression(
            exp.Alter(
                this=name,
                kind=kind,
                exists=exists,
                actions=action if isinstance(action, list) else [action],
            )
        )

    # Actions

    def _parse_add_action(self) -> list[exp.Expr] | exp.Expr:
        if self._match_texts(_CONSTRAINTS, advance=False):
            return self.expression(exp.AddConstraint(expressions=[self._parse_constraint()]))
        if self._match_text_seq("COLUMNS"):
            return self._parse_wrapped_csv(self._parse_new_column)
        self._match_text_seq("COLUMN")
        exists = self._parse_exists(not_=True)
        column = self._parse_new_column()
        column.set("exists", exists)
        return column

    def _parse_new_column(self) -> exp.ColumnDef:
        column = self._parse_column_def(self._parse_path(), computed_column=False)
        if not isinstance(column, exp.ColumnDef) or column.kind is None:
            self.raise_error("Expected a type")
        return column

    def _parse_drop_action(self) -> exp.Expr:
        if self._match_text_seq("CONSTRAINT"):
            return self.expression(exp.Drop(kind="CONSTRAINT", tables=[self._require_name()]))
        self._match_text_seq("COLUMN")
        exists = self._parse_exists()
        path = self._parse_path()
        cascade = self._match_texts(("CASCADE", "RESTRICT")) and self._prev.text.upper()
        return self.expression(
            exp.Drop(kind="COLUMN", tables=[path], exists=exists, cascade=cascade == "CASCADE")
        )

    def _parse_rename_action(self) -> exp.Expr:
        if self._match_text_seq("TO"):
            return self.expression(exp.AlterRename(this=self._parse_table_parts(schema=True)))
        self._match_text_seq("COLUMN")
        path = self._parse_path()
        if not self._match_text_seq("TO"):
            self.raise_error("Expected TO")
        return self.expression(exp.RenameColumn(this=path, to=self._require_name()))

    def _parse_alter_column_action(self) -> exp.AlterColumn:
        self._match_text_seq("COLUMN")
        path = self._parse_path()
        for words, change in _COLUMN_CHANGES.items():
            if self._match_text_seq(*words):
                return self.expression(exp.AlterColumn(this=path, **change))
        if self._match_text_seq("SET", "DEFAULT"):
            default = self._parse_disjunction() or self.raise_error("Expected a value")
            return self.expression(exp.AlterColumn(this=path, default=default))
        self._match_text_seq("SET", "DATA")
        if not self._match_text_seq("TYPE"):
            self.raise_error(
                "Expected TYPE, SET DEFAULT, DROP DEFAULT, SET NOT NULL or DROP NOT NULL"
            )
        kind = self._parse_types(schema=True) or self.raise_error("Expected a type")
        collate = self._parse_term() if self._match(TokenType.COLLATE) else None
        using = self._parse_disjunction() if self._match(TokenType.USING) else None
        return self.expression(exp.AlterColumn(this=path, dtype=kind, collate=collate, using=using))

    def _parse_set_action(self) -> exp.AlterSet:
        if self._match(TokenType.PARTITION_BY):
            layout: exp.Expr = self._parse_partitioned_by()
        elif self._match_text_seq("SORTED", "BY"):
            layout = self.expression(
                nodes.SortedBy(expressions=self._parse_wrapped_csv(self._parse_ordered))
            )
        else:
            self.raise_error("Expected PARTITIONED BY or SORTED BY")
        return self.expression(exp.AlterSet(expressions=[layout]))

    def _parse_reset_action(self) -> nodes.AlterReset:
        if self._match(TokenType.PARTITION_BY):
            layout = "PARTITIONED"
        elif self._match_text_seq("SORTED", "BY"):
            layout = "SORTED"
        else:
            self.raise_error("Expected PARTITIONED BY or SORTED BY")
        return self.expression(nodes.AlterReset(this=exp.var(layout)))

    # Comments

    def _parse_comment(self, allow_exists: bool = True) -> exp.Comment:
        if not self._match_text_seq("ON") or not self._match_texts(_COMMENT_KINDS):
            self.raise_error("Expected ON TABLE, VIEW, COLUMN or SCHEMA")
        kind = self._prev.text.upper()
        name = self._parse_path()
        if not self._match(TokenType.IS):
            self.raise_error("Expected IS")
        text = (
            self._parse_string()
            or self._parse_null()
            or self.raise_error("Expected a string or NULL")
        )
        return self.expression(exp.Comment(this=name, kind=kind, expression=text))


_ACTIONS: dict[str, Callable[[AlterationParser], list[exp.Expr] | exp.Expr]] = {
    "ADD": AlterationParser._parse_add_action,
    "DROP": AlterationParser._parse_drop_action,
    "RENAME": AlterationParser._parse_rename_action,
    "ALTER": AlterationParser._parse_alter_column_action,
    "SET": AlterationParser._parse_set_action,
    "RESET": AlterationParser._parse_reset_action,
}
_COLUMN_CHANGES: dict[tuple[str, ...], dict[str, bool]] = {
    ("DROP", "DEFAULT"): {"drop": True},
    ("DROP", "NOT", "NULL"): {"drop": True, "allow_null": True},
    ("SET", "NOT", "NULL"): {"allow_null": False},
}

"""Parser of statements that sqlglot does not parse, or parses as something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NoReturn, cast

from sqlglot import exp
from sqlglot.parser import OPTIONS_TYPE, Parser
from sqlglot.tokenizer_core import Token, TokenType

from forklake.sql import limits
from forklake.sql.dialect import nodes
from forklake.sql.dialect.failures import SyntaxFailure

_SHOW_KINDS = frozenset(
    "TABLES DATABASES CATALOGS SCHEMAS NAMESPACES VIEWS MACROS FUNCTIONS COLUMNS SNAPSHOTS".split()
)
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


class StatementParser(Parser):
    """Parser mixin for statements that are neither queries nor definitions."""

    _steps = 0

    def _advance(self, times: int = 1) -> None:
        """Take the next token. Raise an error if the statement was canceled."""
        self._steps += 1
        if self._steps % limits.CHECK_INTERVAL == 0:
            limits.check_cancellation()
        super()._advance(times)

    USABLES: ClassVar[OPTIONS_TYPE] = {}  # USE takes a name, even if the name is a keyword

    def parse_statements(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """Return all statements of a text. Unlike `parse`, refuse bare expressions."""
        return self._parse(
            lambda own: cast(StatementParser, own)._parse_complete_statement(), raw_tokens, sql
        )

    def parse_single(self, raw_tokens: list[Token], sql: str) -> exp.Expr:
        """Return the single expression that a text consists of."""
        (found,) = self._parse(Parser._parse_assignment, raw_tokens, sql)
        if not isinstance(found, exp.Expr):
            self.raise_error("Expected an expression")
        return found

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise a syntax error at a token, or at the end of the statement."""
        token = token or self._curr
        if token:
            raise SyntaxFailure(message, token.start, self._find_sql(token, token))
        raise SyntaxFailure(message, self._prev.end + 1 if self._prev else 0)

    def _parse_complete_statement(self) -> exp.Expr | None:
        """Parse one complete statement; a bare expression is an error."""
        start = self._curr
        found = self._parse_by_first_word() or self._parse_statement()
        if isinstance(found, exp.Expr) and not _is_statement(found):
            self.raise_error(f"unknown statement {start.text.upper()}", start)
        return found

    def _parse_by_first_word(self) -> exp.Expr | None:
        """Parse a statement of `_BY_WORD` by its first word, or return None."""
        parse = _PARSERS_BY_WORD.get(self._curr.text.upper()) if self._curr else None
        if parse is None or self._curr.token_type in _QUOTED:
            return None
        self._advance()
        comments = self._prev_comments
        found = parse(self)
        found.add_comments(comments, prepend=True)
        return found

    def _parse_as_command(self, start: Token) -> NoReturn:
        """Refuse what sqlglot would keep as unparsed text."""
        self.raise_error("Invalid expression / Unexpected token")

    # Names

    def _require_name(self) -> exp.Expr:
        found = self._parse_id_var(any_token=False) or self._parse_string_as_identifier()
        return found or self.raise_error("Expected a name")

    def _parse_dotted_name(self) -> list[exp.Expr]:
        """Parse the identifiers of a dotted name; after a dot every keyword is a name."""
        found = [self._require_name()]
        while self._match(TokenType.DOT):
            found.append(self._parse_id_var() or self.raise_error("Expected a name"))
        return found

    # Attaching

    def _parse_attach(self) -> exp.Attach:
        replace = self._match_text_seq("OR", "REPLACE")
        self._match_text_seq("DATABASE")
        exists = self._parse_exists(not_=True)
        address = self._parse_string() or self._parse_placeholder() or self._require_name()
        if self._match(TokenType.ALIAS):
            address = exp.Alias(this=address, alias=self._require_name())
        options = None
        if self._match(TokenType.L_PAREN, advance=False):
            options = self._parse_wrapped_csv(self._parse_attach_option)
        found = self.expression(exp.Attach(this=address, exists=exists, expressions=options))
        found.set("replace", replace)
        return found

    def _parse_attach_option(self) -> exp.AttachOption:
        name = self._parse_var(any_token=True) or self.raise_error("Expected an option")
        self._match(TokenType.EQ)
        is_flag = self._match_set((TokenType.COMMA, TokenType.R_PAREN), advance=False)
        value = None if is_flag else self._parse_disjunction() or self._parse_field(any_token=True)
        return self.expression(exp.AttachOption(this=name, expression=value))

    def _parse_detach(self) -> exp.Detach:
        self._match_text_seq("DATABASE")
        exists = self._parse_exists()
        return self.expression(exp.Detach(this=self._require_name(), exists=exists))

    def _parse_load_extension(self) -> nodes.Load:
        return self.expression(nodes.Load(this=self._parse_string() or self._require_name()))

    def _parse_install_extension(self, force: bool = False) -> exp.Install:
        name = self._parse_string() or self._require_name()
        source = self._parse_var_or_string() if self._match(TokenType.FROM) else None
        return self.expression(exp.Install(this=name, from_=source, force=force))

    def _parse_force_statement(self) -> exp.Expr:
        if self._match_text_seq("INSTALL"):
            return self._parse_install_extension(force=True)
        if self._match_text_seq("CHECKPOINT"):
            return self._parse_checkpoint()
        self.raise_error("Expected INSTALL or CHECKPOINT")

    # CALL, CHECKPOINT, EXPLAIN and SHOW

    def _parse_call(self) -> nodes.Call:
        *qualifiers, name = self._parse_dotted_name()
        if not self._match(TokenType.L_PAREN):
            self.raise_error("Expected (")
        arguments = self._parse_function_args(alias=True)
        self._match_r_paren()
        function = exp.Anonymous(this=name.name, expressions=arguments)
        parts = [*qualifiers, function]
        return self.expression(nodes.Call(this=exp.Dot.build(parts) if qualifiers else function))

    def _parse_checkpoint(self) -> nodes.Checkpoint:
        return self.expression(nodes.Checkpoint(this=self._require_name() if self._curr else None))

    def _parse_explain(self) -> nodes.Explain:
        analyze = self._match_text_seq("ANALYZE")
        start = self._curr
        statement = self._parse_complete_statement() or self.raise_error(
            "Expected a statement", start
        )
        return self.expression(nodes.Explain(this=statement, analyze=analyze))

    def _parse_show_objects(self) -> exp.Expr:
        """Parse SHOW of a list of objects, or of the columns of a table."""
        is_all = self._match_text_seq("ALL")
        if not self._match_texts(_SHOW_KINDS):
            return self.expression(exp.Describe(this=self._parse_table(schema=True)))
        kind = f"ALL {self._prev.text.upper()}" if is_all else self._prev.text.upper()
        is_from = self._match(TokenType.FROM) or self._match(TokenType.IN)
        scope = self._parse_table_parts(schema=True) if is_from else None
        like = self._parse_string() if self._match(TokenType.LIKE) else None
        return self.expression(exp.Show(this=kind, from_=scope, like=like))

    # Settings and prepared statements

    def _parse_reset(self) -> nodes.Reset:
        self._match_texts(("SESSION", "GLOBAL", "LOCAL", "VARIABLE"))
        return self.expression(nodes.Reset(this=self._require_name()))

    def _parse_prepare(self) -> nodes.Prepare:
        name = self._require_name()
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS")
        statement = self._parse_complete_statement() or self.raise_error("Expected a statement")
        return self.expression(nodes.Prepare(this=name, expression=statement))

    def _parse_execute(self) -> nodes.Execute:
        name = self._require_name()
        values: list[exp.Expr] = []
        if self._match(TokenType.L_PAREN):
            values = self._parse_function_args(alias=True)
            self._match_r_paren()
        return self.expression(nodes.Execute(this=name, expressions=values))

    def _parse_deallocate(self) -> nodes.Deallocate:
        self._match_text_seq("PREPARE")
        return self.expression(nodes.Deallocate(this=self._require_name()))

    # Transactions

    def _parse_start_transaction(self) -> exp.Expr:
        if not self._match_text_seq("TRANSACTION", advance=False):
            self.raise_error("Expected TRANSACTION")
        return self._parse_transaction()

    def _parse_abort(self) -> exp.Rollback:
        self._match_texts(("TRANSACTION", "WORK"))
        return self.expression(exp.Rollback())


def _is_statement(node: exp.Expr) -> bool:
    """Return whether a node is a statement. sqlglot has VALUES and PIVOT as tables, not queries."""
    if isinstance(node, exp.Condition | exp.Alias | exp.Column | exp.Tuple):
        return False
    return not isinstance(node, exp.Identifier | exp.Star)


_PARSERS_BY_WORD: dict[str, Callable[[StatementParser], exp.Expr]] = {
    "ABORT": StatementParser._parse_abort,
    "ATTACH": StatementParser._parse_attach,
    "CALL": StatementParser._parse_call,
    "CHECKPOINT": StatementParser._parse_checkpoint,
    "DEALLOCATE": StatementParser._parse_deallocate,
    "DETACH": StatementParser._parse_detach,
    "END": StatementParser._parse_commit_or_rollback,
    "EXECUTE": StatementParser._parse_execute,
    "EXPLAIN": StatementParser._parse_explain,
    "FORCE": StatementParser._parse_force_statement,
    "INSTALL": StatementParser._parse_install_extension,
    "LOAD": StatementParser._parse_load_extension,
    "PREPARE": StatementParser._parse_prepare,
    "RESET": StatementParser._parse_reset,
    "SHOW": StatementParser._parse_show_objects,
    "START": StatementParser._parse_start_transaction,
}

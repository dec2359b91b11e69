"""Translation of queries into Spark SQL."""

from __future__ import annotations

import pytest

from forklake.engines.spark.engine import Engine
from forklake.engines.spark.queries import SparkQueries
from forklake.errors import Unsupported
from forklake.sql.dialect import parse
from forklake.sql.translate import dispatch, to_spark
from forklake.sql.translate.calls import CALLABLE_NAMES
from forklake.sql.translate.functions import ALIASES, FUNCTIONS, aggregates


def translated(text: str, columns: list[str] | None = None) -> str:
    """Return the text in Spark SQL; without `columns`, no columns may be looked up."""

    def columns_of(relation: str) -> list[str]:
        assert columns is not None, f"unexpected lookup of the columns of {relation}"
        return columns

    [statement] = parse(text)
    return to_spark(statement, columns_of=columns_of)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, b FROM t WHERE a = 1 AND b > 'x' OR NOT c IS NULL",
        "SELECT a + 1 AS x FROM t WHERE a * 2 - 1 < 5 AND d >= CAST('2024-01-01' AS DATE)",
        "SELECT a FROM t WHERE a IN (1, 2) AND b BETWEEN 1 AND 3 AND c LIKE 'a%'",
        "SELECT t.a, u.b FROM t JOIN u ON t.k = u.k LEFT JOIN v ON u.k = v.k",
    ],
)
def test_plain_columns_and_comparisons_are_unchanged(text: str) -> None:
    assert translated(text) == text


def test_translation_does_not_modify_its_input() -> None:
    [statement] = parse("SELECT len(x)[1], * EXCLUDE (a) FROM t WHERE x ~ 'a'")
    before = statement.sql("duckdb")
    to_spark(statement, columns_of=lambda _: [])
    assert statement.sql("duckdb") == before


def test_a_bare_expression_is_translated() -> None:
    [query] = parse("SELECT 1 + a // 2 * len(b)")
    [expression] = query.expressions
    text = to_spark(expression, columns_of=lambda _: [])
    assert text == "1 + _duck_divide_whole(a, 2) * _duck_length(b)"


def test_text_literals_are_translated_verbatim() -> None:
    assert translated(r"SELECT 'a\nb' AS x") == r"SELECT 'a\\nb' AS x"
    assert translated('SELECT "odd`name" FROM t') == "SELECT `odd``name` FROM t"


def test_columns_are_looked_up_only_where_needed() -> None:
    assert translated("SELECT a AS b, c AS d FROM t WHERE a > 1") == (
        "SELECT a AS b, c AS d FROM t WHERE a > 1"
    )
    # A column of the table takes precedence over a name of SELECT.
    text = "SELECT a + 1 AS b FROM t WHERE b > 1"
    assert translated(text, ["a"]) == "SELECT a + 1 AS b FROM t WHERE (a + 1) > 1"
    assert translated(text, ["a", "b"]) == text


def test_nulls_come_last_in_both_directions() -> None:
    assert translated("SELECT a FROM t ORDER BY a, b DESC") == (
        "SELECT a FROM t ORDER BY _duck_order_key(a) NULLS LAST, _duck_order_key(b) DESC"
    )


def test_every_alias_refers_to_a_function() -> None:
    for name, meaning in ALIASES.items():
        assert name not in FUNCTIONS, f"{name} is an alias and a function"
        assert meaning in CALLABLE_NAMES - set(ALIASES), f"{name} stands for nothing"
    for name, meaning in aggregates.ALIASES.items():
        assert name not in aggregates.AGGREGATES, f"{name} is an alias and an aggregate"
        assert meaning in aggregates.AGGREGATES, f"{name} stands for nothing"


def test_predicates_are_pushed_down_to_files(engine: Engine, tmp_path: object) -> None:
    path = f"{tmp_path}/rows.parquet"
    spark = engine.spark
    spark.sql("SELECT id AS a, date'2024-01-01' AS d, 'x' AS s FROM range(10)").write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("pushed")
    for condition, pushed in {
        "a = 3": "EqualTo(a,3)",
        "d = '2024-01-01'": "EqualTo(d,2024-01-01)",
        "d >= DATE '2024-01-01' + INTERVAL 1 MONTH": "GreaterThanOrEqual(d,2024-02-01)",
        "s LIKE 'x%'": "StringStartsWith(s,x)",
        "a IN (1, 2)": "In(a, [1,2])",
    }.items():
        text = translated(f"SELECT a FROM pushed WHERE {condition}")
        dispatch.register_functions(engine)
        plan = spark.sql(text)._jdf.queryExecution().executedPlan().toString()
        assert pushed in plan, plan


def test_repeated_registration_has_no_effect(engine: Engine) -> None:
    session = engine.new_session()
    dispatch.register_functions(session)
    dispatch.register_functions(session)
    assert session.spark.sql("SELECT _duck_length('abc') AS n").first() == (3,)


def test_registration_needs_a_java_virtual_machine() -> None:
    class Remote:
        spark = object
        is_native = False

        @property
        def queries(self) -> SparkQueries:
            return SparkQueries(self)  # type: ignore[arg-type]

    with pytest.raises(Unsupported, match="Spark Connect"):
        dispatch.register_functions(Remote())  # type: ignore[arg-type]

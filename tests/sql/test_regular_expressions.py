"""Regular expressions, which give the results of DuckDB in linear time."""

from __future__ import annotations

import duckdb
import pytest

from forklake import Session

# Expressions over columns: `t` a text, `p` a pattern. The rows are in TEXTS and PATTERNS.
TEXTS = ["", "a", "abc", "aab", "a\nb", "é😀b", "a.b", "A%b_", "a]b-c", "foo(bar)", "😀"]
PATTERNS = [
    "",
    "a",
    "a*",
    "b|",
    "^a",
    "b$",
    ".",
    "(a)(b)?",
    "[[:alpha:]]+",
    r"\bb",
    r"\d*",
    "(?i)A",
]
EXPRESSIONS = [
    *("regexp_matches(t, p)", "regexp_full_match(t, p)", "t ~ p", "t !~ p", "t SIMILAR TO p"),
    *("t NOT SIMILAR TO p", "regexp_matches(t, p, 'i')", "regexp_matches(t, p, 's')"),
    *("regexp_extract(t, p)", "regexp_extract_all(t, p)", "regexp_replace(t, p, '-')"),
    *("regexp_replace(t, p, '<\\0>', 'g')", "regexp_split_to_array(t, p)", "t LIKE p"),
    *("regexp_replace(t, p, '\\7')", "regexp_matches(t, p, 'l')", "regexp_matches(t, p, 'm')"),
]
LIKES = ["%", "%a%", "a%", "%b", "_%", "%_b", "a_c", "%%", "a%b", "A\\%b", "%😀_", "", "%a%b%", "_"]
GLOBS = ["*", "a*", "*b", "?", "a?c", "a[b-d]c", "a[!x]*", "*[]]b*", "\\a*", "[a", "*[[:a]*", ""]
LIKE_EXPRESSIONS = [
    *("t LIKE p", "t NOT LIKE p", "t ILIKE p", "t NOT ILIKE p", "t LIKE upper(p)"),
    *("t LIKE p ESCAPE '!'", "t NOT ILIKE p ESCAPE '!'", "upper(t) ILIKE p"),
]
REFUSED = [
    *(r"^(a+)+\1b$", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "a++", "(?>a)", r"\h", r"\R", r"\Z"),
    *("(", "a{1001}", "((a{100}){100}){10}", "[a", r"\8", "a**", "(?<name>a)", r"\k<n>"),
]


@pytest.mark.parametrize(
    ("expressions", "patterns"),
    [(EXPRESSIONS, PATTERNS), (LIKE_EXPRESSIONS, LIKES), (["t GLOB p", "NOT t GLOB p"], GLOBS)],
    ids=["regular expressions", "like", "glob"],
)
def test_patterns_give_the_results_of_duckdb(
    lake: Session, expressions: list[str], patterns: list[str]
) -> None:
    rows = ", ".join(
        f"({number}, {_quoted(text)}, {_quoted(pattern)})"
        for number, (text, pattern) in enumerate((t, p) for t in TEXTS for p in patterns)
    )
    listed = ", ".join(f"{one} AS e{number}" for number, one in enumerate(expressions))
    query = f"SELECT n, t, p, {listed} FROM (VALUES {rows}) v(n, t, p) ORDER BY n"
    expected = duckdb.connect().execute(query).fetchall()
    found = [tuple(row) for row in lake.sql(query).collect()]
    wrong = [
        (expressions[at - 3], mine[1], mine[2], mine[at], its[at])
        for mine, its in zip(found, expected, strict=True)
        for at in range(3, len(mine))
        if mine[at] != its[at]
    ]
    assert not wrong, wrong[:20]


def test_patterns_unsupported_by_re2_are_refused_as_constant_and_as_column(lake: Session) -> None:
    for pattern in REFUSED:
        with pytest.raises(duckdb.Error):
            duckdb.connect().execute("SELECT regexp_matches('a', ?)", [pattern]).fetchall()
        for query in (
            f"SELECT regexp_matches('aaa', {_quoted(pattern)})",
            f"SELECT regexp_matches('aaa', p) FROM (VALUES ({_quoted(pattern)})) v(p)",
        ):
            with pytest.raises(Exception, match="Invalid regular expression"):
                lake.sql(query).collect()


def test_patterns_with_exponential_backtracking_take_linear_time(lake: Session) -> None:
    query = """
        SELECT regexp_matches(t, '(a+)+b'), regexp_matches(t, '(a|aa)+$b'), t LIKE '%a%a%a%a%a%a%b',
               t GLOB '*a*a*a*a*a*a*b', regexp_replace(t, '(a*)*b', ''), t ILIKE '%A%A%A%A%A%A%b'
        FROM (SELECT repeat('a', 2000 + range::INT) AS t FROM range(2))
    """
    for row in lake.sql(query).collect():
        assert row[:4] == (False, False, False, False)
        assert (set(row[4]), row[5]) == ({"a"}, False)


def test_results_of_a_call_are_bounded(lake: Session) -> None:
    for call in (
        "repeat('a', 2000000000)",
        "lpad('a', 2000000000, 'b')",
        "rpad('a', 2000000000, 'b')",
        "replace(repeat('a', 10000000), 'a', 'twelve signs')",
        "repeat([1, 2, 3], 2000000000)",
        "range(100000000)",
    ):
        for where in ("", " FROM range(1)"):
            with pytest.raises(Exception, match="cannot have"):
                lake.sql(f"SELECT {call}{where}").collect()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

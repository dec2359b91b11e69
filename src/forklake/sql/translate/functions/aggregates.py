"""DuckDB's aggregates and window functions.

An aggregate is a call that Spark aggregates with, the inner template, and what is made of its
result, the outer one, in which `_made` stands for it. DISTINCT, FILTER and OVER go to the call.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.sql.translate.templates import Template, by_type

ALIASES = {
    "mean": "avg",
    "array_agg": "list",
    "group_concat": "string_agg",
    "listagg": "string_agg",
    "arbitrary": "first",
    "argmax": "arg_max",
    "max_by": "arg_max",
    "argmin": "arg_min",
    "min_by": "arg_min",
    "stddev": "stddev_samp",
    "variance": "var_samp",
    "countif": "count_if",
    "logical_and": "bool_and",
    "logical_or": "bool_or",
    "quantile": "quantile_disc",
    "percentile_cont": "quantile_cont",
    "percentile_disc": "quantile_disc",
}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate; if it is sorted, ORDER BY inside of the call matters to it."""

    inner: Template
    outer: str = "_made"
    is_sorted: bool = False
    nulls: str = ""  # RESPECT or IGNORE


_LIST = "if(size(_made) > 0, _made, null)"
_SORTED = "array_sort(_made)"
_DISC = f"get({_SORTED}, cast(greatest(ceil(size(_made) * _1), 1) as int) - 1)"

AGGREGATES: dict[str, Aggregate | tuple[Aggregate, ...]] = {
    "count": (Aggregate("count(*)"), Aggregate("count(_0)")),
    "count_star": Aggregate("count(*)"),
    "count_if": Aggregate("count_if(_0)"),
    "sum": Aggregate(by_type(("boolean", "sum(cast(_0 as int))"), ("number|interval", "sum(_0)"))),
    "avg": Aggregate(by_type(("number", "avg(cast(_0 as double))"))),
    "min": (Aggregate("min(_0)"), Aggregate("collect_list(_0)", f"slice({_SORTED}, 1, _1)")),
    "max": (
        Aggregate("max(_0)"),
        Aggregate("collect_list(_0)", "slice(sort_array(_made, false), 1, _1)"),
    ),
    "arg_min": Aggregate("min_by(_0, if(_0 is null, null, _1))"),
    "arg_max": Aggregate("max_by(_0, if(_0 is null, null, _1))"),
    "arg_min_null": Aggregate("min_by(_0, _1)"),
    "arg_max_null": Aggregate("max_by(_0, _1)"),
    "list": Aggregate("collect_list(_0)", _LIST, is_sorted=True, nulls="RESPECT"),
    "string_agg": (
        Aggregate("collect_list(_duck_varchar(_0))", _LIST, is_sorted=True),
        Aggregate("collect_list(_duck_varchar(_0))", _LIST, is_sorted=True),
    ),
    "first": Aggregate("first(_0)"),
    "last": Aggregate("last(_0)"),
    "any_value": Aggregate("any_value(_0, true)"),
    "bool_and": Aggregate("bool_and(_0)"),
    "bool_or": Aggregate("bool_or(_0)"),
    "bit_and": Aggregate("bit_and(_0)"),
    "bit_or": Aggregate("bit_or(_0)"),
    "bit_xor": Aggregate("bit_xor(_0)"),
    "product": Aggregate(
        "collect_list(cast(_0 as double))",
        "if(size(_made) > 0, aggregate(_made, 1D, (_a, _e) -> _a * _e), null)",
    ),
    "stddev_samp": Aggregate("stddev_samp(cast(_0 as double))"),
    "stddev_pop": Aggregate("stddev_pop(cast(_0 as double))"),
    "var_samp": Aggregate("var_samp(cast(_0 as double))"),
    "var_pop": Aggregate("var_pop(cast(_0 as double))"),
    "corr": Aggregate("corr(_0, _1)"),
    "covar_pop": Aggregate("covar_pop(_0, _1)"),
    "covar_samp": Aggregate("covar_samp(_0, _1)"),
    "regr_slope": Aggregate("regr_slope(_0, _1)"),
    "regr_intercept": Aggregate("regr_intercept(_0, _1)"),
    "regr_count": Aggregate("regr_count(_0, _1)"),
    "regr_r2": Aggregate("regr_r2(_0, _1)"),
    "regr_avgx": Aggregate("regr_avgx(_0, _1)"),
    "regr_avgy": Aggregate("regr_avgy(_0, _1)"),
    "regr_sxx": Aggregate("regr_sxx(_0, _1)"),
    "regr_syy": Aggregate("regr_syy(_0, _1)"),
    "regr_sxy": Aggregate("regr_sxy(_0, _1)"),
    "median": Aggregate(by_type(("number", "median(cast(_0 as double))"))),
    "quantile_cont": Aggregate("percentile(cast(_0 as double), _1)"),
    "quantile_disc": Aggregate("collect_list(_0)", _DISC),
    "mode": Aggregate("mode(_0)"),
    "histogram": Aggregate(
        "collect_list(_0)",
        "if(size(_made) > 0, map_from_entries(transform(array_distinct(array_sort(_made)),"
        " _v -> struct(_v, cast(size(filter(_made, _e -> _e = _v)) as bigint)))), null)",
    ),
    "approx_count_distinct": Aggregate("approx_count_distinct(_0)"),
    "grouping": Aggregate("grouping(_0)"),
}

WINDOWS: dict[str, Aggregate | tuple[Aggregate, ...]] = {
    "row_number": Aggregate("row_number()"),
    "rank": Aggregate("rank()"),
    "dense_rank": Aggregate("dense_rank()"),
    "percent_rank": Aggregate("percent_rank()"),
    "cume_dist": Aggregate("cume_dist()"),
    "ntile": Aggregate("ntile(cast(_0 as int))"),
    "lag": (Aggregate("lag(_0)"), Aggregate("lag(_0, _1)"), Aggregate("lag(_0, _1, _2)")),
    "lead": (Aggregate("lead(_0)"), Aggregate("lead(_0, _1)"), Aggregate("lead(_0, _1, _2)")),
    "first_value": Aggregate("first_value(_0)"),
    "last_value": Aggregate("last_value(_0)"),
    "nth_value": Aggregate("nth_value(_0, _1)"),
}

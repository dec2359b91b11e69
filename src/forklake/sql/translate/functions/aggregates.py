"""Translations of DuckDB aggregates and window functions.

The inner template of an aggregate is the call that Spark aggregates with. The outer template is the
expression over its result, `_inner`. DISTINCT, FILTER and OVER are added to the inner call.
"""

from __future__ import annotations

from dataclasses import dataclass

from forklake.sql.translate.templates import Template, by_type

ALIASES = {
    "grouping_id": "grouping",
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
    """Translation of an aggregate. `is_sorted`: the ORDER BY inside of the call has an effect."""

    inner: Template
    outer: str = "_inner"
    is_sorted: bool = False
    nulls: str = ""  # RESPECT or IGNORE
    optional: int = 0  # number of further arguments, which are in neither template


_OF_PAIRS = "{}(cast(_0 as double), cast(_1 as double))"
_PAIRS = "collect_list(struct(_1 as k, _0 as v))"
_COMPLETE = "filter(_inner, e -> e.k is not null and e.v is not null)"
_MOST = (
    "if(size({0}) > 0, transform(slice(array_sort({0}, (l, r) ->"
    " case when l.k < r.k then {1} when l.k > r.k then -({1}) else 0 end), 1, _2), e -> e.v), null)"
)
_LIST = "if(size(_inner) > 0, _inner, null)"
_SORTED = "array_sort(_inner)"
_DISC = f"get({_SORTED}, cast(greatest(ceil(size(_inner) * _1), 1) as int) - 1)"

AGGREGATES: dict[str, Aggregate | tuple[Aggregate, ...]] = {
    "count": (Aggregate("count(*)"), Aggregate("count(_0)")),
    "count_star": Aggregate("count(*)"),
    "count_if": Aggregate("sum(cast(_0 as int))"),
    "sum": Aggregate(by_type(("boolean", "sum(cast(_0 as int))"), ("number|interval", "sum(_0)"))),
    "exact sum": Aggregate(
        by_type(
            ("integer", "sum(cast(_0 as decimal(38, 0)))"),
            ("decimal", "sum(_0)"),
            ("float", "sum(cast(_0 as double))"),
        )
    ),
    "avg": Aggregate("avg(_0)"),  # only for its arity: composed of two others
    "min": (
        Aggregate(by_type(("nested", "min_by(_0, _duck_order_key(_0))"), ("any", "min(_0)"))),
        Aggregate("collect_list(_0)", f"if(size(_inner) > 0, slice({_SORTED}, 1, _1), null)"),
    ),
    "max": (
        Aggregate(by_type(("nested", "max_by(_0, _duck_order_key(_0))"), ("any", "max(_0)"))),
        Aggregate(
            "collect_list(_0)",
            "if(size(_inner) > 0, slice(sort_array(_inner, false), 1, _1), null)",
        ),
    ),
    "arg_min": (
        Aggregate("min_by(_0, if(_0 is null, null, _duck_order_key(_1)))"),
        Aggregate(_PAIRS, _MOST.format(_COMPLETE, -1)),
    ),
    "arg_max": (
        Aggregate("max_by(_0, if(_0 is null, null, _duck_order_key(_1)))"),
        Aggregate(_PAIRS, _MOST.format(_COMPLETE, 1)),
    ),
    "arg_min_null": Aggregate("min_by(_0, _duck_order_key(_1))"),
    "arg_max_null": Aggregate("max_by(_0, _duck_order_key(_1))"),
    "list": Aggregate("collect_list(_0)", _LIST, is_sorted=True, nulls="RESPECT"),
    "string_agg": Aggregate("collect_list(_duck_varchar(_0))", _LIST, is_sorted=True, optional=1),
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
        "if(size(_inner) > 0, aggregate(_inner, 1D, (_a, _e) -> _a * _e), null)",
    ),
    **{
        name: Aggregate(f"{name}(cast(_0 as double))", "_duck_check_statistic(_inner)")
        for name in ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
    },
    **{
        name: Aggregate(_OF_PAIRS.format(name), "_duck_check_statistic(_inner)")
        for name in ("regr_intercept", "regr_r2", "regr_sxx", "regr_syy")
    },
    **{
        f"checked {name}": Aggregate(_OF_PAIRS.format(name), "_duck_check_statistic(_inner)")
        for name in ("corr", "regr_slope")
    },
    "corr": Aggregate("corr(_0, _1)"),  # only for its arity: composed of two others
    "regr_slope": Aggregate("regr_slope(_0, _1)"),  # only for its arity: composed of two others
    **{name: Aggregate(_OF_PAIRS.format(name)) for name in ("covar_pop", "covar_samp", "regr_sxy")},
    "regr_count": Aggregate("regr_count(_0, _1)"),
    "regr_avgx": Aggregate("regr_avgx(cast(_0 as double), cast(_1 as double))"),
    "regr_avgy": Aggregate("regr_avgy(cast(_0 as double), cast(_1 as double))"),
    "median": Aggregate(by_type(("number", "median(cast(_0 as double))"))),
    "quantile_cont": Aggregate("percentile(cast(_0 as double), _1)"),
    "quantile_disc": Aggregate("collect_list(_0)", _DISC),
    "mode": Aggregate("mode(_0)"),
    "histogram": Aggregate(
        "collect_list(_0)",
        "if(size(_inner) > 0, map_from_entries(transform(array_distinct(array_sort(_inner)),"
        " _v -> struct(_v, cast(size(filter(_inner, _e -> _e = _v)) as bigint)))), null)",
    ),
    "approx_count_distinct": Aggregate("approx_count_distinct(_0)"),
    "grouping": Aggregate("grouping(_0)", optional=62),
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

"""Translations of DuckDB functions for lists, maps and structs."""

from __future__ import annotations

from forklake.sql.translate.templates import Template, by_type

ALIASES = {
    "array_length": "list_length",
    "list_has": "list_contains",
    "array_contains": "list_contains",
    "array_has": "list_contains",
    "list_indexof": "list_position",
    "array_position": "list_position",
    "array_indexof": "list_position",
    "list_cat": "list_concat",
    "array_concat": "list_concat",
    "array_cat": "list_concat",
    "array_append": "list_append",
    "array_push_back": "list_append",
    "array_prepend": "list_prepend",
    "array_push_front": "list_prepend",
    "array_has_any": "list_has_any",
    "&&": "list_has_any",
    "array_has_all": "list_has_all",
    "@>": "list_has_all",
    "array_intersect": "list_intersect",
    "array_distinct": "list_distinct",
    "array_unique": "list_unique",
    "array_reverse": "list_reverse",
    "array_sort": "list_sort",
    "array_reverse_sort": "list_reverse_sort",
    "array_transform": "list_transform",
    "array_apply": "list_transform",
    "list_apply": "list_transform",
    "apply": "list_transform",
    "array_filter": "list_filter",
    "filter": "list_filter",
    "array_reduce": "list_reduce",
    "reduce": "list_reduce",
    "array_slice": "list_slice",
    "list_element": "list_extract",
    "array_extract": "list_extract",
    "array_value": "list_value",
    "list_pack": "list_value",
    "array_zip": "list_zip",
    "array_flatten": "flatten",
    "element_at": "map_extract",
    "struct_extract": "[]",
    "array_aggregate": "list_aggregate",
    "list_aggr": "list_aggregate",
    "list_mean": "list_avg",
    "map_contains": "map_has",
}

_IN_RANGE = "get(_0, cast(if(_1 > 0, _1 - 1, if(_1 < 0, size(_0) + _1, -1)) as int))"
_RANGE = "java_range(cast({} as bigint), cast({} as bigint), cast({} as bigint), {})"
_ENDS = "unix_micros(cast(_0 as timestamp)), unix_micros(cast(_1 as timestamp))"
_SERIES = {
    "interval of months": (
        f"java_monthSeries({_ENDS},"
        " cast(extract(YEAR FROM _2) * 12 + extract(MONTH FROM _2) as int), {})"
    ),
    "interval of days": (
        f"java_clockSeries({_ENDS}, unix_micros(timestamp '1970-01-01 00:00:00Z' + _2), {{}})"
    ),
    "mixed interval": f"java_mixedSeries({_ENDS}, _2, {{}})",
}


def _build_series_templates(with_last: str) -> list[tuple[str, str]]:
    """Return templates of timestamp series.

    DuckDB adds the step to the value before; Spark would add a multiple of it to the first value.
    """
    result = []
    for step, template in _SERIES.items():
        numbers = template.format(with_last)
        zoned = f"transform({numbers}, e -> timestamp_micros(e))"
        local = f"transform({numbers}, e -> cast(timestamp_micros(e) as timestamp_ntz))"
        result.append((f"timestamptz, timestamptz, {step}", zoned))
        result.append((f"date|timestamp, date|timestamp, {step}", local))
    return result


_SUM = "aggregate(array_compact(_0), cast(null as {0}), (a, e) -> coalesce(a + e, cast(e as {0})))"
_CONTAINS = "if(_0 is null or _1 is null, null, exists(_0, e -> e is not null and e = _1))"
_CONTAINS_IT = _CONTAINS.replace("_0", "_2").replace("_1", "_0").replace("_2", "_1")

_NESTED = ("list", "struct", "map")
# Lists with nested elements are sorted by the keys of the elements, without NULL.
_BY_KEY = (
    "transform(sort_array(transform(array_compact(_0), k0 ->"
    " named_struct('k', {{element 0}}, 'v', k0)), {}), e -> e.v)"
)

NESTED: dict[str, Template | tuple[Template, ...]] = {
    # The condition depends on the element, so that Spark cannot fold it into a constant.
    "watched": by_type(("any, any", "if(java_goesOn(size(array(_1))), _0, null)")),
    "[]": by_type(
        ("list, integer", _IN_RANGE),
        ("text, integer", "java_slice(_0, cast(_1 as bigint), cast(_1 as bigint))"),
        ("map, any", "try_element_at(_0, _1)"),
        ("struct, text", "_0[_1]"),
    ),
    "[:]": by_type(
        (
            "list, integer, integer",
            "slice(_0, java_sliceStart(size(_0), cast(_1 as bigint)),"
            " java_sliceLength(size(_0), cast(_1 as bigint), cast(_2 as bigint)))",
        ),
        ("text, integer, integer", "java_slice(_0, cast(_1 as bigint), cast(_2 as bigint))"),
    ),
    "list_extract": by_type(
        ("list, integer", _IN_RANGE),
        ("text, integer", "java_slice(_0, cast(_1 as bigint), cast(_1 as bigint))"),
    ),
    "list_value": "array(_all)",
    "list_length": by_type(("list", "cast(size(_0) as bigint)")),
    "cardinality": by_type(("map|list", "cast(size(_0) as bigint)")),
    "list_contains": by_type(("list, any", _CONTAINS)),
    "list_position": by_type(
        (
            "list, any",
            "nullif(if(_1 is null,"
            " cast(array_position(transform(_0, e -> e is null), true) as int),"
            " cast(array_position(_0, _1) as int)), 0)",
        )
    ),
    "list_append": by_type(
        ("list, any", "concat(coalesce(_0, array()), array(_1))"),
        ("null, any", "array(_1)"),
    ),
    "list_prepend": by_type(
        ("any, list", "concat(array(_0), coalesce(_1, array()))"),
        ("any, null", "array(_0)"),
    ),
    "list_has_any": by_type(
        ("list, list of null", "if(_0 is null or _1 is null, null, false)"),
        (
            "list, list",
            "if(_0 is null or _1 is null, null,"
            " exists(_1, e -> e is not null and array_contains(_0, e) <=> true))",
        ),
    ),
    "list_has_all": by_type(
        ("list, list of null", "if(_0 is null or _1 is null, null, true)"),
        (
            "list, list",
            "if(_0 is null or _1 is null, null,"
            " forall(_1, e -> e is null or array_contains(_0, e) <=> true))",
        ),
    ),
    "list_distinct": by_type(("list", "array_distinct(array_compact(_0))")),
    "list_unique": by_type(("list", "cast(size(array_distinct(array_compact(_0))) as bigint)")),
    "list_intersect": by_type(
        ("list, list", "array_compact(array_intersect(_0, coalesce(_1, array())))")
    ),
    "in list": by_type(
        ("list, list", "_0 = _1"), ("any, list", _CONTAINS_IT), ("any, any", "_0 = _1")
    ),
    "list_reverse": by_type(("list", "reverse(_0)")),
    "list_transform": "transform(_0, _1)",
    "list_filter": "filter(_0, _1)",
    "flatten": by_type(("list", "flatten(filter(_0, e -> e is not null))")),
    "list_min": by_type(
        ("list of nested", f"get({_BY_KEY.format('true')}, 0)"), ("list", "array_min(_0)")
    ),
    "list_max": by_type(
        ("list of nested", f"get({_BY_KEY.format('false')}, 0)"), ("list", "array_max(_0)")
    ),
    "list upwards": by_type(
        ("list of nested", f"concat(filter(_0, e -> e is null), {_BY_KEY.format('true')})"),
        ("list", "sort_array(_0, true)"),
    ),
    "list downwards": by_type(
        ("list of nested", f"concat({_BY_KEY.format('false')}, filter(_0, e -> e is null))"),
        ("list", "sort_array(_0, false)"),
    ),
    # Sort key of a value, and key of a value that is compared with another one.
    "order_key": by_type(
        *((kind, f"java_{kind}Key(_0, {{json 0}}, {{json 0}})") for kind in _NESTED), ("any", "_0")
    ),
    "compared_key": by_type(
        *((f"{kind}, {kind}", f"java_{kind}Key(_0, {{json 0}}, {{json 1}})") for kind in _NESTED),
        ("any, any", "_0"),
    ),
    "list_count": by_type(("list", "cast(size(array_compact(_0)) as bigint)")),
    "list_first": by_type(("list", "get(_0, 0)")),
    "list_last": by_type(("list", "get(_0, size(_0) - 1)")),
    "list_any_value": by_type(("list", "get(array_compact(_0), 0)")),
    "list_sum": by_type(
        ("list of integer", _SUM.format("bigint")),
        ("list of float", _SUM.format("double")),
    ),
    "list_avg": by_type(
        (
            "list of number",
            "aggregate(array_compact(_0), 0D, (a, e) -> a + e,"
            " a -> a / nullif(size(array_compact(_0)), 0))",
        )
    ),
    "list_product": by_type(
        (
            "list of number",
            "if(size(array_compact(_0)) = 0, null,"
            " aggregate(array_compact(_0), 1D, (a, e) -> a * e))",
        )
    ),
    "list_bool_and": by_type(
        ("list", "if(size(array_compact(_0)) = 0, null, forall(array_compact(_0), e -> e))")
    ),
    "list_bool_or": by_type(
        ("list", "if(size(array_compact(_0)) = 0, null, exists(array_compact(_0), e -> e))")
    ),
    "range": by_type(
        ("integer", _RANGE.format("0", "_0", "1", "false")),
        ("integer, integer", _RANGE.format("_0", "_1", "1", "false")),
        ("integer, integer, integer", _RANGE.format("_0", "_1", "_2", "false")),
        *_build_series_templates("false"),
    ),
    "generate_series": by_type(
        ("integer", _RANGE.format("0", "_0", "1", "true")),
        ("integer, integer", _RANGE.format("_0", "_1", "1", "true")),
        ("integer, integer, integer", _RANGE.format("_0", "_1", "_2", "true")),
        *_build_series_templates("true"),
    ),
    "map_keys": by_type(("map", "map_keys(_0)")),
    "map_values": by_type(("map", "map_values(_0)")),
    "map_entries": by_type(("map", "map_entries(_0)")),
    "map_from_entries": by_type(("list", "map_from_entries(_0)")),
    "map_concat": by_type(
        (
            "map, map",
            "if(_0 is null, _1, if(_1 is null, _0, map_concat("
            "transform_values(_0, (k, v) -> if(map_contains_key(_1, k), try_element_at(_1, k), v)),"
            " map_filter(_1, (k, v) -> not map_contains_key(_0, k)))))",
        ),
        ("map, null", "_0"),
        ("null, map", "_1"),
    ),
    "map_extract": by_type(
        ("map, any", "if(map_contains_key(_0, _1), array(_0[_1]), slice(map_values(_0), 1, 0))"),
    ),
    "map_extract_value": by_type(("map, any", "try_element_at(_0, _1)")),
    "map_has": by_type(("map, any", "map_contains_key(_0, _1)")),
    "map_of_pairs": "map(_all)",
    "map_of_lists": ("map()", "map_from_arrays(_0, _1)"),
    "list_exists": "_0 is not null and exists(_0, _1)",
    "list_forall": "_0 is null or forall(_0, _1)",
}

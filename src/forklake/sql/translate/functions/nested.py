"""DuckDB's functions on lists, maps and structs."""

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
_MOMENTS = "date|timestamp, date|timestamp, interval"
_SEQUENCE = "sequence(cast(_0 as timestamp_ntz), cast(_1 as timestamp_ntz), _2)"
_SUM = "aggregate(array_compact(_0), cast(null as {0}), (a, e) -> coalesce(a + e, cast(e as {0})))"
_CONTAINS = "exists(_0, e -> e is not null and e = _1)"

NESTED: dict[str, Template | tuple[Template, ...]] = {
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
    "list_position": by_type(("list, any", "nullif(cast(array_position(_0, _1) as int), 0)")),
    "list_append": by_type(("list, any", "array_append(_0, _1)")),
    "list_prepend": by_type(("any, list", "array_prepend(_1, _0)")),
    "list_has_any": by_type(
        ("list, list", "exists(_1, e -> e is not null and array_contains(_0, e) <=> true)")
    ),
    "list_has_all": by_type(
        ("list, list", "forall(_1, e -> e is null or array_contains(_0, e) <=> true)")
    ),
    "list_distinct": by_type(("list", "array_distinct(array_compact(_0))")),
    "list_unique": by_type(("list", "cast(size(array_distinct(array_compact(_0))) as bigint)")),
    "list_intersect": by_type(("list, list", "array_compact(array_intersect(_0, _1))")),
    "list_reverse": by_type(("list", "reverse(_0)")),
    "list_transform": "transform(_0, _1)",
    "list_filter": "filter(_0, _1)",
    "flatten": by_type(("list", "flatten(filter(_0, e -> e is not null))")),
    "list_zip": "arrays_zip(_all)",
    "list_min": by_type(("list", "array_min(_0)")),
    "list_max": by_type(("list", "array_max(_0)")),
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
            "if(size(_0) = 0, null, aggregate(array_compact(_0), 1D, (a, e) -> a * e))",
        )
    ),
    "list_bool_and": by_type(("list", "forall(_0, e -> e)")),
    "list_bool_or": by_type(("list", "exists(_0, e -> e)")),
    "list_string_agg": by_type(("list of text", "nullif(array_join(_0, ','), '')")),
    "range": by_type(
        ("integer", _RANGE.format("0", "_0", "1", "false")),
        ("integer, integer", _RANGE.format("_0", "_1", "1", "false")),
        ("integer, integer, integer", _RANGE.format("_0", "_1", "_2", "false")),
        (_MOMENTS, f"filter({_SEQUENCE}, e -> e <> cast(_1 as timestamp_ntz))"),
    ),
    "generate_series": by_type(
        ("integer", _RANGE.format("0", "_0", "1", "true")),
        ("integer, integer", _RANGE.format("_0", "_1", "1", "true")),
        ("integer, integer, integer", _RANGE.format("_0", "_1", "_2", "true")),
        (_MOMENTS, _SEQUENCE),
    ),
    "map_keys": by_type(("map", "map_keys(_0)")),
    "map_values": by_type(("map", "map_values(_0)")),
    "map_entries": by_type(("map", "map_entries(_0)")),
    "map_from_entries": by_type(("list", "map_from_entries(_0)")),
    "map_concat": "map_concat(_all)",
    "map_extract": by_type(
        ("map, any", "if(map_contains_key(_0, _1), array(_0[_1]), slice(map_values(_0), 1, 0))"),
    ),
    "map_extract_value": by_type(("map, any", "try_element_at(_0, _1)")),
    "map_has": by_type(("map, any", "map_contains_key(_0, _1)")),
    "map_of_pairs": "map(_all)",
    "map_of_lists": ("map()", "map_from_arrays(_0, _1)"),
    "list_exists": "_0 is not null and exists(_0, _1)",
    "list_forall": "_0 is null or forall(_0, _1)",
    "row": "struct(_all)",
}

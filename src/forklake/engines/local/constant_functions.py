"""Functions that constants and defaults may call: those that only compute.

DuckDB has others that reveal settings, wait, or read files. Functions that are not listed are
refused, so that a new version of DuckDB does not add any silently.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice, pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from forklake.errors import InvalidInput

FUNCTIONS = frozenset(
    """
    abs acos acosh add age aggregate ago apply array_aggr array_aggregate array_append
    array_apply array_cat array_concat array_contains array_cosine_distance
    array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product
    array_extract array_filter array_flatten array_grade_up array_has array_has_all
    array_has_any array_indexof array_inner_product array_intersect array_length
    array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
    array_position array_prepend array_push_back array_push_front array_reduce array_resize
    array_reverse array_reverse_sort array_select array_slice array_sort array_to_json
    array_to_string array_to_string_comma_default array_transform array_unique array_value
    array_where array_zip ascii asin asinh atan atan2 atanh base64 bin bit_count bit_length
    bit_position bitstring cardinality cbrt ceil ceiling century char_length character_length
    chr coalesce concat concat_ws contains cos cosh cot current_date current_localtime
    current_localtimestamp damerau_levenshtein date_add date_diff date_part date_sub date_trunc
    datediff datefromparts datepart datesub datetrunc day dayname dayofmonth dayofweek
    dayofyear days_in_month decade decode degrees divide dow doy editdist3 element_at encode
    ends_with epoch epoch_ms epoch_ns epoch_us equi_width_bins era even exp extract factorial
    fdiv filter flatten floor fmod format format_bytes from_base64 from_binary from_hex
    from_json from_json_strict gamma gcd gen_random_uuid generate_series generate_subscripts
    geomean geometric_mean get_bit get_current_time get_current_timestamp glob grade_up
    greatest greatest_common_divisor hamming hash hex hour if ifnull ilike ilike_escape instr
    isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json
    json_array json_array_length json_contains json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_group_array json_group_object
    json_group_structure json_keys json_merge_patch json_object json_pretty json_quote
    json_structure json_transform json_transform_strict json_type json_valid json_value julian
    last_day lcase lcm least least_common_multiple left left_grapheme len length
    length_grapheme levenshtein lgamma like like_escape list_aggr list_aggregate list_any_value
    list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
    list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
    list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
    list_dot_product list_element list_entropy list_exists list_extract list_filter list_first
    list_forall list_grade_up list_has list_has_all list_has_any list_histogram list_indexof
    list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last list_length
    list_mad list_max list_mean list_median list_min list_mode list_negative_dot_product
    list_negative_inner_product list_pack list_position list_prepend list_product list_reduce
    list_resize list_reverse list_reverse_sort list_select list_sem list_skewness list_slice
    list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform
    list_unique list_value list_var_pop list_var_samp list_where list_zip ln localtimestamp log
    log10 log2 lower lpad ltrim make_date make_time make_timestamp make_timestamp_ms
    make_timestamp_ns make_timestamptz map map_concat map_contains map_contains_entry
    map_contains_value map_entries map_extract map_extract_value map_from_entries map_has
    map_keys map_values md5 md5_number md5_number_lower md5_number_upper microsecond millennium
    millisecond minute mismatches mod month monthname multiply nanosecond nextafter
    nfc_normalize not_ilike_escape not_like_escape now nullif octet_length ord overlay
    parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path pi position pow
    power prefix printf quarter radians rand random range reduce regexp_escape regexp_extract
    regexp_extract_all regexp_full_match regexp_like regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table repeat replace reverse right right_grapheme
    round round_even roundbankers row row_to_json rpad rtrim second set_bit sha1 sha256 sign
    signbit sin sinh split split_part sqrt starts_with str_split str_split_regex strftime
    string_split string_split_regex string_to_array strip_accents strlen strpos strptime
    struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof
    struct_insert struct_keys struct_pack struct_position struct_update struct_values substr
    substring substring_grapheme subtract suffix tan tanh time_bucket timezone timezone_hour
    timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours
    to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters
    to_seconds to_timestamp to_weeks to_years today transaction_timestamp translate trim trunc
    try_strptime typeof ucase unbin unhex unicode union_extract union_tag union_value upper
    url_decode url_encode uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
    varchar wavg week weekday weekofyear weighted_avg xor year yearweek
    """.split()
)
# Words before a parenthesis that are not functions: operators and types.
_WORDS = frozenset(
    """
    all and any array between bit blob case cast char decimal dec else end enum escape exists glob
    ilike
    in interval is like map not numeric or similar struct text then time timestamp to try_cast
    union values varchar when
    """.split()
)
# Words that are functions without parentheses, or that begin queries.
_REFUSED = frozenset(
    """
    current_catalog current_database current_role current_schema current_user describe
    pivot select session_user show summarize table unpivot user
    """.split()
)
# Nodes evaluated without a child process: cheap, and values about as large as their text.
_PLAIN = (
    *(exp.Literal, exp.Null, exp.Boolean, exp.Cast, exp.DataType, exp.DataTypeParam, exp.Neg),
    *(exp.Paren, exp.Tuple, exp.Array, exp.Struct, exp.PropertyEQ, exp.Identifier, exp.Interval),
    *(exp.Var, exp.Add, exp.Sub, exp.CurrentTimestamp, exp.CurrentDate, exp.ToMap, exp.Map),
)
# Types to which texts are cast in linear time. A cast to BIGNUM is quadratic, and arrays of a
# fixed size take memory for all their elements.
_PLAIN_TYPES = {
    *exp.DataType.NUMERIC_TYPES,
    *exp.DataType.TEXT_TYPES,
    *exp.DataType.TEMPORAL_TYPES,
    *(exp.DType.BOOLEAN, exp.DType.UUID, exp.DType.JSON, exp.DType.INTERVAL),
    *(exp.DType.VARBINARY, exp.DType.TIME, exp.DType.TIMETZ),
    *(exp.DType.LIST, exp.DType.ARRAY, exp.DType.MAP, exp.DType.STRUCT),
}
_ZONED_TYPES = {exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMETZ}
# The time to bind grows faster than the number of nodes: lists of structs with other fields each
# become structs of all fields.
_MOST_PLAIN_NODES = 200
_MOST_SUMS = 8  # the time to bind a chain of them is cubic
# DuckDB reads a text in time proportional to its length times the quotes in it.
_MOST_QUOTING = 2**30
_MOST_ZONED_TEXT = 2**12  # the time to read a zone is quadratic
_ZONED = "WITH TIME ZONE"


def is_plain(tree: exp.Expr, kind: str = "") -> bool:
    """Return whether an expression, cast to a type, is cheap and about as large as its text."""
    nodes = list(islice(tree.walk(), _MOST_PLAIN_NODES + 1))
    sums = sum(isinstance(one, exp.Add | exp.Sub) for one in nodes)
    if len(nodes) > _MOST_PLAIN_NODES or sums > _MOST_SUMS:
        return False
    has_zone = _ZONED in kind or any(
        isinstance(one, exp.DataType) and one.this in _ZONED_TYPES for one in nodes
    )
    return all(_is_plain_node(one, has_zone) for one in nodes)


def _is_plain_node(node: exp.Expr, has_zone: bool) -> bool:
    match node:
        case exp.Literal():
            text = str(node.this)
            if has_zone and len(text) > _MOST_ZONED_TEXT:
                return False
            return len(text) * text.count("'") <= _MOST_QUOTING
        case exp.DataType():
            return node.this in _PLAIN_TYPES and not node.args.get("values")
    return isinstance(node, _PLAIN)


@lru_cache(maxsize=1000)
def is_plain_default(text: str, kind: str) -> bool:
    """Return whether the default of a column with a DuckDB type is plain.

    Raises InvalidInput if it does more than compute.
    """
    require_computable(text)
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
    except (SqlglotError, RecursionError):
        return False
    return is_plain(tree, kind)


def require_computable(text: str) -> None:
    """Raise InvalidInput if a DuckDB expression does more than compute."""
    try:
        tokens = DuckDB().tokenize(text)
    except SqlglotError:
        raise InvalidInput(
            f"The expression {text[:100]!r} cannot be read.", remedy="Correct its syntax."
        ) from None
    words = [(one.text.lower(), one.token_type) for one in tokens]
    for (word, kind), (after, _) in pairwise([*words, ("", TokenType.BREAK)]):
        if kind in (TokenType.STRING, TokenType.NUMBER):
            continue
        is_called = after == "(" and word[:1].isidentifier()
        if is_called and word not in FUNCTIONS and word not in _WORDS:
            raise _not_computable(word)
        is_query = word == "(" and after == "from"
        if is_query or (word in _REFUSED and kind is not TokenType.IDENTIFIER and after != ":"):
            raise _not_computable(word)


def _not_computable(name: str) -> InvalidInput:
    return InvalidInput(
        f"The function {name} cannot be used in a constant.", remedy="Write the value itself."
    )

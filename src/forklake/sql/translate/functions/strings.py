"""Translations of DuckDB functions for strings and bytes."""

from __future__ import annotations

from forklake.sql.translate.templates import Template, by_type

ALIASES = {
    "len": "length",
    "char_length": "length",
    "character_length": "length",
    "lcase": "lower",
    "ucase": "upper",
    "substr": "substring",
    "strpos": "instr",
    "position": "instr",
    "str_split": "string_split",
    "split": "string_split",
    "string_to_array": "string_split",
    "str_split_regex": "regexp_split_to_array",
    "string_split_regex": "regexp_split_to_array",
    "prefix": "starts_with",
    "ends_with": "suffix",
    "unicode": "ord",
    "levenshtein": "editdist3",
    "base64": "to_base64",
    "to_hex": "hex",
    "from_hex": "unhex",
    "to_binary": "bin",
    "ltrim": "trim_left",
    "rtrim": "trim_right",
    "array_to_string": "list_to_text",
    "regexp_like": "regexp_matches",
}


_WHOLE = "if(_0 is null, null, array(_0))"


def _split_or_whole(parts: str) -> str:
    """Return a split that leaves a text whole where the separator is NULL."""
    return f"coalesce({parts}, {_WHOLE})"


_JOINED = "if(size(array_compact(_0)) = 0, null, array_join(_0, _1))"

STRINGS: dict[str, Template | tuple[Template, ...]] = {
    "length": by_type(
        ("text", "cast(length(_0) as bigint)"),
        ("list", "cast(size(_0) as bigint)"),
    ),
    "strlen": "cast(octet_length(_0) as bigint)",
    "octet_length": "cast(octet_length(_0) as bigint)",
    "bit_length": "cast(bit_length(_0) as bigint)",
    "lower": by_type(("text", "java_lower(_0)")),
    "upper": by_type(("text", "java_upper(_0)")),
    "trim": ("trim(_0)", "btrim(_0, _1)"),
    "trim_left": ("ltrim(_0)", "ltrim(_1, _0)"),
    "trim_right": ("rtrim(_0)", "rtrim(_1, _0)"),
    "concat_ws": "concat_ws(_all)",
    "replace": by_type(("text, text, text", "java_replace(_0, _1, _2)")),
    "repeat": by_type(
        ("text, integer", "java_repeat(_0, cast(_1 as bigint))"),
        (
            "list, integer",
            "flatten(array_repeat(_0, java_listTimes(size(_0), cast(_1 as bigint))))",
        ),
    ),
    "reverse": by_type(("text", "java_reverse(_0)")),
    "left": by_type(
        ("text, integer", "java_slice(_0, 1L, if(_1 < 0, _1 - 1L, cast(_1 as bigint)))")
    ),
    "right": by_type(("text, integer", "java_right(_0, cast(_1 as bigint))")),
    "substring": by_type(
        ("text, integer", "java_substring(_0, cast(_1 as bigint), 2147483647L)"),
        ("text, integer, integer", "java_substring(_0, cast(_1 as bigint), cast(_2 as bigint))"),
    ),
    "lpad": by_type(("text, integer, text", "java_lpad(_0, cast(_1 as int), _2)")),
    "rpad": by_type(("text, integer, text", "java_rpad(_0, cast(_1 as int), _2)")),
    "instr": "cast(instr(_0, _1) as bigint)",
    "starts_with": "startswith(_0, _1)",
    "suffix": "endswith(_0, _1)",
    "contains": by_type(
        ("text, text", "contains(_0, _1)"),
        (
            "list, any",
            "coalesce(array_contains(_0, _1), if(_0 is null or _1 is null, null, false))",
        ),
        ("map, any", "map_contains_key(_0, _1)"),
    ),
    "translate": "translate(_0, _1, _2)",
    "ascii": by_type(("text", "ascii(_0)")),
    "ord": by_type(("text", "if(length(_0) = 0, -1, ascii(_0))")),
    "chr": by_type(("integer", "java_chr(cast(_0 as int))")),
    "string_split": by_type(
        ("text, null", _WHOLE), ("text, text", _split_or_whole("java_split(_0, _1)"))
    ),
    "split_part": by_type(
        ("text, text, integer", "java_splitPart(_0, _1, cast(_2 as bigint))"),
    ),
    "editdist3": by_type(("text, text", "java_levenshtein(_0, _1)")),
    "md5": "md5(_0)",
    "sha256": "sha2(_0, 256)",
    "sha1": "sha1(_0)",
    # Spark breaks the result into lines of 76 characters.
    "to_base64": "replace(base64(_0), concat(char(13), char(10)), '')",
    "from_base64": "unbase64(_0)",
    "hex": by_type(("text", "hex(_0)"), ("blob", "hex(_0)"), ("integer", "hex(_0)")),
    "unhex": "unhex(_0)",
    "bin": by_type(("integer", "bin(_0)")),
    "encode": "encode(_0, 'UTF-8')",
    "decode": "decode(_0, 'UTF-8')",
    "url_encode": "replace(url_encode(_0), '+', '%20')",
    "url_decode": by_type(("text", "java_urlDecode(_0)")),
    "strip_accents": by_type(("text", "java_stripAccents(_0)")),
    "regexp_matches": by_type(
        ("text, text", "java_regexpMatches(_0, _1, '')"),
        ("text, text, text", "java_regexpMatches(_0, _1, _2)"),
    ),
    "regexp_full_match": by_type(
        ("text, text", "java_regexpFullMatch(_0, _1, '')"),
        ("text, text, text", "java_regexpFullMatch(_0, _1, _2)"),
    ),
    "regexp_extract": by_type(
        ("text, text", "java_regexpExtract(_0, _1, 0, '')"),
        ("text, text, integer", "java_regexpExtract(_0, _1, cast(_2 as int), '')"),
        ("text, text, integer, text", "java_regexpExtract(_0, _1, cast(_2 as int), _3)"),
    ),
    "regexp_extract_all": by_type(
        ("text, text", "java_regexpExtractAll(_0, _1, 0, '')"),
        ("text, text, integer", "java_regexpExtractAll(_0, _1, cast(_2 as int), '')"),
    ),
    "regexp_replace": by_type(
        ("text, text, text", "java_regexpReplace(_0, _1, _2, '')"),
        ("text, text, text, text", "java_regexpReplace(_0, _1, _2, _3)"),
    ),
    "regexp_split_to_array": by_type(
        ("text, null", _WHOLE), ("text, text", _split_or_whole("java_regexpSplit(_0, _1)"))
    ),
    "glob": by_type(("text, text", "java_glob(_0, _1)")),
    "like": by_type(
        ("text, text", "java_like(_0, _1, '')"),
        ("text, text, text", "java_like(_0, _1, _2)"),
    ),
    "ilike": by_type(
        ("text, text", "java_ilike(_0, _1, '')"),
        ("text, text, text", "java_ilike(_0, _1, _2)"),
    ),
    "list_joined": by_type(("list of text, text", _JOINED)),
    "list_to_text": by_type(
        ("list of text, text", f"if(size(_0) = 0, '', {_JOINED})"),
    ),
    "uuid": "uuid()",
    "gen_random_uuid": "uuid()",
}

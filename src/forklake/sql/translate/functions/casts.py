"""Translations of casts, and of functions that concatenate strings and lists."""

from __future__ import annotations

from forklake.engines.spark import cast_templates
from forklake.sql.translate.templates import Template, by_type

# Functions that concatenate lists ignore NULL; the operator || does not.
_LISTS = (
    ("list, list", "concat(coalesce(_0, array()), coalesce(_1, array()))"),
    ("list, null", "coalesce(_0, array())"),
    ("null, list", "coalesce(_1, array())"),
)

CASTS: dict[str, Template | tuple[Template, ...]] = {
    **cast_templates.CASTS,
    "||": by_type(
        ("list, list", "concat(_0, _1)"),
        ("blob, blob", "concat(_0, _1)"),
        ("scalar, scalar", "concat(_duck_varchar(_0), _duck_varchar(_1))"),
    ),
    "concat": by_type(
        *_LISTS, ("scalar, scalar", "concat_ws('', _duck_varchar(_0), _duck_varchar(_1))")
    ),
    "list_concat": by_type(*_LISTS),
}

"""Parentheses around conditions that are operands.

Without them Spark rejects `a IN (1, 2) = b`, and sqlglot writes `a NOT IN (1) < b` as `NOT a …`.
"""

from __future__ import annotations

from sqlglot import exp

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_PREDICATES = (exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.Escape, exp.Exists)
_CONDITIONS = (*_COMPARISONS, *_PREDICATES, exp.Not)
# What binds stronger than `=`, but may have conditions with `==` as operands.
_STRONGER = (
    *(exp.Add, exp.Sub, exp.Mul, exp.DPipe, exp.BitwiseAnd, exp.BitwiseOr),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
)
_OPERATORS = (*_COMPARISONS, *_PREDICATES, *_STRONGER)


def enclose_conditions(tree: exp.Expr) -> exp.Expr:
    """Put parentheses around each condition that is an operand of anything but AND, OR and NOT."""
    for node in list(tree.walk()):
        parent = node.parent
        if not isinstance(node, _CONDITIONS) or not isinstance(parent, _OPERATORS):
            continue
        if isinstance(parent, exp.Escape):
            continue  # LIKE and its ESCAPE are one operator
        parentheses = exp.Paren()
        node.replace(parentheses)
        parentheses.set("this", node)
    return tree

"""Tree of catalogs and their forks, in which long lists of forks are folded.

A fork always refers to the catalog that it was forked from, even after it was materialized or that
catalog was dropped. A dropped catalog is shown in the tree without its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklake.cli.documents import Document
from forklake.cli.formatting import escape
from forklake.model.figures import counted

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from forklake.model.ids import CatalogId
    from forklake.store.catalogs import CatalogRow


@dataclass(frozen=True, slots=True)
class TreeBranch:
    """One catalog in the tree. `row` is None if the catalog was dropped."""

    depth: int
    catalog_id: CatalogId
    row: CatalogRow | None
    forks: int
    hidden: int


@dataclass(frozen=True, slots=True)
class ForkTree:
    """Branches in preorder (each before its forks), and the number of roots left out."""

    branches: list[TreeBranch]
    hidden: int


def fork_tree(
    rows: Iterable[CatalogRow], *, root: CatalogRow | None, depth: int, limit: int
) -> ForkTree:
    """Build the tree of all catalogs or of `root`, limited in depth and in forks per catalog."""
    # Keep only rows that can be shown: a catalog may have a million forks.
    shown: dict[CatalogId | None, list[CatalogRow]] = {}
    counts: Counter[CatalogId | None] = Counter()
    live: set[CatalogId] = set()
    for row in rows:
        live.add(row.catalog_id)
        counts[row.parent_catalog_id] += 1
        family = shown.setdefault(row.parent_catalog_id, [])
        if len(family) < limit:
            family.append(row)
    dropped = sorted(number for number in counts if number is not None and number not in live)

    tops: list[tuple[CatalogId, CatalogRow | None]]
    if root is not None:
        tops, total = [(root.catalog_id, root)], 1
    else:
        tops = [(row.catalog_id, row) for row in shown.get(None, [])]
        tops += [(number, None) for number in dropped]
        tops, total = tops[:limit], counts[None] + len(dropped)

    branches: list[TreeBranch] = []
    waiting = [(0, number, row) for number, row in reversed(tops)]
    while waiting:
        level, number, found = waiting.pop()
        family = shown.get(number, []) if level < depth else []
        forks = counts[number]
        branches.append(TreeBranch(level, number, found, forks, forks - len(family)))
        waiting += [(level + 1, row.catalog_id, row) for row in reversed(family)]
    return ForkTree(branches, total - len(tops))


def tree_document(tree: ForkTree) -> Document:
    """Return the tree as a flat list in preorder: nested JSON could exceed the depth of parsers."""
    return {
        "catalogs": [
            {
                "depth": branch.depth,
                "name": branch.row.catalog_name if branch.row else None,
                "catalog_id": branch.catalog_id,
                "parent_catalog_id": branch.row.parent_catalog_id if branch.row else None,
                "fork_snapshot": branch.row.fork_snapshot if branch.row else None,
                "forks": branch.forks,
                "hidden_forks": branch.hidden,
            }
            for branch in tree.branches
        ],
        "hidden_roots": tree.hidden,
    }


def draw_tree(tree: ForkTree) -> list[Tree]:
    """Draw the tree; return one drawing for each root."""
    from rich.text import Text
    from rich.tree import Tree

    roots: list[Tree] = []
    line: list[Tree] = []
    # The line for hidden forks comes last, so it is added when the visible forks are drawn.
    folds: list[int] = []

    def close(depth: int) -> None:
        while len(line) > depth:
            parent, hidden = line.pop(), folds.pop()
            if hidden:
                text = f"and {hidden:,} more" if parent.children else counted(hidden, "fork")
                parent.add(Text(f"… {text}", style="dim"))

    for branch in tree.branches:
        close(branch.depth)
        label = _branch_label(branch)
        if line:
            line.append(line[-1].add(label))
        else:
            roots.append(Tree(label, guide_style="dim"))
            line.append(roots[-1])
        folds.append(branch.hidden)
    close(0)
    if tree.hidden:
        roots.append(Tree(Text(f"… and {tree.hidden:,} more", style="dim")))
    return roots


def _branch_label(branch: TreeBranch) -> Text:
    from rich.text import Text

    if branch.row is None:
        return Text(f"(dropped, id {branch.catalog_id})", style="dim")
    label = Text(escape(branch.row.catalog_name))
    if branch.row.fork_snapshot is not None:
        label.append(f"  at snapshot {branch.row.fork_snapshot}", style="dim")
    return label

"""Generated shop of the demo: customers, orders and visits. The data is the same in every run."""

from __future__ import annotations

CATALOG = "shop"

# Pseudorandom numbers below n.
DICE = "CREATE MACRO dice(i, n) AS (i * 2654435761 + 12345) % 4294967291 % n"

CUSTOMERS = """
CREATE TABLE customers AS
SELECT i AS id,
       ['Ada', 'Ben', 'Chloe', 'Dev', 'Emma', 'Finn', 'Grace', 'Hugo'][1 + dice(i, 8)] AS name,
       ['US', 'US', 'US', 'IN', 'IN', 'DE', 'GB', 'JP'][1 + dice(i // 8, 8)] AS country,
       'customer' || i || '@example.com' AS email
FROM range({customers}) AS t(i)
"""

ORDERS = """
CREATE TABLE orders AS
SELECT i AS id,
       dice(i, {customers}) AS customer_id,
       DATE '2024-01-01' + CAST(i * 730 // {orders} AS INTEGER) AS ordered_on,
       ['paid', 'paid', 'paid', 'shipped', 'shipped', 'cancelled'][1 + dice(i + 3, 6)] AS status,
       CAST((100 + dice(i + 1, 50000)) * 0.01 AS DECIMAL(12, 2)) AS amount
FROM range({orders}) AS t(i)
"""

VISITS = """
CREATE TABLE visits AS
SELECT i AS id,
       dice(i + 5, {customers}) AS customer_id,
       ['/', '/search', '/cart', '/checkout'][1 + dice(i + 9, 4)] AS page,
       dice(i + 11, 20) = 0 AS is_robot
FROM range({visits}) AS t(i)
"""


def shop_statements(orders: int) -> list[str]:
    """Return the statements that create the shop with a number of orders."""
    counts = {"orders": orders, "customers": orders // 20, "visits": orders // 2}
    made = (DICE, CUSTOMERS, ORDERS, VISITS)
    return [made[0], *(text.format_map(counts) for text in made[1:])]


REVENUE = """
SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue
FROM orders o JOIN customers c ON o.customer_id = c.id
WHERE o.status <> 'cancelled' AND o.ordered_on >= DATE '2025-01-01'
GROUP BY ALL
ORDER BY revenue DESC
"""

_CONTENTS = """
SELECT '{0}' AS catalog, count(*) AS orders, sum(amount) AS revenue,
       (SELECT count(*) FROM {0}.customers) AS customers,
       (SELECT count(*) FROM {0}.visits) AS visits
FROM {0}.orders
"""


def build_contents_query(*catalogs: str) -> str:
    """Return a query for the row counts and the revenue of some catalogs."""
    return "UNION ALL".join(_CONTENTS.format(name) for name in catalogs)

"""Eight agents that work at the same time, each in its fork of the shop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from forklake.sql.session import Session


@dataclass(frozen=True, slots=True)
class Agent:
    """Agent with the name of its fork, its task in words, and the statements that perform it."""

    name: str
    task: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentRun:
    """Result of the statements of an agent: the number of changed rows, and start and end times."""

    agent: Agent
    changed: int
    began: float
    ended: float


AGENTS = (
    Agent(
        "cleaner",
        "deletes cancelled orders",
        ("DELETE FROM orders WHERE status = 'cancelled'",),
    ),
    Agent(
        "pricer",
        "discounts the last quarter by 10 %",
        ("UPDATE orders SET amount = amount * 0.9 WHERE ordered_on >= DATE '2025-10-01'",),
    ),
    Agent(
        "analyst",
        "adds up revenue by month",
        (
            """
            CREATE TABLE revenue AS
            SELECT date_trunc('month', ordered_on) AS month, sum(amount) AS revenue
            FROM orders GROUP BY ALL
            """,
            "CREATE VIEW best_months AS FROM revenue ORDER BY revenue DESC LIMIT 3",
        ),
    ),
    Agent(
        "importer",
        "imports more orders",
        (
            """
            INSERT INTO orders
            SELECT id + 1000000000, customer_id, ordered_on, 'paid', amount
            FROM orders WHERE id % 50 = 0
            """,
        ),
    ),
    Agent(
        "marketer",
        "flags big customers in a new column",
        (
            "ALTER TABLE customers ADD COLUMN segment VARCHAR DEFAULT 'regular'",
            """
            UPDATE customers SET segment = 'big'
            FROM (SELECT customer_id FROM orders GROUP BY ALL HAVING sum(amount) > 5500) AS big
            WHERE id = big.customer_id
            """,
        ),
    ),
    Agent(
        "privacy",
        "removes the e-mails of one country",
        ("UPDATE customers SET email = NULL WHERE country = 'DE'",),
    ),
    Agent(
        "intern",
        "empties a table by mistake",
        ("DELETE FROM visits WHERE is_robot", "TRUNCATE TABLE visits"),
    ),
    Agent(
        "merger",
        "merges a list of new addresses",
        (
            """
            MERGE INTO customers AS c
            USING (SELECT id - 100 AS id, 'new' || id || '@example.com' AS email
                   FROM customers WHERE id < 1000) AS n
            ON c.id = n.id
            WHEN MATCHED THEN UPDATE SET email = n.email
            WHEN NOT MATCHED THEN
              INSERT (id, name, country, email) VALUES (n.id, 'New', 'US', n.email)
            """,
        ),
    ),
)

OnStatement = Callable[[Agent, str, float], None]


def run_agents(
    session: Session, agents: Sequence[Agent], on_statement: OnStatement
) -> list[AgentRun]:
    """Run the statements of all agents at once, each agent with a thread and a session.

    The callback runs after every statement. The forks are attached under the names of the
    agents.
    """
    start = threading.Barrier(len(agents))

    def run_agent(agent: Agent) -> AgentRun:
        with session.cursor() as own:
            own.use(agent.name)
            start.wait()
            began = time.perf_counter()
            changed = sum(
                _run_statement(own, agent, text, on_statement) for text in agent.statements
            )
            return AgentRun(agent, changed, began, time.perf_counter())

    with ThreadPoolExecutor(len(agents)) as threads:
        return list(threads.map(run_agent, agents))


def _run_statement(session: Session, agent: Agent, text: str, on_statement: OnStatement) -> int:
    """Run a statement and return the number of rows that it changed."""
    began = time.perf_counter()
    rows = session.execute(text).arrow()
    on_statement(agent, text, time.perf_counter() - began)
    return int(rows["Count"][0].as_py()) if rows.column_names == ["Count"] else 0

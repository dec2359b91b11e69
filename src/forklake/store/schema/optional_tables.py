"""Tables that a metastore has only if they are used: access rules, automations and stamps."""

from __future__ import annotations

from forklake.store.schema.description import (
    Column,
    Index,
    Table,
    Type,
    number,
    text,
    time,
    truth,
)

PRINCIPAL = Table(
    "crucible_principal",
    "Identities that can be granted access. A root principal may do everything.",
    (
        number("principal_id"),
        Column("name", Type.TEXT, length=255, is_unique=True),
        text("account", 255),
        truth("is_root"),
        time("created_at"),
        time("disabled_at", is_nullable=True),
    ),
    key=("principal_id",),
)
KEY = Table(
    "crucible_key",
    "API keys of principals. Of the secret, 256 random bits, only the SHA-256 is stored.",
    (
        text("key_id", 255),
        number("principal_id"),
        text("secret_hash", 255),
        time("created_at"),
        time("revoked_at", is_nullable=True),
    ),
    key=("key_id",),
    indexes=(Index("crucible_key_principal", ("principal_id",)),),
)
SIGNING_KEY = Table(
    "crucible_signing_key",
    (
        "Keys that sign tokens: the newest one signs, those not retired are valid. A secret is "
        "two words separated by a space: the key with which services sign, wrapped by the key-"
        "encryption key if there is one, and the key with which PostgreSQL verifies tokens of "
        "tenants, which cannot forge tokens for services."
    ),
    (
        text("kid", 255),
        text("secret", 255),
        time("created_at"),
        time("retired_at", is_nullable=True),
    ),
    key=("kid",),
)
GRANT = Table(
    "crucible_grant",
    "Roles on catalogs, and on all current and future catalogs whose names begin with a prefix.",
    (
        number("principal_id"),
        number("catalog_id"),
        text("role", 255),
        time("expires_at", is_nullable=True),
    ),
    key=("principal_id", "catalog_id"),
    indexes=(Index("crucible_grant_catalog", ("catalog_id",)),),
)
PREFIX_GRANT = Table(
    "crucible_prefix_grant",
    "",
    (
        number("principal_id"),
        text("prefix", 255),
        text("role", 255),
        time("expires_at", is_nullable=True),
    ),
    key=("principal_id", "prefix"),
)
QUOTA = Table(
    "crucible_quota",
    (
        "Limits of principals: number of catalogs that they own, bytes of each catalog that they "
        "create, number of open sessions. The limit of a single catalog is an option in "
        "ducklake_metadata (scope 'quota')."
    ),
    (
        number("principal_id"),
        number("catalogs", is_nullable=True),
        number("bytes", is_nullable=True),
        number("sessions", is_nullable=True),
    ),
    key=("principal_id",),
)
AUDIT = Table(
    "crucible_audit",
    (
        "Audit of operations that were done, denied or failed. Ids are digits that sort by time. "
        "Names are stored as they were at the time, because principals and catalogs can be "
        "deleted."
    ),
    (
        text("audit_id", 255),
        time("happened_at"),
        number("principal_id"),
        text("principal", 255),
        text("operation", 255),
        Column("object", Type.LONG_TEXT),
        number("catalog_id", is_nullable=True),
        text("outcome", 255),
    ),
    key=("audit_id",),
    indexes=(Index("crucible_audit_catalog", ("catalog_id", "audit_id")),),
)
ACCESS = (
    PRINCIPAL,
    KEY,
    SIGNING_KEY,
    GRANT,
    PREFIX_GRANT,
    QUOTA,
    AUDIT,
)

AUTOMATION = Table(
    "reagent_automation",
    (
        "What runs, and when. Either workbook_path or workbook_text is set, and either schedule "
        "(with its time zone) or table_name (with its catalog and schema). next_due_at and "
        "seen_snapshot record up to where due occasions have been found. revision increases with "
        "every change, so that of several runners that find the same occasions only one records "
        "them."
    ),
    (
        number("automation_id"),
        Column("name", Type.TEXT, length=255, is_unique=True),
        number("catalog_id"),
        Column("workbook_path", Type.LONG_TEXT, is_nullable=True),
        Column("workbook_text", Type.LONG_TEXT, is_nullable=True),
        Column("parameters", Type.LONG_TEXT),
        text("isolation", 255, is_nullable=True),
        text("schedule", 255, is_nullable=True),
        text("time_zone", 255, is_nullable=True),
        number("table_catalog_id", is_nullable=True),
        text("schema_name", 255, is_nullable=True),
        text("table_name", 255, is_nullable=True),
        text("overlap", 255),
        text("catch_up", 255),
        truth("is_enabled"),
        time("created_at"),
        time("next_due_at", is_nullable=True),
        number("seen_snapshot", is_nullable=True),
        number("revision"),
    ),
    key=("automation_id",),
)
FIRING = Table(
    "reagent_firing",
    (
        "Occasions on which an automation is due, each once: `occasion` is the time or the "
        "snapshot. The runner that has claimed a firing until leased_until is identified by owner "
        "and number of tries. result_snapshot is the snapshot that the run committed. ended_at is "
        "NULL while it waits or runs."
    ),
    (
        number("automation_id"),
        text("occasion", 255),
        time("due_at"),
        number("snapshot_id", is_nullable=True),
        text("state", 255),
        number("tries"),
        text("owner", 255, is_nullable=True),
        time("leased_until", is_nullable=True),
        time("started_at", is_nullable=True),
        time("ended_at", is_nullable=True),
        number("result_snapshot", is_nullable=True),
        Column("message", Type.LONG_TEXT, is_nullable=True),
    ),
    key=("automation_id", "occasion"),
    indexes=(Index("reagent_firing_ended", ("ended_at",)),),
)
AUTOMATIONS = (
    AUTOMATION,
    FIRING,
)

STAMP = Table(
    "crucible_stamp",
    (
        "The home metastore lists all stamps, every other one only itself. All ids of a stamp "
        "have the remainder `number` when divided by 64: no two stamps ever allocate the same id."
    ),
    (
        text("name", 255),
        Column("number", Type.NUMBER, is_unique=True),
    ),
    key=("name",),
)
ACCOUNT = Table(
    "crucible_account",
    (
        "Stamps of accounts, in the home metastore. Accounts without a row are in the home "
        "metastore itself. While an account is moving, its writes are blocked and `other_stamp` "
        "is the target. After the move it is the previous stamp, where rows of the account are "
        "still to be deleted."
    ),
    (
        text("name", 255),
        text("stamp", 255),
        text("state", 255),
        text("other_stamp", 255, is_nullable=True),
    ),
    key=("name",),
)
STAMPS = (
    STAMP,
    ACCOUNT,
)

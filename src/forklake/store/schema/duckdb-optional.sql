-- Generated from src/forklake/store/schema by `make schema`: do not edit.
--
-- Tables that a metastore has only if they are used. Each group is created when it is first needed:
-- access rules with `forklake access init`, automations with the first automation, stamps when a
-- service is configured with them.

-- Identities that can be granted access. A root principal may do everything.
CREATE TABLE crucible_principal (
    principal_id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL UNIQUE,
    account VARCHAR NOT NULL,
    is_root BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ
);

-- API keys of principals. Of the secret, 256 random bits, only the SHA-256 is stored.
CREATE TABLE crucible_key (
    key_id VARCHAR PRIMARY KEY,
    principal_id BIGINT NOT NULL,
    secret_hash VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX crucible_key_principal ON crucible_key (principal_id);

-- Keys that sign tokens: the newest one signs, those not retired are valid. A secret is two words
-- separated by a space: the key with which services sign, wrapped by the key-encryption key if
-- there is one, and the key with which PostgreSQL verifies tokens of tenants, which cannot forge
-- tokens for services.
CREATE TABLE crucible_signing_key (
    kid VARCHAR PRIMARY KEY,
    secret VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    retired_at TIMESTAMPTZ
);

-- Roles on catalogs, and on all current and future catalogs whose names begin with a prefix.
CREATE TABLE crucible_grant (
    principal_id BIGINT NOT NULL,
    catalog_id BIGINT NOT NULL,
    role VARCHAR NOT NULL,
    expires_at TIMESTAMPTZ,
    PRIMARY KEY (principal_id, catalog_id)
);
CREATE INDEX crucible_grant_catalog ON crucible_grant (catalog_id);

CREATE TABLE crucible_prefix_grant (
    principal_id BIGINT NOT NULL,
    prefix VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    expires_at TIMESTAMPTZ,
    PRIMARY KEY (principal_id, prefix)
);

-- Limits of principals: number of catalogs that they own, bytes of each catalog that they create,
-- number of open sessions. The limit of a single catalog is an option in ducklake_metadata (scope
-- 'quota').
CREATE TABLE crucible_quota (
    principal_id BIGINT PRIMARY KEY,
    catalogs BIGINT,
    bytes BIGINT,
    sessions BIGINT
);

-- Audit of operations that were done, denied or failed. Ids are digits that sort by time. Names are
-- stored as they were at the time, because principals and catalogs can be deleted.
CREATE TABLE crucible_audit (
    audit_id VARCHAR PRIMARY KEY,
    happened_at TIMESTAMPTZ NOT NULL,
    principal_id BIGINT NOT NULL,
    principal VARCHAR NOT NULL,
    operation VARCHAR NOT NULL,
    object TEXT NOT NULL,
    catalog_id BIGINT,
    outcome VARCHAR NOT NULL
);
CREATE INDEX crucible_audit_catalog ON crucible_audit (catalog_id, audit_id);

-- What runs, and when. Either workbook_path or workbook_text is set, and either schedule (with its
-- time zone) or table_name (with its catalog and schema). next_due_at and seen_snapshot record up
-- to where due occasions have been found. revision increases with every change, so that of several
-- runners that find the same occasions only one records them.
CREATE TABLE reagent_automation (
    automation_id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL UNIQUE,
    catalog_id BIGINT NOT NULL,
    workbook_path TEXT,
    workbook_text TEXT,
    parameters TEXT NOT NULL,
    isolation VARCHAR,
    schedule VARCHAR,
    time_zone VARCHAR,
    table_catalog_id BIGINT,
    schema_name VARCHAR,
    table_name VARCHAR,
    overlap VARCHAR NOT NULL,
    catch_up VARCHAR NOT NULL,
    is_enabled BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    next_due_at TIMESTAMPTZ,
    seen_snapshot BIGINT,
    revision BIGINT NOT NULL
);

-- Occasions on which an automation is due, each once: `occasion` is the time or the snapshot. The
-- runner that has claimed a firing until leased_until is identified by owner and number of tries.
-- result_snapshot is the snapshot that the run committed. ended_at is NULL while it waits or runs.
CREATE TABLE reagent_firing (
    automation_id BIGINT NOT NULL,
    occasion VARCHAR NOT NULL,
    due_at TIMESTAMPTZ NOT NULL,
    snapshot_id BIGINT,
    state VARCHAR NOT NULL,
    tries BIGINT NOT NULL,
    owner VARCHAR,
    leased_until TIMESTAMPTZ,
    started_at TIMESTAMPTZ,
    ended_at TIMESTAMPTZ,
    result_snapshot BIGINT,
    message TEXT,
    PRIMARY KEY (automation_id, occasion)
);
CREATE INDEX reagent_firing_ended ON reagent_firing (ended_at);

-- The home metastore lists all stamps, every other one only itself. All ids of a stamp have the
-- remainder `number` when divided by 64: no two stamps ever allocate the same id.
CREATE TABLE crucible_stamp (
    name VARCHAR PRIMARY KEY,
    number BIGINT NOT NULL UNIQUE
);

-- Stamps of accounts, in the home metastore. Accounts without a row are in the home metastore
-- itself. While an account is moving, its writes are blocked and `other_stamp` is the target. After
-- the move it is the previous stamp, where rows of the account are still to be deleted.
CREATE TABLE crucible_account (
    name VARCHAR PRIMARY KEY,
    stamp VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    other_stamp VARCHAR
);

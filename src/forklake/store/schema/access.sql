-- Access rules: permissions of principals. Optional, the same text for every database.
--
-- Load it with `forklake access init`, which keeps existing tables.

-- Identities that can be granted access. A root principal may do everything.
CREATE TABLE IF NOT EXISTS crucible_principal (
    principal_id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL UNIQUE,
    account VARCHAR NOT NULL,
    is_root BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ
);

-- API keys of principals. Of the secret, 256 random bits, only the SHA-256 is stored.
CREATE TABLE IF NOT EXISTS crucible_key (
    key_id VARCHAR PRIMARY KEY,
    principal_id BIGINT NOT NULL,
    secret_hash VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS crucible_key_principal ON crucible_key (principal_id);

-- Keys that sign tokens: the newest one signs, those not retired are valid. A secret is two words
-- separated by a space: the key with which services sign, wrapped by the key-encryption key if
-- there is one, and the key with which PostgreSQL verifies tokens of tenants, which cannot forge
-- tokens for services.
CREATE TABLE IF NOT EXISTS crucible_signing_key (
    kid VARCHAR PRIMARY KEY,
    secret VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    retired_at TIMESTAMPTZ
);

-- Roles on catalogs, and on all current and future catalogs whose names begin with a prefix.
CREATE TABLE IF NOT EXISTS crucible_grant (
    principal_id BIGINT NOT NULL,
    catalog_id BIGINT NOT NULL,
    role VARCHAR NOT NULL,
    expires_at TIMESTAMPTZ,
    PRIMARY KEY (principal_id, catalog_id)
);
CREATE INDEX IF NOT EXISTS crucible_grant_catalog ON crucible_grant (catalog_id);

CREATE TABLE IF NOT EXISTS crucible_prefix_grant (
    principal_id BIGINT NOT NULL,
    prefix VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    expires_at TIMESTAMPTZ,
    PRIMARY KEY (principal_id, prefix)
);

-- Limits of principals: number of catalogs that they own, bytes of each catalog that they create,
-- number of open sessions. The limit of a single catalog is an option in ducklake_metadata (scope
-- 'quota').
CREATE TABLE IF NOT EXISTS crucible_quota (
    principal_id BIGINT PRIMARY KEY,
    catalogs BIGINT,
    bytes BIGINT,
    sessions BIGINT
);

-- Audit of operations that were done, denied or failed. Ids are digits that sort by time. Names are
-- stored as they were at the time, because principals and catalogs can be deleted.
CREATE TABLE IF NOT EXISTS crucible_audit (
    audit_id VARCHAR PRIMARY KEY,
    happened_at TIMESTAMPTZ NOT NULL,
    principal_id BIGINT NOT NULL,
    principal VARCHAR NOT NULL,
    operation VARCHAR NOT NULL,
    object TEXT NOT NULL,
    catalog_id BIGINT,
    outcome VARCHAR NOT NULL
);
CREATE INDEX IF NOT EXISTS crucible_audit_catalog ON crucible_audit (catalog_id, audit_id);

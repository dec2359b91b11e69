-- Access rules: who may do what. Optional, the same text for every database.
--
-- Load it with `forklake access init`, which keeps tables that are there.

-- Those who may ask for something. A root may do everything.
CREATE TABLE IF NOT EXISTS crucible_principal (
    principal_id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL UNIQUE,
    account VARCHAR NOT NULL,
    is_root BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ
);

-- Keys that principals show. Of the secret, 256 random bits, only the SHA-256 is kept.
CREATE TABLE IF NOT EXISTS crucible_key (
    key_id VARCHAR PRIMARY KEY,
    principal_id BIGINT NOT NULL,
    secret_hash VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS crucible_key_principal ON crucible_key (principal_id);

-- Keys with which tokens are signed: the newest signs, those not retired are good. A secret is two
-- words: what services sign with, wrapped by the key-encryption key where there is one; and what
-- PostgreSQL verifies tokens of tenants with, which forges none for services.
CREATE TABLE IF NOT EXISTS crucible_signing_key (
    kid VARCHAR PRIMARY KEY,
    secret VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    retired_at TIMESTAMPTZ
);

-- Roles on catalogs, and on all catalogs whose names begin with a prefix, those to come too.
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

-- Limits of principals: how many catalogs they own, how many bytes each catalog that they make may
-- hold, how many sessions they have open. The limit of a catalog is a setting, in
-- ducklake_metadata (scope 'quota').
CREATE TABLE IF NOT EXISTS crucible_quota (
    principal_id BIGINT PRIMARY KEY,
    catalogs BIGINT,
    bytes BIGINT,
    sessions BIGINT
);

-- What was done, denied or failed. Ids are digits in the order of time; names are kept as they
-- were, because principals and catalogs go.
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

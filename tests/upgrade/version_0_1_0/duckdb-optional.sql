CREATE TABLE IF NOT EXISTS crucible_principal (
    principal_id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL UNIQUE,
    account VARCHAR NOT NULL,
    is_root BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ
);

CREATE TABLE IF NOT EXISTS crucible_key (
    key_id VARCHAR PRIMARY KEY,
    principal_id BIGINT NOT NULL,
    secret_hash VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS crucible_key_principal ON crucible_key (principal_id);

CREATE TABLE IF NOT EXISTS crucible_signing_key (
    kid VARCHAR PRIMARY KEY,
    secret VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    retired_at TIMESTAMPTZ
);

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

CREATE TABLE IF NOT EXISTS crucible_quota (
    principal_id BIGINT PRIMARY KEY,
    catalogs BIGINT,
    bytes BIGINT,
    sessions BIGINT
);

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

CREATE TABLE IF NOT EXISTS reagent_automation (
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

CREATE TABLE IF NOT EXISTS reagent_firing (
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
CREATE INDEX IF NOT EXISTS reagent_firing_ended ON reagent_firing (ended_at);

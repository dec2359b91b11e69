CREATE TABLE IF NOT EXISTS crucible_principal (
    principal_id BIGINT PRIMARY KEY,
    name VARCHAR(255) NOT NULL UNIQUE,
    account VARCHAR(255) NOT NULL,
    is_root BOOLEAN NOT NULL,
    created_at DATETIME(6) NOT NULL,
    disabled_at DATETIME(6)
);
CREATE TABLE IF NOT EXISTS crucible_key (
    key_id VARCHAR(255) PRIMARY KEY,
    principal_id BIGINT NOT NULL,
    secret_hash VARCHAR(255) NOT NULL,
    created_at DATETIME(6) NOT NULL,
    revoked_at DATETIME(6)
);
CREATE INDEX crucible_key_principal ON crucible_key (principal_id);
CREATE TABLE IF NOT EXISTS crucible_signing_key (
    kid VARCHAR(255) PRIMARY KEY,
    secret VARCHAR(255) NOT NULL,
    created_at DATETIME(6) NOT NULL,
    retired_at DATETIME(6)
);
CREATE TABLE IF NOT EXISTS crucible_grant (
    principal_id BIGINT NOT NULL,
    catalog_id BIGINT NOT NULL,
    role VARCHAR(255) NOT NULL,
    expires_at DATETIME(6),
    PRIMARY KEY (principal_id, catalog_id)
);
CREATE INDEX crucible_grant_catalog ON crucible_grant (catalog_id);
CREATE TABLE IF NOT EXISTS crucible_prefix_grant (
    principal_id BIGINT NOT NULL,
    prefix VARCHAR(255) NOT NULL,
    role VARCHAR(255) NOT NULL,
    expires_at DATETIME(6),
    PRIMARY KEY (principal_id, prefix)
);
CREATE TABLE IF NOT EXISTS crucible_quota (
    principal_id BIGINT PRIMARY KEY,
    catalogs BIGINT,
    bytes BIGINT,
    sessions BIGINT
);
CREATE TABLE IF NOT EXISTS crucible_audit (
    audit_id VARCHAR(255) PRIMARY KEY,
    happened_at DATETIME(6) NOT NULL,
    principal_id BIGINT NOT NULL,
    principal VARCHAR(255) NOT NULL,
    operation VARCHAR(255) NOT NULL,
    object LONGTEXT NOT NULL,
    catalog_id BIGINT,
    outcome VARCHAR(255) NOT NULL
);
CREATE INDEX crucible_audit_catalog ON crucible_audit (catalog_id, audit_id);
CREATE TABLE IF NOT EXISTS reagent_automation (
    automation_id BIGINT PRIMARY KEY,
    name VARCHAR(255) NOT NULL UNIQUE,
    catalog_id BIGINT NOT NULL,
    workbook_path LONGTEXT,
    workbook_text LONGTEXT,
    parameters LONGTEXT NOT NULL,
    isolation VARCHAR(255),
    schedule VARCHAR(255),
    time_zone VARCHAR(255),
    table_catalog_id BIGINT,
    schema_name VARCHAR(255),
    table_name VARCHAR(255),
    overlap VARCHAR(255) NOT NULL,
    catch_up VARCHAR(255) NOT NULL,
    is_enabled BOOLEAN NOT NULL,
    created_at DATETIME(6) NOT NULL,
    next_due_at DATETIME(6),
    seen_snapshot BIGINT,
    revision BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS reagent_firing (
    automation_id BIGINT NOT NULL,
    occasion VARCHAR(255) NOT NULL,
    due_at DATETIME(6) NOT NULL,
    snapshot_id BIGINT,
    state VARCHAR(255) NOT NULL,
    tries BIGINT NOT NULL,
    owner VARCHAR(255),
    leased_until DATETIME(6),
    started_at DATETIME(6),
    ended_at DATETIME(6),
    result_snapshot BIGINT,
    message LONGTEXT,
    PRIMARY KEY (automation_id, occasion)
);
CREATE INDEX reagent_firing_ended ON reagent_firing (ended_at);

-- Automations: workbooks that run by a schedule, or when a table changes. Optional, the same text
-- for every database. Loaded with the first automation.

-- What runs, and when. Either workbook_path or workbook_text is set, and either schedule (with its
-- time zone) or table_name (with its catalog and schema). next_due_at and seen_snapshot record up
-- to where due occasions have been found. revision increases with every change, so that of several
-- runners that find the same occasions only one records them.
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

-- Occasions on which an automation is due, each once: `occasion` is the time or the snapshot. The
-- runner that has claimed a firing until leased_until is identified by owner and number of tries.
-- result_snapshot is the snapshot that the run committed. ended_at is NULL while it waits or runs.
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

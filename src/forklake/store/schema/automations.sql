-- Automations: workbooks that run by the clock, or when a table changes. Optional, the same text for
-- every database; loaded with the first automation.

-- What runs, and when. Of workbook_path and workbook_text one is given; of schedule (with its time
-- zone) and table_name (with its catalog and schema) too. next_due_at and seen_snapshot say up to
-- where it is known what is due; revision goes up with every change, so that of many who find out
-- at once only one writes down what is due.
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

-- Each time that an automation is due, once: the occasion is the moment, or the snapshot, of which
-- there is one. Whoever runs it holds it until leased_until, and is known by owner and number of
-- tries; result_snapshot is what the run came to. ended_at is NULL while it waits or runs.
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

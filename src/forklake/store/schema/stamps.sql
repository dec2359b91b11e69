-- Stamps: several metastores that one service spreads its accounts over. Optional, the same text
-- for every database; loaded when a service is given stamps.

-- The home metastore knows all stamps, every stamp itself. The number is what a stamp's ids leave
-- when they are divided by 64: no two stamps ever give the same id.
CREATE TABLE IF NOT EXISTS crucible_stamp (
    name VARCHAR PRIMARY KEY,
    number BIGINT NOT NULL UNIQUE
);

-- Where accounts live, in the home metastore; those that are not here live there. An account that
-- moves is frozen and `other_stamp` is where it goes; of one that moved it is where it was, and
-- where rows of it are still to be removed.
CREATE TABLE IF NOT EXISTS crucible_account (
    name VARCHAR PRIMARY KEY,
    stamp VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    other_stamp VARCHAR
);

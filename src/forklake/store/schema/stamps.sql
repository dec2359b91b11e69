-- Stamps: several metastores over which one service distributes its accounts. Optional, the same
-- text for every database. Loaded when a service is configured with stamps.

-- The home metastore lists all stamps, every other one only itself. All ids of a stamp have the
-- remainder `number` when divided by 64: no two stamps ever allocate the same id.
CREATE TABLE IF NOT EXISTS crucible_stamp (
    name VARCHAR PRIMARY KEY,
    number BIGINT NOT NULL UNIQUE
);

-- Stamps of accounts, in the home metastore. Accounts without a row are in the home metastore
-- itself. While an account is moving, its writes are blocked and `other_stamp` is the target. After
-- the move it is the previous stamp, where rows of the account are still to be deleted.
CREATE TABLE IF NOT EXISTS crucible_account (
    name VARCHAR PRIMARY KEY,
    stamp VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    other_stamp VARCHAR
);

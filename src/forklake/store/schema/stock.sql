-- Views for stock DuckDB: a catalog in the format that the DuckLake extension expects.
--
-- Load it with `forklake expose`, which fills in the schema of the views, the schema and the owner
-- of the metastore, and adds the views. A client chooses its catalog when it connects:
--   options='-c forklake.catalog=NAME'     if it may read the metastore anyway
--   options='-c forklake.token=fl2.…'      if it is a tenant

CREATE SCHEMA {stock} AUTHORIZATION {owner};
SET LOCAL ROLE {owner};
COMMENT ON SCHEMA {stock} IS 'Forklake: catalogs as stock DuckDB reads them';

-- Return the catalog of the connection. Raise an error if it does not name one that it may read.
CREATE FUNCTION {stock}.catalog_id() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    name text := nullif(current_setting('forklake.catalog', true), '');
    found bigint;
BEGIN
    IF coalesce(current_setting('forklake.token', true), '') <> '' THEN
        RETURN {tenant}.catalog_id();
    END IF;
    IF name IS NULL THEN
        RAISE EXCEPTION 'This connection does not name a catalog.' USING HINT =
            'Add to the connection string: options=''-c forklake.catalog=NAME''';
    END IF;
    -- session_user is the role that logged in. current_user would be the owner of the function.
    IF has_table_privilege(session_user, 'ducklake_catalog', 'SELECT') THEN
        SELECT c.catalog_id INTO found FROM ducklake_catalog c
        WHERE c.catalog_name = name AND c.end_snapshot IS NULL;
    END IF;
    IF found IS NULL THEN
        RAISE EXCEPTION 'There is no catalog % that this role may read by name.', quote_literal(name)
            USING HINT = 'Check the name; tenants connect with a token.';
    END IF;
    RETURN found;
END
$$;

-- Return a value that a client requires. Raise an error with the text `problem` if it is NULL.
CREATE FUNCTION {stock}.required(value text, problem text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF value IS NULL THEN
        RAISE EXCEPTION '%', problem;
    END IF;
    RETURN value;
END
$$;

-- Return the validity ranges of inlined rows, [begin_snapshot, end_snapshot), and their number.
CREATE FUNCTION {stock}.rows_in_metastore() RETURNS TABLE (
    table_id bigint, begin_snapshot bigint, end_snapshot bigint, record_count bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    name text;
BEGIN
    FOR name IN <inlined tables> LOOP
        RETURN QUERY EXECUTE format($text$<inlined rows>$text$, name);
    END LOOP;
END
$$;

-- Create the view in which a client looks for inlined deletes of a table. Each table has its own
-- view, created when the table first has such deletes.
CREATE FUNCTION {stock}.show_deletes(wanted bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    name constant text := 'ducklake_inlined_delete_' || wanted;
    here constant oid := quote_ident({stock_text})::regnamespace;
BEGIN
    IF EXISTS (SELECT 1 FROM pg_class WHERE relname = name AND relnamespace = here) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(here::bigint);  -- concurrent CREATE OR REPLACE VIEW would fail
    EXECUTE format('CREATE OR REPLACE VIEW %I.%I WITH (security_barrier) AS SELECT file_id, row_id,'
        ' begin_snapshot FROM %1$I.deleted_positions WHERE table_id = %3$s', {stock_text}, name, wanted);
END
$$;
CREATE FUNCTION {stock}.note_deletes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM {stock}.show_deletes(n.table_id) FROM (SELECT DISTINCT table_id FROM noted) n;
    RETURN NULL;
END
$$;

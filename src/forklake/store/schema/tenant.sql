-- The database itself isolates: a tenant that talks SQL to PostgreSQL sees one catalog, that of its
-- token, and cannot change anything.
--
-- Load it with `forklake access tenants`, which fills in the schema of the views, the schema and the
-- owner of the metastore, and adds one view for each table. A tenant connects with
--   options='-c forklake.token=fl1.…'

-- All of it belongs to the owner of the metastore, also where a superuser loads it.
CREATE SCHEMA {tenant} AUTHORIZATION {owner};
SET LOCAL ROLE {owner};
COMMENT ON SCHEMA {tenant} IS 'Forklake: what the token of a connection may see';

-- HMAC-SHA-256 (RFC 2104) of a text. A bit string knows exclusive or; sending it gives its bytes
-- after four that tell its length.
CREATE FUNCTION {tenant}.signature(message text, secret bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog AS $$
    SELECT rtrim(translate(encode(sha256(
        substring(bit_send(k.bits # ('x' || repeat('5c', 64))::bit(512)) FROM 5) || sha256(
            substring(bit_send(k.bits # ('x' || repeat('36', 64))::bit(512)) FROM 5)
            || convert_to(message, 'UTF8')
        )
    ), 'base64'), '+/', '-_'), '=')
    FROM (SELECT ('x' || rpad(encode(secret, 'hex'), 128, '0'))::bit(512) AS bits) k
$$;

-- Whether a principal may read a catalog and every live catalog that it comes from: each role
-- allows to read. Principals that are kept in another metastore have their grants here all the same.
CREATE FUNCTION {tenant}.may_read(principal bigint, catalog bigint) RETURNS boolean
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, {store}, pg_temp AS $$
    WITH RECURSIVE chain(catalog_id, parent_id) AS (
        SELECT c.catalog_id, c.parent_catalog_id FROM ducklake_catalog c
        WHERE c.catalog_id = catalog
        UNION
        SELECT p.catalog_id, p.parent_catalog_id
        FROM chain JOIN ducklake_catalog p ON p.catalog_id = chain.parent_id
    ), known AS (
        SELECT is_root, disabled_at FROM crucible_principal WHERE principal_id = principal
    )
    SELECT EXISTS (SELECT 1 FROM ducklake_catalog_head h WHERE h.catalog_id = catalog)
        AND NOT EXISTS (SELECT 1 FROM known WHERE disabled_at IS NOT NULL)
        AND (EXISTS (SELECT 1 FROM known WHERE is_root) OR NOT EXISTS (
            SELECT 1 FROM chain
            JOIN ducklake_catalog c ON c.catalog_id = chain.catalog_id AND c.end_snapshot IS NULL
            WHERE NOT EXISTS (
                SELECT 1 FROM crucible_grant g
                WHERE g.principal_id = principal AND g.catalog_id = c.catalog_id
                    AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())
            ) AND NOT EXISTS (
                SELECT 1 FROM crucible_prefix_grant g
                WHERE g.principal_id = principal AND starts_with(c.catalog_name, g.prefix)
                    AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())
            )
        ))
$$;

-- The catalog of the connection's token; an error, the same one whatever is wrong with it, if there
-- is no token, or it is forged, too old, signed with a key that is retired, or no longer granted.
CREATE FUNCTION {tenant}.catalog_id() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    token text := coalesce(current_setting('forklake.token', true), '');
    part text[] := string_to_array(token, '.');
    number constant text := '(0|[1-9][0-9]{{0,17}})';
    key text;
BEGIN
    IF token ~ ('^fl1\.' || number || '\.' || number || '\.rf?w?a?o?\.' || number
            || '\.[0-9]{{6}}\.[A-Za-z0-9_-]{{43}}$') THEN
        SELECT secret INTO key FROM crucible_signing_key
        WHERE kid = part[6] AND retired_at IS NULL AND secret <> '';
        -- Their hashes are compared: the time that it takes tells nothing.
        IF sha256({tenant}.signature(array_to_string(part[1:6], '.'), decode(key, 'hex'))::bytea)
                = sha256(part[7]::bytea)
            AND to_timestamp(part[5]::bigint) > clock_timestamp()
            AND {tenant}.may_read(part[2]::bigint, part[3]::bigint)
        THEN
            RETURN part[3]::bigint;
        END IF;
    END IF;
    RAISE EXCEPTION 'The token of this connection is not good.'
        USING ERRCODE = 'invalid_authorization_specification', HINT = 'Connect with a valid one.';
END
$$;

-- Isolation of tenants by the database: a tenant that connects to PostgreSQL sees one catalog, that
-- of its token, and cannot change anything.
--
-- Load it with `forklake access tenants`, which fills in the schema of the views, the schema and
-- the owner of the metastore, and adds one view for each table. A tenant connects with
--   options='-c forklake.token=fl2.…'

-- All objects belong to the owner of the metastore, even if a superuser loads this file.
CREATE SCHEMA {tenant} AUTHORIZATION {owner};
SET LOCAL ROLE {owner};
COMMENT ON SCHEMA {tenant} IS 'Forklake: what the token of a connection may see';

-- HMAC-SHA-256 (RFC 2104) of a text. Bit strings are used because they have an exclusive or. Their
-- binary form (bit_send) is 4 bytes of length, then the bytes.
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

-- Return whether a principal may read a catalog and all its live ancestors. Every role includes
-- reading. Principals of another metastore (a stamp's home) have their grants in this one.
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

-- Raise an error unless the role of the connection has the limits of tenants. This must be checked
-- at run time: in PostgreSQL, members of a role inherit neither its settings nor its connection
-- limit, and each role may change its own settings. The owner of the metastore has no limits.
CREATE FUNCTION {tenant}.require_limits() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $$
DECLARE
    problem text := CASE
        WHEN pg_has_role(session_user, {owner_text}, 'MEMBER') THEN NULL
        WHEN current_setting('statement_timeout')::interval
            NOT BETWEEN interval '1 ms' AND {most_statement}::interval
            THEN 'statement_timeout = ' || quote_literal({most_statement})
        WHEN current_setting('idle_in_transaction_session_timeout')::interval
            NOT BETWEEN interval '1 ms' AND {most_idle}::interval
            THEN 'idle_in_transaction_session_timeout = ' || quote_literal({most_idle})
        WHEN (SELECT rolconnlimit FROM pg_roles WHERE rolname = session_user)
            NOT BETWEEN 0 AND {most_connections} THEN 'CONNECTION LIMIT ' || {most_connections}
        END;
BEGIN
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'The role % exceeds the limits of tenants: it needs %.',
            quote_ident(session_user), problem
            USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'Set the limits of all tenants with: forklake access tenants.';
    END IF;
END
$$;

-- Return the catalog of the connection's token. Raise the same error for every reason, so that it
-- reveals nothing: the token is missing, forged, expired, valid for too long, signed with a retired
-- key, or its role is no longer granted.
CREATE FUNCTION {tenant}.catalog_id() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, {store}, pg_temp AS $$
DECLARE
    token text := coalesce(current_setting('forklake.token', true), '');
    part text[] := string_to_array(token, '.');
    number constant text := '(0|[1-9][0-9]{{0,17}})';
    now constant numeric := extract(epoch FROM clock_timestamp());
    key text;
BEGIN
    PERFORM {tenant}.require_limits();
    IF token ~ ('^fl2\.' || number || '\.' || number || '\.rf?w?a?o?\.' || number
            || '\.[0-9]{{6}}\.[A-Za-z0-9_-]{{43}}\.[A-Za-z0-9_-]{{43}}$') THEN
        -- The word after the space is a key that only verifies tokens in this function.
        SELECT nullif(split_part(secret, ' ', 2), '') INTO key FROM crucible_signing_key
        WHERE kid = part[6] AND retired_at IS NULL;
        -- Hashes are compared, so that the duration reveals nothing about the signature.
        IF sha256({tenant}.signature(array_to_string(part[1:6], '.'), decode(key, 'hex'))::bytea)
                = sha256(part[7]::bytea)
            AND part[5]::numeric > now AND part[5]::numeric <= now + {longest_token}
            AND {tenant}.may_read(part[2]::bigint, part[3]::bigint)
        THEN
            RETURN part[3]::bigint;
        END IF;
    END IF;
    RAISE EXCEPTION 'Invalid token for this connection.'
        USING ERRCODE = 'invalid_authorization_specification', HINT = 'Connect with a valid one.';
END
$$;

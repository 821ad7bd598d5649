-- Schemas.
SELECT current_database() AS catalog_name, nspname AS schema_name, pg_catalog.pg_get_userbyid(nspowner) AS schema_owner,
       NULL::name AS default_character_set_catalog, NULL::name AS default_character_set_schema, NULL::name AS default_character_set_name, NULL::varchar AS sql_path
FROM pg_catalog.pg_namespace

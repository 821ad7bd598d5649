-- The one encoding.
SELECT NULL::name AS character_set_catalog, NULL::name AS character_set_schema, 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS form_of_use,
       current_database() AS default_collate_catalog, 'pg_catalog' AS default_collate_schema, 'C' AS default_collate_name

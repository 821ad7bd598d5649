-- The database.
SELECT current_database() AS catalog_name

-- Domains, each described as what it is made over (bt).
SELECT current_database() AS domain_catalog, nt.nspname AS domain_schema, t.typname AS domain_name,
       CASE WHEN bt.typelem <> 0 AND bt.typlen = -1 THEN 'ARRAY' WHEN nbt.nspname = 'pg_catalog' THEN pg_catalog.format_type(t.typbasetype, NULL) ELSE 'USER-DEFINED' END
           AS data_type,
       CASE WHEN bt.oid IN (1042, 1043) AND t.typtypmod <> -1 THEN t.typtypmod - 4 END AS character_maximum_length,
       CASE WHEN bt.oid IN (25, 1042, 1043) THEN CASE WHEN t.typtypmod = -1 THEN 1073741824 ELSE (t.typtypmod - 4) * 4 END END AS character_octet_length,
       NULL::name AS character_set_catalog, NULL::name AS character_set_schema, NULL::name AS character_set_name,
       CASE WHEN co.oid IS NOT NULL THEN current_database() END AS collation_catalog, CASE WHEN co.oid IS NOT NULL THEN 'pg_catalog' END AS collation_schema,
       co.collname AS collation_name,
       CASE bt.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
            WHEN 1700 THEN CASE WHEN t.typtypmod <> -1 THEN ((t.typtypmod - 4) >> 16) & 65535 END END AS numeric_precision,
       CASE WHEN bt.oid IN (20, 21, 23, 700, 701) THEN 2 WHEN bt.oid = 1700 THEN 10 END AS numeric_precision_radix,
       CASE WHEN bt.oid IN (20, 21, 23) THEN 0 WHEN bt.oid = 1700 AND t.typtypmod <> -1 THEN (t.typtypmod - 4) & 2047 END AS numeric_scale,
       CASE WHEN bt.oid = 1082 THEN 0 WHEN bt.oid IN (1083, 1114, 1184, 1266, 1186) THEN CASE WHEN t.typtypmod < 0 THEN 6 ELSE t.typtypmod & 65535 END END
           AS datetime_precision,
       NULL::varchar AS interval_type, NULL::int4 AS interval_precision, t.typdefault AS domain_default,
       current_database() AS udt_catalog, nbt.nspname AS udt_schema, bt.typname AS udt_name,
       NULL::name AS scope_catalog, NULL::name AS scope_schema, NULL::name AS scope_name, NULL::int4 AS maximum_cardinality, '1' AS dtd_identifier
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_catalog.pg_type bt ON bt.oid = t.typbasetype
JOIN pg_catalog.pg_namespace nbt ON nbt.oid = bt.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = t.typcollation AND co.collname <> 'default'
WHERE t.typtype = 'd'

#!/bin/sh
# Writes columns.txt: which columns the catalogs have, as a PostgreSQL 15 server has them. Run: PGHOST=... PGUSER=... ./generate.sh
# Types no value can have here stand as text; domains of information_schema as what they are made of.
set -e
cd "$(dirname "$0")"
psql -X -A -t -q > columns.txt <<'SQL'
SELECT n.nspname || '.' || c.relname || ' ' || c.oid || ' ' ||
  string_agg(a.attname || ':' || CASE
    WHEN b.typname IN ('inet', 'pg_lsn', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list') THEN 'text'
    WHEN b.typname IN ('anyarray', '_pg_statistic') THEN '_text'
    WHEN b.typname = 'xid8' THEN 'int8'
    WHEN b.typname = 'json' THEN 'text'
    ELSE b.typname END, ' ' ORDER BY a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE n.nspname = 'pg_catalog' AND (c.relkind = 'r' AND c.relname <> 'pg_statistic' OR c.relname IN (
    'pg_cursors', 'pg_group', 'pg_indexes', 'pg_locks', 'pg_matviews', 'pg_policies', 'pg_prepared_statements', 'pg_prepared_xacts',
    'pg_publication_tables', 'pg_roles', 'pg_rules', 'pg_sequences', 'pg_settings', 'pg_shadow', 'pg_stat_activity', 'pg_stat_all_tables',
    'pg_stat_user_tables', 'pg_statio_all_tables',
    'pg_stats', 'pg_tables', 'pg_timezone_names', 'pg_user', 'pg_views', 'pg_available_extensions', 'pg_stat_ssl', 'pg_seclabels', 'pg_user_mappings'))
   OR n.nspname = 'information_schema' AND c.relname IN (
    'applicable_roles', 'check_constraints', 'column_privileges', 'columns', 'column_domain_usage', 'constraint_column_usage', 'constraint_table_usage',
    'domain_constraints', 'domains',
    'enabled_roles', 'information_schema_catalog_name', 'key_column_usage', 'parameters', 'referential_constraints',
    'role_table_grants', 'routines', 'schemata', 'sequences', 'table_constraints', 'table_privileges', 'tables', 'triggers', 'views',
    'user_defined_types', 'character_sets', 'collations')
GROUP BY n.nspname, c.relname, c.oid
ORDER BY n.nspname DESC, c.relname;
SQL

# Rows of catalogs that never change: a line of column names, then tab-separated values, \N for NULL. Columns left out are empty.
types="16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,114,194,199,271,700,701,705,1000,1001,1002,1003,1005,1006,1007,1008,1009,1010,1011,1012,1013,1014,1015,1016,1021,1022,1028,1033,1034,1042,1043,1082,1083,1114,1115,1182,1183,1184,1185,1186,1187,1231,1263,1266,1270,1700,2202,2203,2204,2205,2206,2207,2208,2209,2210,2211,2249,2287,2275,2276,2277,2278,2279,2281,2283,2776,2950,2951,3220,3221,3802,3807,4072,4073,4089,4090,4096,4097,5069,5077,5078"
dump() {
  { psql -X -q -c "\\copy ($2 LIMIT 1) TO STDOUT WITH (HEADER true, FORMAT text)" | head -1; psql -X -q -c "\\copy ($2) TO STDOUT"; } > "$1.tsv"
}
dump pg_type "SELECT oid, typname, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined, typdelim, typsubscript::oid AS typsubscript, typelem, typarray, typinput::oid AS typinput, typoutput::oid AS typoutput, typreceive::oid AS typreceive, typsend::oid AS typsend, typmodin::oid AS typmodin, typmodout::oid AS typmodout, typalign, typstorage, typtypmod, typcollation FROM pg_type WHERE oid IN ($types) ORDER BY oid"
dump pg_opclass "SELECT oid, opcmethod, opcname, opcfamily, opcintype, opcdefault, opckeytype FROM pg_opclass WHERE opcmethod = 403 AND opcintype IN ($types) ORDER BY oid"
dump pg_opfamily "SELECT oid, opfmethod, opfname FROM pg_opfamily WHERE oid IN (SELECT opcfamily FROM pg_opclass WHERE opcmethod = 403 AND opcintype IN ($types)) ORDER BY oid"
dump pg_collation "SELECT oid, collname, collprovider, collisdeterministic, collencoding, collcollate, collctype FROM pg_collation WHERE collname IN ('default', 'C', 'POSIX') AND collnamespace = 11 ORDER BY oid"
dump pg_language "SELECT oid, lanname, 10 AS lanowner, lanispl, lanpltrusted FROM pg_language WHERE lanname IN ('internal', 'sql') ORDER BY oid"
dump pg_am "SELECT oid, amname, amhandler::oid AS amhandler, amtype FROM pg_am WHERE amname IN ('heap', 'btree') ORDER BY oid"
dump pg_tablespace "SELECT oid, spcname, 10 AS spcowner FROM pg_tablespace WHERE spcname IN ('pg_default', 'pg_global') ORDER BY oid"
dump pg_cast "SELECT oid, castsource, casttarget, castfunc, castcontext, castmethod FROM pg_cast WHERE castsource IN ($types) AND casttarget IN ($types) ORDER BY oid"
# Functions and operators: of every name that the sources of functions mention. What is not implemented is left out when the rows are read.
names=$(cat ../../functions/*.rs ../../functions/*/*.rs | grep -oE '"[a-z_][a-z0-9_]*"' | sort -u | tr -d '"' | sed "s/.*/'&'/" | paste -sd,)
support="SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typsubscript]::oid[]) FROM pg_type WHERE oid IN ($types)"
dump pg_operator "SELECT oid, oprname, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult, oprcom, oprnegate, oprcode::oid AS oprcode, oprrest::oid AS oprrest, oprjoin::oid AS oprjoin FROM pg_operator WHERE oprleft IN (0, $types) AND oprright IN ($types) AND oprresult IN ($types) ORDER BY oid"
dump pg_proc "SELECT oid, proname, provariadic, prokind, proisstrict, proretset, provolatile, pronargs, pronargdefaults, prorettype, proargtypes, prosrc FROM pg_proc p WHERE NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN ($types)) AND prorettype IN ($types) AND (proname IN ($names) OR oid IN ($support) OR oid IN (SELECT castfunc FROM pg_cast WHERE castsource IN ($types) AND casttarget IN ($types)) OR oid IN (SELECT oprcode FROM pg_operator WHERE oprleft IN (0, $types) AND oprright IN ($types) AND oprresult IN ($types))) ORDER BY oid"
dump pg_amop "SELECT oid, amopfamily, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr, amopmethod FROM pg_amop WHERE amopmethod = 403 AND amoplefttype IN ($types) AND amoprighttype IN ($types) ORDER BY oid"
dump pg_amproc "SELECT oid, amprocfamily, amproclefttype, amprocrighttype, amprocnum, amproc::oid AS amproc FROM pg_amproc WHERE amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfmethod = 403) AND amproclefttype IN ($types) AND amprocrighttype IN ($types) ORDER BY oid"
dump pg_aggregate "SELECT aggfnoid::oid AS aggfnoid, aggkind, aggnumdirectargs FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname IN ($names) AND NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN ($types)) ORDER BY 1"

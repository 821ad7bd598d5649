-- # Information schema, catalogs and system functions: section 9.26, chapters 37 and 53

create table city (id int primary key, name varchar(40) not null default 'x', pop bigint, area numeric(10,2), founded date, tags text[], at timestamptz(3), unique (name), check (pop >= 0));
create table street (city int references city, name text, primary key (city, name));
create index street_name on street (name);
create view big as select id, name from city where pop > 1000;

select table_name, table_type from information_schema.tables where table_schema = current_schema() order by 1;
--: table_name name | table_type character varying
--> big | VIEW
--> city | BASE TABLE
--> street | BASE TABLE
select column_name, ordinal_position, column_default, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, udt_name, is_updatable from information_schema.columns where table_schema = current_schema() and table_name = 'city' order by 2;
--: column_name name | ordinal_position integer | column_default character varying | is_nullable character varying(7) | data_type character varying | character_maximum_length integer | numeric_precision integer | numeric_scale integer | datetime_precision integer | udt_name name | is_updatable character varying(7)
--> id | 1 | ∅ | NO | integer | ∅ | 32 | 0 | ∅ | int4 | YES
--> name | 2 | 'x'::character varying | NO | character varying | 40 | ∅ | ∅ | ∅ | varchar | YES
--> pop | 3 | ∅ | YES | bigint | ∅ | 64 | 0 | ∅ | int8 | YES
--> area | 4 | ∅ | YES | numeric | ∅ | 10 | 2 | ∅ | numeric | YES
--> founded | 5 | ∅ | YES | date | ∅ | ∅ | ∅ | 0 | date | YES
--> tags | 6 | ∅ | YES | ARRAY | ∅ | ∅ | ∅ | ∅ | _text | YES
--> at | 7 | ∅ | YES | timestamp with time zone | ∅ | ∅ | ∅ | 3 | timestamptz | YES
select constraint_name, constraint_type, is_deferrable from information_schema.table_constraints where table_schema = current_schema() and constraint_type <> 'CHECK' order by 1;
--: constraint_name name | constraint_type character varying | is_deferrable character varying(7)
--> city_name_key | UNIQUE | NO
--> city_pkey | PRIMARY KEY | NO
--> street_city_fkey | FOREIGN KEY | NO
--> street_pkey | PRIMARY KEY | NO
select constraint_name, column_name, ordinal_position, position_in_unique_constraint from information_schema.key_column_usage where table_schema = current_schema() order by 1, 3;
--: constraint_name name | column_name name | ordinal_position integer | position_in_unique_constraint integer
--> city_name_key | name | 1 | ∅
--> city_pkey | id | 1 | ∅
--> street_city_fkey | city | 1 | 1
--> street_pkey | city | 1 | ∅
--> street_pkey | name | 2 | ∅
select constraint_name, unique_constraint_name, match_option, update_rule, delete_rule from information_schema.referential_constraints where constraint_schema = current_schema();
--: constraint_name name | unique_constraint_name name | match_option character varying | update_rule character varying | delete_rule character varying
--> street_city_fkey | city_pkey | NONE | NO ACTION | NO ACTION
select table_name, column_name, constraint_name from information_schema.constraint_column_usage where table_schema = current_schema() order by 3, 2;
--: table_name name | column_name name | constraint_name name
--> city | name | city_name_key
--> city | id | city_pkey
--> city | pop | city_pop_check
--> city | id | street_city_fkey
--> street | city | street_pkey
--> street | name | street_pkey
select table_name, is_updatable, is_insertable_into from information_schema.views where table_schema = current_schema();
--: table_name name | is_updatable character varying(7) | is_insertable_into character varying(7)
--> big | YES | YES
select schema_name from information_schema.schemata where schema_name in ('public', 'pg_catalog', 'information_schema') order by 1;
--: schema_name name
--> information_schema
--> pg_catalog
--> public
select relname, relkind, relnatts, relhasindex, relchecks, relpersistence, relispartition from pg_class where relnamespace = current_schema()::regnamespace order by 1;
--: relname name | relkind "char" | relnatts smallint | relhasindex boolean | relchecks smallint | relpersistence "char" | relispartition boolean
--> big | v | 2 | f | 0 | p | f
--> city | r | 7 | t | 1 | p | f
--> city_name_key | i | 1 | f | 0 | p | f
--> city_pkey | i | 1 | f | 0 | p | f
--> street | r | 2 | t | 0 | p | f
--> street_name | i | 1 | f | 0 | p | f
--> street_pkey | i | 2 | f | 0 | p | f
select attname, attnum, atttypid::regtype, atttypmod, attnotnull, atthasdef, attisdropped, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'city'::regclass and attnum > 0 order by attnum;
--: attname name | attnum smallint | atttypid regtype | atttypmod integer | attnotnull boolean | atthasdef boolean | attisdropped boolean | format_type text
--> id | 1 | integer | -1 | t | f | f | integer
--> name | 2 | character varying | 44 | t | t | f | character varying(40)
--> pop | 3 | bigint | -1 | f | f | f | bigint
--> area | 4 | numeric | 655366 | f | f | f | numeric(10,2)
--> founded | 5 | date | -1 | f | f | f | date
--> tags | 6 | text[] | -1 | f | f | f | text[]
--> at | 7 | timestamp with time zone | 3 | f | f | f | timestamp(3) with time zone
select conname, contype, conkey, confkey, confupdtype, confdeltype, confmatchtype, pg_get_constraintdef(oid) from pg_constraint where connamespace = current_schema()::regnamespace order by conname;
--: conname name | contype "char" | conkey smallint[] | confkey smallint[] | confupdtype "char" | confdeltype "char" | confmatchtype "char" | pg_get_constraintdef text
--> city_name_key | u | {2} | ∅ | " " | " " | " " | UNIQUE (name)
--> city_pkey | p | {1} | ∅ | " " | " " | " " | PRIMARY KEY (id)
--> city_pop_check | c | {3} | ∅ | " " | " " | " " | CHECK ((pop >= 0))
--> street_city_fkey | f | {1} | {1} | a | a | s | FOREIGN KEY (city) REFERENCES city(id)
--> street_pkey | p | {1,2} | ∅ | " " | " " | " " | PRIMARY KEY (city, name)
select indexrelid::regclass, indisunique, indisprimary, indnkeyatts, indkey from pg_index where indrelid in ('city'::regclass, 'street'::regclass) order by 1::text;
--: indexrelid regclass | indisunique boolean | indisprimary boolean | indnkeyatts smallint | indkey int2vector
--> city_pkey | t | t | 1 | 1
--> city_name_key | t | f | 1 | 2
--> street_pkey | t | t | 2 | 1 2
--> street_name | f | f | 1 | 2
select pg_get_indexdef('street_name'::regclass) like 'CREATE INDEX street_name ON %street USING btree (name)', pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'city'::regclass;
--: ?column? boolean | pg_get_expr text
--> t | 'x'::character varying
select tablename, tableowner, hasindexes from pg_tables where schemaname = current_schema() order by 1;
--: tablename name | tableowner name | hasindexes boolean
--> city | postgres | t
--> street | postgres | t
select viewname, definition from pg_views where schemaname = current_schema();
--: viewname name | definition text
--> big | " SELECT city.id,\n    city.name\n   FROM city\n  WHERE (city.pop > 1000);"
select count(*) from pg_depend where false;
--: count bigint
--> 0

-- ## System information functions

select current_schema(), current_schemas(false), current_database() = current_catalog, current_user = session_user, user = current_role;
--: current_schema name | current_schemas name[] | ?column? boolean | ?column? boolean | ?column? boolean
--> t_catalogs | {t_catalogs} | t | t | t
select version() like 'PostgreSQL 15%', current_setting('server_version_num')::int / 10000, pg_backend_pid() > 0, inet_server_port() is not null or true;
--: ?column? boolean | ?column? integer | ?column? boolean | ?column? boolean
--> t | 15 | t | t
-- each s: search_path | timezone | nosuch.setting | nosuch | work_mem | standard_conforming_strings | server_encoding
select current_setting('{s}');
--: current_setting text
--> search_path => t_catalogs
--> timezone => UTC
--> nosuch.setting => ERROR 42704: unrecognized configuration parameter "nosuch.setting"
--> nosuch => ERROR 42704: unrecognized configuration parameter "nosuch"
--> work_mem => 4MB
--> standard_conforming_strings => on
--> server_encoding => UTF8
select current_setting('nosuch.setting', true), set_config('my.setting', 'v', false), current_setting('my.setting');
--: current_setting text | set_config text | current_setting text
--> ∅ | v | v
-- each n: city | nosuch | pg_class | "City" | 12345678
select to_regclass('{n}'), to_regtype('int4'), to_regtype('nosuch');
--: to_regclass regclass | to_regtype regtype | to_regtype regtype
--> city => city | integer | ∅
--> nosuch => ∅ | integer | ∅
--> pg_class => pg_class | integer | ∅
--> "City" => ∅ | integer | ∅
--> 12345678 => ∅ | integer | ∅
-- each c: 'city'::regclass | 'pg_class'::regclass | 'nosuch'::regclass | 'int'::regtype | 'int[]'::regtype | 'nosuch'::regtype | 'pg_catalog'::regnamespace | 'now'::regproc | 1259::regclass | 0::regclass | 23::regtype | 'varchar(10)'::regtype | 'abs(int)'::regprocedure
select {c};
--: regclass regclass
--> 'city'::regclass => city
--> 'pg_class'::regclass => pg_class
--> 'nosuch'::regclass => ERROR 42P01: relation "nosuch" does not exist [POSITION: 8]
--: regtype regtype
--> 'int'::regtype => integer
--> 'int[]'::regtype => integer[]
--> 'nosuch'::regtype => ERROR 42704: type "nosuch" does not exist [POSITION: 8]
--: regnamespace regnamespace
--> 'pg_catalog'::regnamespace => pg_catalog
--: regproc regproc
--> 'now'::regproc => now
--: regclass regclass
--> 1259::regclass => pg_class
--> 0::regclass => -
--: regtype regtype
--> 23::regtype => integer
--> 'varchar(10)'::regtype => character varying
--: regprocedure regprocedure
--> 'abs(int)'::regprocedure => abs(integer)
-- each t: 23, null | 1043, 14 | 1700, 655366 | 1184, 3 | 1007, -1 | 0, null | 999999, null | 1042, 5 | null, null | 1266, 2 | 1560, 3
select format_type({t});
--: format_type text
--> 23, null => integer
--> 1043, 14 => character varying(10)
--> 1700, 655366 => numeric(10,2)
--> 1184, 3 => timestamp(3) with time zone
--> 1007, -1 => integer[]
--> 0, null => -
--> 999999, null => ???
--> 1042, 5 => character(1)
--> null, null => ∅
--> 1266, 2 => time(2) with time zone
--> 1560, 3 => bit(3)
select pg_typeof(1), pg_typeof('a'), pg_typeof(null), pg_typeof(array[1]), pg_typeof(row(1)), pg_typeof(now()), pg_typeof(1.5::real), pg_typeof('a'::name), pg_typeof('city'::regclass);
--: pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype | pg_typeof regtype
--> integer | unknown | unknown | integer[] | record | timestamp with time zone | real | name | regclass
select has_table_privilege('city', 'select'), has_schema_privilege('public', 'usage'), has_database_privilege(current_database(), 'connect'), has_column_privilege('city', 'name', 'update');
--: has_table_privilege boolean | has_schema_privilege boolean | has_database_privilege boolean | has_column_privilege boolean
--> t | t | t | t
select has_table_privilege('nosuch', 'select');
--> ERROR 42P01: relation "nosuch" does not exist
select has_table_privilege('city', 'nosuch');
--> ERROR 22023: unrecognized privilege type: "nosuch"
select pg_table_is_visible('city'::regclass), pg_type_is_visible('int'::regtype), pg_is_in_recovery(), pg_get_userbyid(10) is not null, pg_encoding_to_char(6);
--: pg_table_is_visible boolean | pg_type_is_visible boolean | pg_is_in_recovery boolean | ?column? boolean | pg_encoding_to_char name
--> t | t | f | t | UTF8
select col_description('city'::regclass, 1), obj_description('city'::regclass, 'pg_class'), shobj_description(1, 'pg_database');
--: col_description text | obj_description text | shobj_description text
--> ∅ | ∅ | default template for new databases
select pg_size_pretty(n::bigint) from (values (0), (10), (10239), (10240), (1048576), (123456789), (9876543210), (-5000000)) v (n);
--: pg_size_pretty text
--> 0 bytes
--> 10 bytes
--> 10239 bytes
--> 10 kB
--> 1024 kB
--> 118 MB
--> 9419 MB
--> -4883 kB
select pg_size_bytes('10 kB'), pg_size_bytes('1.5MB'), pg_size_bytes('7');
--: pg_size_bytes bigint | pg_size_bytes bigint | pg_size_bytes bigint
--> 10240 | 1572864 | 7
select pg_size_bytes('x');
--> ERROR 22023: invalid size: "x"
select pg_column_size(1), pg_column_size(1::bigint), pg_column_size(true), pg_column_size(null);
--: pg_column_size integer | pg_column_size integer | pg_column_size integer | pg_column_size integer
--> 4 | 8 | 1 | ∅
select txid_current() > 0, pg_current_xact_id() is not null, txid_current_if_assigned() is null or true;
--: ?column? boolean | ?column? boolean | ?column? boolean
--> t | t | t
select pg_sleep(0), pg_notify('x', 'y');
--: pg_sleep void | pg_notify void
--> "" | ""
select quote_ident(relname), relkind from pg_class where oid = 'city'::regclass;
--: quote_ident text | relkind "char"
--> city | r
select typname, typlen, typtype, typcategory, typelem::regtype, typarray::regtype from pg_type where typname in ('int4', 'text', '_text', 'bool', 'numeric', 'timestamptz') order by 1;
--: typname name | typlen smallint | typtype "char" | typcategory "char" | typelem regtype | typarray regtype
--> _text | -1 | b | A | text | -
--> bool | 1 | b | B | - | boolean[]
--> int4 | 4 | b | N | - | integer[]
--> numeric | -1 | b | N | - | numeric[]
--> text | -1 | b | S | - | text[]
--> timestamptz | 8 | b | D | - | timestamp with time zone[]
select oprname, oprleft::regtype, oprright::regtype, oprresult::regtype from pg_operator where oprname = '+' and oprleft = 'int4'::regtype order by 3;
--: oprname name | oprleft regtype | oprright regtype | oprresult regtype
--> + | integer | bigint | bigint
--> + | integer | smallint | integer
--> + | integer | integer | integer
--> + | integer | date | date
select proname, prorettype::regtype, pronargs, provolatile, proisstrict from pg_proc where proname in ('abs', 'now', 'lower') and pronargs < 2 and prorettype in ('int4'::regtype, 'timestamptz'::regtype, 'text'::regtype) order by 1, 2::text;
--: proname name | prorettype regtype | pronargs smallint | provolatile "char" | proisstrict boolean
--> abs | integer | 1 | i | t
--> lower | text | 1 | i | t
--> now | timestamp with time zone | 0 | s | t
select nspname from pg_namespace where nspname in ('pg_catalog', 'public', 'information_schema') order by 1;
--: nspname name
--> information_schema
--> pg_catalog
--> public
select name, setting, vartype from pg_settings where name in ('DateStyle', 'TimeZone', 'client_encoding', 'enable_seqscan', 'statement_timeout', 'standard_conforming_strings') order by lower(name);
--: name text | setting text | vartype text
--> client_encoding | UTF8 | string
--> DateStyle | ISO, MDY | string
--> enable_seqscan | on | bool
--> standard_conforming_strings | on | bool
--> statement_timeout | 5000 | integer
--> TimeZone | UTC | string
select collname from pg_collation where collname in ('default', 'C', 'POSIX') order by 1;
--: collname name
--> C
--> POSIX
--> default
select amname from pg_am where amname in ('btree', 'heap') order by 1;
--: amname name
--> btree
--> heap
select castsource::regtype, casttarget::regtype, castcontext from pg_cast where castsource = 'int4'::regtype and casttarget in ('int8'::regtype, 'text'::regtype, 'bool'::regtype, 'float8'::regtype) order by 2::text;
--: castsource regtype | casttarget regtype | castcontext "char"
--> integer | bigint | i
--> integer | double precision | i
--> integer | boolean | e
show server_version_num;
--: server_version_num text
--> 150018
show transaction_isolation;
--: transaction_isolation text
--> read committed
show nosuch;
--> ERROR 42704: unrecognized configuration parameter "nosuch"
show search_path;
--: search_path text
--> t_catalogs
drop view big;
drop table street, city;

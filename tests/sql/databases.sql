-- # Databases: chapter 23, CREATE, ALTER and DROP DATABASE

-- ## Making one

drop database if exists t_first;
--> NOTICE 00000: database "t_first" does not exist, skipping
drop database if exists t_second;
--> NOTICE 00000: database "t_second" does not exist, skipping
drop database if exists t_third;
--> NOTICE 00000: database "t_third" does not exist, skipping
create database t_first;
create database t_first;
--> ERROR 42P04: database "t_first" already exists
select datname, pg_get_userbyid(datdba) as owner, pg_encoding_to_char(encoding) as encoding, datistemplate, datallowconn, datconnlimit, datlocprovider, datacl from pg_database where datname like 't\_%' order by 1;
--: datname name | owner name | encoding name | datistemplate boolean | datallowconn boolean | datconnlimit integer | datlocprovider "char" | datacl aclitem[]
--> t_first | postgres | UTF8 | f | t | -1 | c | ∅
-- each options: with owner postgres encoding 'UTF8' template template0 connection limit 7 | owner = current_user | encoding 'utf-8' | encoding 6 | encoding = unicode | encoding default | template template1 | template = default | tablespace pg_default | connection limit -1 | connection limit = 0 | allow_connections false | allow_connections = on | is_template true is_template false | strategy wal_log | locale_provider libc | lc_collate 'C' lc_ctype 'C' template template0 | locale 'C' template template0 | lc_collate = 'POSIX' template template0
create database t_second {options};
--> with owner postgres encoding 'UTF8' template template0 connection limit 7 =>
--> owner = current_user => ERROR 42601: syntax error at or near "current_user" [POSITION: 34]
--> encoding 'utf-8' => ERROR 42P04: database "t_second" already exists
--> encoding 6 => ERROR 42P04: database "t_second" already exists
--> encoding = unicode => ERROR 42P04: database "t_second" already exists
--> encoding default => ERROR 42P04: database "t_second" already exists
--> template template1 => ERROR 42P04: database "t_second" already exists
--> template = default => ERROR 42P04: database "t_second" already exists
--> tablespace pg_default => ERROR 42P04: database "t_second" already exists
--> connection limit -1 => ERROR 42P04: database "t_second" already exists
--> connection limit = 0 => ERROR 42P04: database "t_second" already exists
--> allow_connections false => ERROR 42P04: database "t_second" already exists
--> allow_connections = on => ERROR 42P04: database "t_second" already exists
--> is_template true is_template false => ERROR 42601: conflicting or redundant options [POSITION: 43]
--> strategy wal_log => ERROR 42P04: database "t_second" already exists
--> locale_provider libc => ERROR 42P04: database "t_second" already exists
--> lc_collate 'C' lc_ctype 'C' template template0 => ERROR 42P04: database "t_second" already exists
--> locale 'C' template template0 => ERROR 42P04: database "t_second" already exists
--> lc_collate = 'POSIX' template template0 => ERROR 42P04: database "t_second" already exists
select datconnlimit, datallowconn, datistemplate from pg_database where datname = 't_second';
--: datconnlimit integer | datallowconn boolean | datistemplate boolean
--> 7 | t | f
drop database if exists t_second;
create database t_second connection limit 3;
select datconnlimit, datallowconn, datistemplate from pg_database where datname = 't_second';
--: datconnlimit integer | datallowconn boolean | datistemplate boolean
--> 3 | t | f
-- each options: encoding 'nosuch' | encoding nosuch | template nosuch | owner nosuch | tablespace nosuch | tablespace pg_global | connection limit -2 | connection limit 'x' | allow_connections maybe | is_template 7 | nosuch 1 | nosuch | owner postgres owner postgres | strategy nosuch | locale_provider nosuch | lc_collate | with | if not exists
create database t_third {options};
--> encoding 'nosuch' => ERROR 42704: nosuch is not a valid encoding name [POSITION: 25]
--> encoding nosuch => ERROR 42704: nosuch is not a valid encoding name [POSITION: 25]
--> template nosuch => ERROR 3D000: template database "nosuch" does not exist
--> owner nosuch => ERROR 42704: role "nosuch" does not exist
--> tablespace nosuch => ERROR 42704: tablespace "nosuch" does not exist
--> tablespace pg_global => ERROR 22023: pg_global cannot be used as default tablespace
--> connection limit -2 => ERROR 22023: invalid connection limit: -2
--> connection limit 'x' => ERROR 42601: connection_limit requires an integer value
--> allow_connections maybe => ERROR 42601: allow_connections requires a Boolean value
--> is_template 7 => ERROR 42601: is_template requires a Boolean value
--> nosuch 1 => ERROR 42601: option "nosuch" not recognized [POSITION: 25]
--> nosuch => ERROR 42601: syntax error at or near ";" [POSITION: 31]
--> owner postgres owner postgres => ERROR 42601: conflicting or redundant options [POSITION: 40]
--> strategy nosuch => ERROR 22023: invalid create database strategy "nosuch" [HINT: Valid strategies are "wal_log" and "file_copy".]
--> locale_provider nosuch => ERROR 42P17: unrecognized locale provider: nosuch
--> lc_collate => ERROR 42601: syntax error at or near ";" [POSITION: 35]
--> with =>
--> if not exists => ERROR 42601: syntax error at or near "if" [POSITION: 25]
drop database if exists t_third;
create database if not exists t_third;
--> ERROR 42601: syntax error at or near "not" [POSITION: 20]
create database t_first.t_second;
--> ERROR 42601: syntax error at or near "." [POSITION: 24]
create database select;
--> ERROR 42601: syntax error at or near "select" [POSITION: 17]

-- ## Not in a transaction

begin;
create database t_third;
--> ERROR 25001: CREATE DATABASE cannot run inside a transaction block
rollback;
begin;
drop database t_second;
--> ERROR 25001: DROP DATABASE cannot run inside a transaction block
rollback;
begin;
drop database if exists nosuch;
--> ERROR 25001: DROP DATABASE cannot run inside a transaction block
rollback;
select 1; create database t_third;
--> ERROR 25001: CREATE DATABASE cannot run inside a transaction block
set default_transaction_read_only = on;
create database t_third;
--> ERROR 25006: cannot execute CREATE DATABASE in a read-only transaction
drop database t_second;
--> ERROR 25006: cannot execute DROP DATABASE in a read-only transaction
alter database t_second connection limit 1;
--> ERROR 25006: cannot execute ALTER DATABASE in a read-only transaction
comment on database t_second is 'x';
--> ERROR 25006: cannot execute COMMENT in a read-only transaction
reset default_transaction_read_only;

-- ## Changing one

alter database t_second connection limit 9 is_template true;
alter database t_second with allow_connections = false;
select datconnlimit, datallowconn, datistemplate from pg_database where datname = 't_second';
--: datconnlimit integer | datallowconn boolean | datistemplate boolean
--> 9 | f | t
drop database t_second;
--> ERROR 42809: cannot drop a template database
alter database t_second is_template false allow_connections true connection limit -1;
select datconnlimit, datallowconn, datistemplate from pg_database where datname = 't_second';
--: datconnlimit integer | datallowconn boolean | datistemplate boolean
--> -1 | t | f
-- each change: connection limit -2 | connection limit 'x' | nosuch 1 | nosuch | is_template maybe | connection limit 1 connection limit 2 | owner to nosuch | rename to t_first | rename to t_second | set | reset | set nosuch = 1 | set work_mem = 'x' | set work_mem to 1, 2 | reset nosuch | set tablespace pg_default
alter database t_second {change};
--> connection limit -2 => ERROR 22023: invalid connection limit: -2
--> connection limit 'x' => ERROR 42601: connection_limit requires an integer value
--> nosuch 1 => ERROR 42601: option "nosuch" not recognized [POSITION: 25]
--> nosuch => ERROR 42601: syntax error at or near ";" [POSITION: 31]
--> is_template maybe => ERROR 42601: is_template requires a Boolean value
--> connection limit 1 connection limit 2 => ERROR 42601: conflicting or redundant options [POSITION: 44]
--> owner to nosuch => ERROR 42704: role "nosuch" does not exist
--> rename to t_first => ERROR 42P04: database "t_first" already exists
--> rename to t_second => ERROR 42P04: database "t_second" already exists
--> set => ERROR 42601: syntax error at or near ";" [POSITION: 28]
--> reset => ERROR 42601: syntax error at or near ";" [POSITION: 30]
--> set nosuch = 1 => ERROR 42704: unrecognized configuration parameter "nosuch"
--> set work_mem = 'x' => ERROR 22023: invalid value for parameter "work_mem": "x"
--> set work_mem to 1, 2 => ERROR 22023: SET work_mem takes only one argument
--> reset nosuch =>
--> set tablespace pg_default =>
-- each change: connection limit 1 | owner to postgres | rename to t_fourth | set work_mem = '5MB' | reset all
alter database nosuch {change};
--> connection limit 1 => ERROR 3D000: database "nosuch" does not exist
--> owner to postgres => ERROR 3D000: database "nosuch" does not exist
--> rename to t_fourth => ERROR 3D000: database "nosuch" does not exist
--> set work_mem = '5MB' => ERROR 3D000: database "nosuch" does not exist
--> reset all => ERROR 3D000: database "nosuch" does not exist
alter database t_second owner to current_user;
alter database t_second rename to t_third;
select datname from pg_database where datname like 't\_%' order by 1;
--: datname name
--> t_first
--> t_third
alter database t_third rename to t_second;
select current_database() = 'postgres' as in_postgres;
--: in_postgres boolean
--> t
alter database postgres rename to other;
--> ERROR 0A000: current database cannot be renamed
alter database postgres allow_connections false;
--> ERROR 22023: cannot disallow connections for current database
begin;
alter database t_second connection limit 5;
select datconnlimit from pg_database where datname = 't_second';
--: datconnlimit integer
--> 5
savepoint s;
alter database t_second connection limit 6;
select datconnlimit from pg_database where datname = 't_second';
--: datconnlimit integer
--> 6
rollback to s;
select datconnlimit from pg_database where datname = 't_second';
--: datconnlimit integer
--> 5
rollback;
select datconnlimit from pg_database where datname = 't_second';
--: datconnlimit integer
--> -1
begin;
alter database t_second connection limit 5;
comment on database t_second is 'in a transaction';
commit;
select datconnlimit, shobj_description(oid, 'pg_database') from pg_database where datname = 't_second';
--: datconnlimit integer | shobj_description text
--> 5 | in a transaction

-- ## Settings of a database

alter database t_second set work_mem = '5MB';
alter database t_second set search_path to a, "B", public;
alter database t_second set "TimeZone" = 'UTC';
alter database t_second set time zone 'Europe/Paris';
alter database t_second set custom.value = 'x y';
set statement_timeout = '77s';
alter database t_second set statement_timeout from current;
reset statement_timeout;
select d.datname, s.setrole, s.setconfig from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = 't_second';
--: datname name | setrole oid | setconfig text[]
--> t_second | 0 | {work_mem=5MB,"search_path=a, \"B\", public",TimeZone=Europe/Paris,"custom.value=x y",statement_timeout=77s}
alter database t_second reset work_mem;
alter database t_second set custom.value to default;
select s.setconfig from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = 't_second';
--: setconfig text[]
--> {"search_path=a, \"B\", public",TimeZone=Europe/Paris,statement_timeout=77s}
alter database t_second reset all;
select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = 't_second';
--: count bigint
--> 0

-- ## Comments and privileges

comment on database t_second is 'the second';
select shobj_description(oid, 'pg_database') as comment from pg_database where datname = 't_second';
--: comment text
--> the second
select description from pg_shdescription where classoid = 'pg_database'::regclass and objoid = (select oid from pg_database where datname = 't_second');
--: description text
--> the second
comment on database t_second is null;
select shobj_description(oid, 'pg_database') as comment from pg_database where datname = 't_second';
--: comment text
--> ∅
comment on database nosuch is 'x';
--> WARNING 3D000: database "nosuch" does not exist
select datname, shobj_description(oid, 'pg_database') as comment, datistemplate, datallowconn, datacl from pg_database where datname in ('postgres', 'template0', 'template1') order by 1;
--: datname name | comment text | datistemplate boolean | datallowconn boolean | datacl aclitem[]
--> postgres | default administrative connection database | f | t | ∅
--> template0 | unmodifiable empty database | t | f | {=c/postgres,postgres=CTc/postgres}
--> template1 | default template for new databases | t | t | {=c/postgres,postgres=CTc/postgres}
grant connect on database t_second to postgres;
select datacl from pg_database where datname = 't_second';
--: datacl aclitem[]
--> {=Tc/postgres,postgres=CTc/postgres}
revoke connect, temp on database t_second from public;
select datacl from pg_database where datname = 't_second';
--: datacl aclitem[]
--> {postgres=CTc/postgres}
grant create, temporary on database t_second to public;
select datacl from pg_database where datname = 't_second';
--: datacl aclitem[]
--> {postgres=CTc/postgres,=CT/postgres}
grant all on database t_first, t_second to public;
select datname, datacl from pg_database where datname like 't\_%' order by 1;
--: datname name | datacl aclitem[]
--> t_first | {=CTc/postgres,postgres=CTc/postgres}
--> t_second | {postgres=CTc/postgres,=CTc/postgres}
revoke all privileges on database t_second from public, postgres;
select datacl from pg_database where datname = 't_second';
--: datacl aclitem[]
--> {}
grant select on database t_second to public;
--> ERROR 0LP01: invalid privilege type SELECT for database
grant connect on database nosuch to public;
--> ERROR 3D000: database "nosuch" does not exist
grant connect on database t_second to nosuch;
--> ERROR 42704: role "nosuch" does not exist
select has_database_privilege('t_first', 'connect'), has_database_privilege('postgres', 't_first', 'create, temp');
--: has_database_privilege boolean | has_database_privilege boolean
--> t | t
select has_database_privilege('nosuch', 'connect');
--> ERROR 3D000: database "nosuch" does not exist
select has_database_privilege(1, 'connect') is not null as template1, has_database_privilege(99, 'connect');
--: template1 boolean | has_database_privilege boolean
--> t | ∅
select has_database_privilege('t_first', 'nosuch');
--> ERROR 22023: unrecognized privilege type: "nosuch"
select pg_database_size('t_first') >= 0 as known, pg_database_size(99::oid);
--: known boolean | pg_database_size bigint
--> t | ∅
select pg_database_size('nosuch');
--> ERROR 3D000: database "nosuch" does not exist

-- ## Other databases' objects

create table own (a int);
select * from postgres.t_databases.own;
--: a integer
select postgres.t_databases.own.a from own;
--: a integer
select * from t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own" [POSITION: 15]
select t_first.t_databases.own.a from own;
--> ERROR 0A000: cross-database references are not implemented: t_first.t_databases.own.a [POSITION: 8]
insert into t_first.public.own values (1);
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own" [POSITION: 13]
update t_first.public.own set a = 1;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own" [POSITION: 8]
delete from t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own" [POSITION: 13]
create table t_first.public.other (a int);
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.other" [POSITION: 14]
create view t_first.public.other as select 1;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.other"
create sequence t_first.public.other;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.other"
create index on t_first.public.own (a);
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
alter table t_first.public.own add b int;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
drop table t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
drop table if exists t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
truncate t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
comment on table t_first.public.own is 'x';
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
copy t_first.public.own from stdin;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
begin; lock table t_first.public.own;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own"
rollback;
select 't_first.public.own'::regclass;
--> ERROR 0A000: cross-database references are not implemented: "t_first.public.own" [POSITION: 8]
select a.b.c.d.e from own;
--> ERROR 42601: improper qualified name (too many dotted names): a.b.c.d.e [POSITION: 8]
select * from a.b.c.own;
--> ERROR 42601: improper qualified name (too many dotted names): a.b.c.own [POSITION: 15]

-- ## Dropping

drop database;
--> ERROR 42601: syntax error at or near ";" [POSITION: 14]
drop database nosuch;
--> ERROR 3D000: database "nosuch" does not exist
drop database if exists nosuch;
--> NOTICE 00000: database "nosuch" does not exist, skipping
drop database postgres;
--> ERROR 55006: cannot drop the currently open database
drop database template1;
--> ERROR 42809: cannot drop a template database
drop database if exists template0;
--> ERROR 42809: cannot drop a template database
drop database t_first, t_second;
--> ERROR 42601: syntax error at or near "," [POSITION: 22]
drop database t_first cascade;
--> ERROR 42601: syntax error at or near "cascade" [POSITION: 23]
drop database t_first with (nosuch);
--> ERROR 42601: syntax error at or near "nosuch" [POSITION: 29]
drop database t_first with;
--> ERROR 42601: syntax error at or near ";" [POSITION: 27]
drop database t_first;
drop database t_second with (force);
select datname from pg_database where datname like 't\_%' order by 1;
--: datname name
drop database if exists t_second (force);
--> NOTICE 00000: database "t_second" does not exist, skipping

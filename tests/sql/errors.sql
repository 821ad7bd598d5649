-- # Errors: what is said, with which code, and where it points

create table thing (id int primary key, name text, n int, made date);
insert into thing values (1, 'a', 10, '2024-01-01'), (2, 'b', null, null);
--> INSERT 0 2

-- ## Names that are missing or ambiguous

-- each q: select nosuch from thing | select thing.nosuch from thing | select t.nosuch from thing t | select thing.id from thing t | select nosuch.id from thing | select * from nosuch | select * from nosuch.thing | select nosuch(1) | select nosuch.f(1) | select abs('a', 1) | select abs() | select name + 1 from thing | select 1 + name from thing | select name || from thing | select -name from thing | select nam from thing | select id from thing a, thing b | select a.id, b.idd from thing a, thing b | select 1 as x where x = 1 | select id as x from thing where x = 1 | select id as x from thing group by x having x > 0 order by x | select * from thing where nosuch = 1 | select * from thing order by nosuch | select * from thing group by nosuch | select sum(nosuch) from thing | select thing.* from thing t | select *.id from thing | select "ID" from thing | select 'x'::nosuch | select cast(1 as nosuch.type) | select array_agg(nosuch) | update thing set nosuch = 1 | update nosuch set a = 1 | insert into thing (nosuch) values (1) | insert into nosuch values (1) | delete from thing where nosuch = 1 | select count(nosuch.*) from thing | table nosuch | select (thing).nosuch from thing | select nextval('nosuch') | select * from thing t join thing u using (nosuch) | select id from thing union select nosuch from thing | with w as (select 1) select * from v | select current_nosuch | drop table nosuch | drop view thing | drop index nosuch | alter table thing drop column nosuch | create index on thing (nosuch) | select nosuch collate "nosuch" | select name collate "nosuch" from thing | set nosuch = 1 | show nosuch | execute nosuch | fetch nosuch | deallocate nosuch | close nosuch
{q};
--> select nosuch from thing => ERROR 42703: column "nosuch" does not exist [POSITION: 8]
--> select thing.nosuch from thing => ERROR 42703: column thing.nosuch does not exist [POSITION: 8]
--> select t.nosuch from thing t => ERROR 42703: column t.nosuch does not exist [POSITION: 8]
--> select thing.id from thing t => ERROR 42P01: invalid reference to FROM-clause entry for table "thing" [HINT: Perhaps you meant to reference the table alias "t".] [POSITION: 8]
--> select nosuch.id from thing => ERROR 42P01: missing FROM-clause entry for table "nosuch" [POSITION: 8]
--> select * from nosuch => ERROR 42P01: relation "nosuch" does not exist [POSITION: 15]
--> select * from nosuch.thing => ERROR 42P01: relation "nosuch.thing" does not exist [POSITION: 15]
--> select nosuch(1) => ERROR 42883: function nosuch(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select nosuch.f(1) => ERROR 3F000: schema "nosuch" does not exist [POSITION: 8]
--> select abs('a', 1) => ERROR 42883: function abs(unknown, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select abs() => ERROR 42883: function abs() does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select name + 1 from thing => ERROR 42883: operator does not exist: text + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 13]
--> select 1 + name from thing => ERROR 42883: operator does not exist: integer + text [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
--> select name || from thing => ERROR 42601: syntax error at or near "from" [POSITION: 16]
--> select -name from thing => ERROR 42883: operator does not exist: - text [HINT: No operator matches the given name and argument type. You might need to add an explicit type cast.] [POSITION: 8]
--> select nam from thing => ERROR 42703: column "nam" does not exist [HINT: Perhaps you meant to reference the column "thing.name".] [POSITION: 8]
--> select id from thing a, thing b => ERROR 42702: column reference "id" is ambiguous [POSITION: 8]
--> select a.id, b.idd from thing a, thing b => ERROR 42703: column b.idd does not exist [HINT: Perhaps you meant to reference the column "b.id".] [POSITION: 14]
--> select 1 as x where x = 1 => ERROR 42703: column "x" does not exist [POSITION: 21]
--> select id as x from thing where x = 1 => ERROR 42703: column "x" does not exist [POSITION: 33]
--> select id as x from thing group by x having x > 0 order by x => ERROR 42703: column "x" does not exist [POSITION: 45]
--> select * from thing where nosuch = 1 => ERROR 42703: column "nosuch" does not exist [POSITION: 27]
--> select * from thing order by nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 30]
--> select * from thing group by nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 30]
--> select sum(nosuch) from thing => ERROR 42703: column "nosuch" does not exist [POSITION: 12]
--> select thing.* from thing t => ERROR 42P01: invalid reference to FROM-clause entry for table "thing" [HINT: Perhaps you meant to reference the table alias "t".] [POSITION: 8]
--> select *.id from thing => ERROR 42601: syntax error at or near "." [POSITION: 9]
--> select "ID" from thing => ERROR 42703: column "ID" does not exist [POSITION: 8]
--> select 'x'::nosuch => ERROR 42704: type "nosuch" does not exist [POSITION: 13]
--> select cast(1 as nosuch.type) => ERROR 3F000: schema "nosuch" does not exist [POSITION: 18]
--> select array_agg(nosuch) => ERROR 42703: column "nosuch" does not exist [POSITION: 18]
--> update thing set nosuch = 1 => ERROR 42703: column "nosuch" of relation "thing" does not exist [POSITION: 18]
--> update nosuch set a = 1 => ERROR 42P01: relation "nosuch" does not exist [POSITION: 8]
--> insert into thing (nosuch) values (1) => ERROR 42703: column "nosuch" of relation "thing" does not exist [POSITION: 20]
--> insert into nosuch values (1) => ERROR 42P01: relation "nosuch" does not exist [POSITION: 13]
--> delete from thing where nosuch = 1 => ERROR 42703: column "nosuch" does not exist [POSITION: 25]
--> select count(nosuch.*) from thing => ERROR 42P01: missing FROM-clause entry for table "nosuch" [POSITION: 14]
--> table nosuch => ERROR 42P01: relation "nosuch" does not exist [POSITION: 7]
--> select (thing).nosuch from thing => ERROR 42703: column thing.nosuch does not exist [POSITION: 9]
--> select nextval('nosuch') => ERROR 42P01: relation "nosuch" does not exist [POSITION: 16]
--> select * from thing t join thing u using (nosuch) => ERROR 42703: column "nosuch" specified in USING clause does not exist in left table
--> select id from thing union select nosuch from thing => ERROR 42703: column "nosuch" does not exist [POSITION: 35]
--> with w as (select 1) select * from v => ERROR 42P01: relation "v" does not exist [POSITION: 36]
--> select current_nosuch => ERROR 42703: column "current_nosuch" does not exist [POSITION: 8]
--> drop table nosuch => ERROR 42P01: table "nosuch" does not exist
--> drop view thing => ERROR 42809: "thing" is not a view [HINT: Use DROP TABLE to remove a table.]
--> drop index nosuch => ERROR 42704: index "nosuch" does not exist
--> alter table thing drop column nosuch => ERROR 42703: column "nosuch" of relation "thing" does not exist
--> create index on thing (nosuch) => ERROR 42703: column "nosuch" does not exist
--> select nosuch collate "nosuch" => ERROR 42703: column "nosuch" does not exist [POSITION: 8]
--> select name collate "nosuch" from thing => ERROR 42704: collation "nosuch" for encoding "UTF8" does not exist [POSITION: 13]
--> set nosuch = 1 => ERROR 42704: unrecognized configuration parameter "nosuch"
--> show nosuch => ERROR 42704: unrecognized configuration parameter "nosuch"
--> execute nosuch => ERROR 26000: prepared statement "nosuch" does not exist
--> fetch nosuch => ERROR 34000: cursor "nosuch" does not exist
--> deallocate nosuch => ERROR 26000: prepared statement "nosuch" does not exist
--> close nosuch => ERROR 34000: cursor "nosuch" does not exist

-- ## Syntax

-- each q: selec 1 | select 1 1 | select from where | select * fro thing | select (1 | select 1) | select 'abc | select "abc | select 1; select 2 2 | insert thing values (1) | insert into thing value (1) | update thing n = 1 | delete thing | create tabel x (a int) | create table x (a) | create table x (a int,) | select * from thing where | select * from thing group | select * from thing order id | select case when 1 then | select case end | select 1 in | select not | select between 1 and 2 | select 1 + | select * from (select 1 | select a.b.c.d.e from thing | select 1 limit | select :x | select @ | select 1 = = 2 | select array[1,2 | select '1'::int:: | select cast(1 int) | select extract(foo 1) | with select 1 | select distinct on from thing | begin work now | rollback to | values | values (1), | select all distinct 1 | select * from thing, | grant | explain | explain selec 1 | copy | /* unclosed | select 1 /* nested /* comment */ */ + 1 | select 1 -- comment | select $1 | select 1.2.3 | select 1e | select 0x1F | select 1_000 | select U&'\zzzz' | select E'\u12' | select B'102' | select X'0G'
{q};
--> selec 1 => ERROR 42601: syntax error at or near "selec" [POSITION: 1]
--> select 1 1 => ERROR 42601: syntax error at or near "1" [POSITION: 10]
--> select from where => ERROR 42601: syntax error at or near "where" [POSITION: 13]
--> select * fro thing => ERROR 42601: syntax error at or near "fro" [POSITION: 10]
--> select (1 => ERROR 42601: syntax error at or near ";" [POSITION: 10]
--> select 1) => ERROR 42601: syntax error at or near ")" [POSITION: 9]
--> select 'abc => ERROR 42601: unterminated quoted string at or near "'abc;" [POSITION: 8]
--> select "abc => ERROR 42601: unterminated quoted identifier at or near ""abc;" [POSITION: 8]
--> select 1; select 2 2 => ERROR 42601: syntax error at or near "2" [POSITION: 20]
--> insert thing values (1) => ERROR 42601: syntax error at or near "thing" [POSITION: 8]
--> insert into thing value (1) => ERROR 42601: syntax error at or near "value" [POSITION: 19]
--> update thing n = 1 => ERROR 42601: syntax error at or near "=" [POSITION: 16]
--> delete thing => ERROR 42601: syntax error at or near "thing" [POSITION: 8]
--> create tabel x (a int) => ERROR 42601: syntax error at or near "tabel" [POSITION: 8]
--> create table x (a) => ERROR 42601: syntax error at or near ";" [POSITION: 19]
--> create table x (a int,) => ERROR 42601: syntax error at or near ")" [POSITION: 23]
--> select * from thing where => ERROR 42601: syntax error at or near ";" [POSITION: 26]
--> select * from thing group => ERROR 42601: syntax error at or near ";" [POSITION: 26]
--> select * from thing order id => ERROR 42601: syntax error at or near "id" [POSITION: 27]
--> select case when 1 then => ERROR 42601: syntax error at or near ";" [POSITION: 24]
--> select case end => ERROR 42601: syntax error at or near "end" [POSITION: 13]
--: in integer
--> select 1 in => 1
--> select not => ERROR 42601: syntax error at or near ";" [POSITION: 11]
--> select between 1 and 2 => ERROR 42601: syntax error at or near "1" [POSITION: 16]
--> select 1 + => ERROR 42601: syntax error at or near ";" [POSITION: 11]
--> select * from (select 1 => ERROR 42601: syntax error at or near ";" [POSITION: 24]
--> select a.b.c.d.e from thing => ERROR 42601: improper qualified name (too many dotted names): a.b.c.d.e [POSITION: 8]
--> select 1 limit => ERROR 42601: syntax error at or near ";" [POSITION: 15]
--> select :x => ERROR 42601: syntax error at or near ":" [POSITION: 8]
--> select @ => ERROR 42601: syntax error at or near ";" [POSITION: 9]
--> select 1 = = 2 => ERROR 42601: syntax error at or near "=" [POSITION: 12]
--> select array[1,2 => ERROR 42601: syntax error at or near ";" [POSITION: 17]
--> select '1'::int:: => ERROR 42601: syntax error at or near ";" [POSITION: 18]
--> select cast(1 int) => ERROR 42601: syntax error at or near "int" [POSITION: 15]
--> select extract(foo 1) => ERROR 42601: syntax error at or near "1" [POSITION: 20]
--> with select 1 => ERROR 42601: syntax error at or near "select" [POSITION: 6]
--> select distinct on from thing => ERROR 42601: syntax error at or near "from" [POSITION: 20]
--> begin work now => ERROR 42601: syntax error at or near "now" [POSITION: 12]
--> rollback to => ERROR 42601: syntax error at or near ";" [POSITION: 12]
--> values => ERROR 42601: syntax error at or near ";" [POSITION: 7]
--> values (1), => ERROR 42601: syntax error at or near ";" [POSITION: 12]
--> select all distinct 1 => ERROR 42601: syntax error at or near "distinct" [POSITION: 12]
--> select * from thing, => ERROR 42601: syntax error at or near ";" [POSITION: 21]
--> grant => ERROR 42601: syntax error at or near ";" [POSITION: 6]
--> explain => ERROR 42601: syntax error at or near ";" [POSITION: 8]
--> explain selec 1 => ERROR 42601: syntax error at or near "selec" [POSITION: 9]
--> copy => ERROR 42601: syntax error at or near ";" [POSITION: 5]
--> /* unclosed => ERROR 42601: unterminated /* comment at or near "/* unclosed;" [POSITION: 1]
--: ?column? integer
--> select 1 /* nested /* comment */ */ + 1 => 2
--> select 1 -- comment => 1
--> select $1 => ERROR 42P02: there is no parameter $1 [POSITION: 8]
--> select 1.2.3 => ERROR 42601: syntax error at or near ".3" [POSITION: 11]
--> select 1e => ERROR 42601: trailing junk after numeric literal at or near "1e" [POSITION: 8]
--> select 0x1F => ERROR 42601: trailing junk after numeric literal at or near "0x1F" [POSITION: 8]
--> select 1_000 => ERROR 42601: trailing junk after numeric literal at or near "1_000" [POSITION: 8]
--> select U&'\zzzz' => ERROR 42601: invalid Unicode escape [HINT: Unicode escapes must be \XXXX or \+XXXXXX.] [POSITION: 11]
--> select E'\u12' => ERROR 22025: invalid Unicode escape [HINT: Unicode escapes must be \uXXXX or \UXXXXXXXX.] [POSITION: 10]
--> select B'102' => ERROR 22P02: "2" is not a valid binary digit [POSITION: 8]
--> select X'0G' => ERROR 22P02: "G" is not a valid hexadecimal digit [POSITION: 8]

-- ## Values that do not fit

-- each q: select 'abc'::int | select '1.5'::int | select '99999999999'::int | select ''::int | select 'x'::bool | select 'x'::date | select '2024-02-30'::date | select 'x'::timestamp | select '25:00'::time | select 'x'::interval | select 'x'::numeric | select 'x'::float8 | select '1e999'::float8 | select 'x'::uuid | select '{'::json | select '{1'::int[] | select '{x}'::int[] | select 'x'::bytea | select '\xZZ'::bytea | select 2147483647 + 1 | select 1 / 0 | select 1 % 0 | select 1.0 / 0 | select 1::float8 / 0 | select 0::float8 / 0 | select sqrt(-1) | select ln(0) | select power(0, -1) | select 9999.99::numeric(5,2) | select 'toolong'::varchar(3) | select 32768::int2 | select 3e10::int | select 1e400::float8 | select date '2024-01-01' + 'x' | select 'abc' + 1 | select 'abc' + 'def' | select true + true | select date '2024-01-01' + date '2024-01-01' | select 1 = 'x' | select 1 = true | select '1' = 1 | select null + null | select array[1] + 1 | select row(1) + 1 | select 1 || 2 | select 'a' and true | select not 5 | select 1 is true | select case when 'x' then 1 end | select 1 like 'a' | select 1 between 'a' and 'b' | select coalesce(1, 'x') | select greatest(1, 'x') | select array[1, 'x'] | select (values (1), ('x')) | select 1 union select 'x' | select chr(-1) | select repeat('x', -1) | select substring('abc', 1, -1) | select lpad('x', 1000000000) | select generate_series(1, 10, 0) | select to_date('x', 'YYYY') | select make_date(2024, 13, 1) | select interval '1 day' * 'x' | select extract(foo from now()) | select extract(hour from date '2024-01-01') | select date_trunc('foo', now()) | select now() at time zone 'nowhere' | select 'x' ~ '(' | select 'x' like 'a\' | select encode('x', 'foo') | select decode('x', 'hex') | select (array[1,2])['x'] | select array[[1],[2,3]] | select jsonb '1' -> 'a' | select '{"a":1}'::jsonb + 1 | select (select 1, 2) | select (select id from thing) | select 1 where 1 | select 1 limit 'x' | select 1 limit -1 | select count(*) where count(*) > 1 | select sum('x') | select avg(true) | select max(row(1)) | select percentile_cont(2) within group (order by 1) | select nullif(1, 'x') | select int 'x' | select '5 days'::interval::int | select 5::bool::date | select 1::text::date | select 'NaN'::int | select 'infinity'::numeric::int | select '2024-01-01'::date::int | select gen_random_uuid()::int | select overlay('abc' placing 'x' from -1) | select split_part('a', ',', 0) | select width_bucket(1, 1, 1, 5) | select ntile(0) over () | select setseed(5) | select factorial(-5) | select 1 << 100 | select bit_and('x') | select regexp_replace('a', '[', 'b') | select format('%z', 1) | select string_agg(1, 2) | select array_fill(1, null) | select unnest(1) | select cardinality(1) | select json_object('{a}') | select to_char(1, 1) | select lower(1) | select length(1) | select upper(null) || 1
{q};
--> select 'abc'::int => ERROR 22P02: invalid input syntax for type integer: "abc" [POSITION: 8]
--> select '1.5'::int => ERROR 22P02: invalid input syntax for type integer: "1.5" [POSITION: 8]
--> select '99999999999'::int => ERROR 22003: value "99999999999" is out of range for type integer [POSITION: 8]
--> select ''::int => ERROR 22P02: invalid input syntax for type integer: "" [POSITION: 8]
--> select 'x'::bool => ERROR 22P02: invalid input syntax for type boolean: "x" [POSITION: 8]
--> select 'x'::date => ERROR 22007: invalid input syntax for type date: "x" [POSITION: 8]
--> select '2024-02-30'::date => ERROR 22008: date/time field value out of range: "2024-02-30" [POSITION: 8]
--> select 'x'::timestamp => ERROR 22007: invalid input syntax for type timestamp: "x" [POSITION: 8]
--> select '25:00'::time => ERROR 22008: date/time field value out of range: "25:00" [POSITION: 8]
--> select 'x'::interval => ERROR 22007: invalid input syntax for type interval: "x" [POSITION: 8]
--> select 'x'::numeric => ERROR 22P02: invalid input syntax for type numeric: "x" [POSITION: 8]
--> select 'x'::float8 => ERROR 22P02: invalid input syntax for type double precision: "x" [POSITION: 8]
--> select '1e999'::float8 => ERROR 22003: "1e999" is out of range for type double precision [POSITION: 8]
--> select 'x'::uuid => ERROR 22P02: invalid input syntax for type uuid: "x" [POSITION: 8]
--> select '{'::json => ERROR 22P02: invalid input syntax for type json [DETAIL: The input string ended unexpectedly.] [POSITION: 8]
--> select '{1'::int[] => ERROR 22P02: malformed array literal: "{1" [DETAIL: Unexpected end of input.] [POSITION: 8]
--> select '{x}'::int[] => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 8]
--: bytea bytea
--> select 'x'::bytea => \x78
--> select '\xZZ'::bytea => ERROR 22023: invalid hexadecimal digit: "Z" [POSITION: 8]
--> select 2147483647 + 1 => ERROR 22003: integer out of range
--> select 1 / 0 => ERROR 22012: division by zero
--> select 1 % 0 => ERROR 22012: division by zero
--> select 1.0 / 0 => ERROR 22012: division by zero
--> select 1::float8 / 0 => ERROR 22012: division by zero
--> select 0::float8 / 0 => ERROR 22012: division by zero
--> select sqrt(-1) => ERROR 2201F: cannot take square root of a negative number
--> select ln(0) => ERROR 2201E: cannot take logarithm of zero
--> select power(0, -1) => ERROR 2201F: zero raised to a negative power is undefined
--> select 9999.99::numeric(5,2) => ERROR 22003: numeric field overflow [DETAIL: A field with precision 5, scale 2 must round to an absolute value less than 10^3.]
--: varchar character varying(7)
--> select 'toolong'::varchar(3) => too
--> select 32768::int2 => ERROR 22003: smallint out of range
--> select 3e10::int => ERROR 22003: integer out of range
--> select 1e400::float8 => ERROR 22003: "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" is out of range for type double precision
--> select date '2024-01-01' + 'x' => ERROR 42725: operator is not unique: date + unknown [HINT: Could not choose a best candidate operator. You might need to add explicit type casts.] [POSITION: 26]
--> select 'abc' + 1 => ERROR 22P02: invalid input syntax for type integer: "abc" [POSITION: 8]
--> select 'abc' + 'def' => ERROR 42725: operator is not unique: unknown + unknown [HINT: Could not choose a best candidate operator. You might need to add explicit type casts.] [POSITION: 14]
--> select true + true => ERROR 42883: operator does not exist: boolean + boolean [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 13]
--> select date '2024-01-01' + date '2024-01-01' => ERROR 42883: operator does not exist: date + date [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 26]
--> select 1 = 'x' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 12]
--> select 1 = true => ERROR 42883: operator does not exist: integer = boolean [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
--: ?column? boolean
--> select '1' = 1 => t
--> select null + null => ERROR 42725: operator is not unique: unknown + unknown [HINT: Could not choose a best candidate operator. You might need to add explicit type casts.] [POSITION: 13]
--> select array[1] + 1 => ERROR 42883: operator does not exist: integer[] + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 17]
--> select row(1) + 1 => ERROR 42883: operator does not exist: record + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 15]
--> select 1 || 2 => ERROR 42883: operator does not exist: integer || integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
--> select 'a' and true => ERROR 22P02: invalid input syntax for type boolean: "a" [POSITION: 8]
--> select not 5 => ERROR 42804: argument of NOT must be type boolean, not type integer [POSITION: 12]
--> select 1 is true => ERROR 42804: argument of IS TRUE must be type boolean, not type integer [POSITION: 8]
--> select case when 'x' then 1 end => ERROR 22P02: invalid input syntax for type boolean: "x" [POSITION: 18]
--> select 1 like 'a' => ERROR 42883: operator does not exist: integer ~~ unknown [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
--> select 1 between 'a' and 'b' => ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 18]
--> select coalesce(1, 'x') => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 20]
--> select greatest(1, 'x') => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 20]
--> select array[1, 'x'] => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 17]
--> select (values (1), ('x')) => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 22]
--> select 1 union select 'x' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 23]
--> select chr(-1) => ERROR 22023: character number must be positive
--: repeat text
--> select repeat('x', -1) => ""
--> select substring('abc', 1, -1) => ERROR 22011: negative substring length not allowed
--> select lpad('x', 1000000000) => ERROR 54000: requested length too large
--> select generate_series(1, 10, 0) => ERROR 22023: step size cannot equal zero
--> select to_date('x', 'YYYY') => ERROR 22007: invalid value "x" for "YYYY" [DETAIL: Value must be an integer.]
--> select make_date(2024, 13, 1) => ERROR 22008: date field value out of range: 2024-13-01
--> select interval '1 day' * 'x' => ERROR 22P02: invalid input syntax for type double precision: "x" [POSITION: 27]
--> select extract(foo from now()) => ERROR 22023: unit "foo" not recognized for type timestamp with time zone
--> select extract(hour from date '2024-01-01') => ERROR 0A000: unit "hour" not supported for type date
--> select date_trunc('foo', now()) => ERROR 22023: unit "foo" not recognized for type timestamp with time zone
--> select now() at time zone 'nowhere' => ERROR 22023: time zone "nowhere" not recognized
--> select 'x' ~ '(' => ERROR 2201B: invalid regular expression: parentheses () not balanced
--: ?column? boolean
--> select 'x' like 'a\' => f
--> select encode('x', 'foo') => ERROR 22023: unrecognized encoding: "foo"
--> select decode('x', 'hex') => ERROR 22023: invalid hexadecimal digit: "x"
--> select (array[1,2])['x'] => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 21]
--> select array[[1],[2,3]] => ERROR 2202E: multidimensional arrays must have array expressions with matching dimensions
--: ?column? jsonb
--> select jsonb '1' -> 'a' => ∅
--> select '{"a":1}'::jsonb + 1 => ERROR 42883: operator does not exist: jsonb + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 25]
--> select (select 1, 2) => ERROR 42601: subquery must return only one column [POSITION: 8]
--> select (select id from thing) => ERROR 21000: more than one row returned by a subquery used as an expression
--> select 1 where 1 => ERROR 42804: argument of WHERE must be type boolean, not type integer [POSITION: 16]
--> select 1 limit 'x' => ERROR 22P02: invalid input syntax for type bigint: "x" [POSITION: 16]
--> select 1 limit -1 => ERROR 2201W: LIMIT must not be negative
--> select count(*) where count(*) > 1 => ERROR 42803: aggregate functions are not allowed in WHERE [POSITION: 23]
--> select sum('x') => ERROR 42725: function sum(unknown) is not unique [HINT: Could not choose a best candidate function. You might need to add explicit type casts.] [POSITION: 8]
--> select avg(true) => ERROR 42883: function avg(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select max(row(1)) => ERROR 42883: function max(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select percentile_cont(2) within group (order by 1) => ERROR 22003: percentile value 2 is not between 0 and 1
--> select nullif(1, 'x') => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 18]
--> select int 'x' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 12]
--> select '5 days'::interval::int => ERROR 42846: cannot cast type interval to integer [POSITION: 26]
--> select 5::bool::date => ERROR 42846: cannot cast type boolean to date [POSITION: 15]
--> select 1::text::date => ERROR 22007: invalid input syntax for type date: "1"
--> select 'NaN'::int => ERROR 22P02: invalid input syntax for type integer: "NaN" [POSITION: 8]
--> select 'infinity'::numeric::int => ERROR 0A000: cannot convert infinity to integer
--> select '2024-01-01'::date::int => ERROR 42846: cannot cast type date to integer [POSITION: 26]
--> select gen_random_uuid()::int => ERROR 42846: cannot cast type uuid to integer [POSITION: 25]
--> select overlay('abc' placing 'x' from -1) => ERROR 22011: negative substring length not allowed
--> select split_part('a', ',', 0) => ERROR 22023: field position must not be zero
--> select width_bucket(1, 1, 1, 5) => ERROR 2201G: lower bound cannot equal upper bound
--> select ntile(0) over () => ERROR 22014: argument of ntile must be greater than zero
--> select setseed(5) => ERROR 22023: setseed parameter 5 is out of allowed range [-1,1]
--> select factorial(-5) => ERROR 22003: factorial of a negative number is undefined
--: ?column? integer
--> select 1 << 100 => 16
--> select bit_and('x') => ERROR 42725: function bit_and(unknown) is not unique [HINT: Could not choose a best candidate function. You might need to add explicit type casts.] [POSITION: 8]
--> select regexp_replace('a', '[', 'b') => ERROR 2201B: invalid regular expression: brackets [] not balanced
--> select format('%z', 1) => ERROR 22023: unrecognized format() type specifier "z" [HINT: For a single "%" use "%%".]
--> select string_agg(1, 2) => ERROR 42883: function string_agg(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select array_fill(1, null) => ERROR 22004: dimension array or low bound array cannot be null
--> select unnest(1) => ERROR 42883: function unnest(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select cardinality(1) => ERROR 42883: function cardinality(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select json_object('{a}') => ERROR 2202E: array must have even number of elements
--> select to_char(1, 1) => ERROR 42883: function to_char(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select lower(1) => ERROR 42883: function lower(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> select length(1) => ERROR 42883: function length(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: ?column? text
--> select upper(null) || 1 => ∅

-- ## Depth

-- each n: 10 | 200
select length(repeat('(', {n}) || '1' || repeat(')', {n}));
--: length integer
--> 10 => 21
--> 200 => 401
select ((((((((((((((((((((1))))))))))))))))))));
--: ?column? integer
--> 1
select 1 + (2 + (3 + (4 + (5 + (6 + (7 + (8 + (9 + 10))))))));
--: ?column? integer
--> 55

-- ## Transactions and errors

begin;
select 1 / 0;
--> ERROR 22012: division by zero
select 1;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
savepoint s;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
rollback to s;
--> ERROR 3B001: savepoint "s" does not exist
commit;
--> ROLLBACK
begin;
savepoint a;
insert into thing values (1, 'dup');
--> ERROR 23505: duplicate key value violates unique constraint "thing_pkey" [DETAIL: Key (id)=(1) already exists.]
rollback to a;
insert into thing values (3, 'c') returning id;
--: id integer
--> 3
--> INSERT 0 1
release a;
release a;
--> ERROR 3B001: savepoint "a" does not exist
rollback to a;
--> ERROR 3B001: savepoint "a" does not exist
rollback;
select count(*) from thing;
--: count bigint
--> 2
commit;
--> WARNING 25P01: there is no transaction in progress
rollback;
--> WARNING 25P01: there is no transaction in progress
begin;
begin;
--> WARNING 25001: there is already a transaction in progress
commit;
savepoint x;
--> ERROR 25P01: SAVEPOINT can only be used in transaction blocks
release x;
--> ERROR 25P01: RELEASE SAVEPOINT can only be used in transaction blocks
begin isolation level nonsense;
--> ERROR 42601: syntax error at or near "nonsense" [POSITION: 23]
begin read only;
insert into thing values (9, 'x');
--> ERROR 25006: cannot execute INSERT in a read-only transaction
rollback;
start transaction isolation level repeatable read, read only;
show transaction_read_only;
--: transaction_read_only text
--> on
commit;
set transaction isolation level serializable;
--> WARNING 25P01: SET TRANSACTION can only be used in transaction blocks
prepare p (int) as select $1 + 1;
execute p (5);
--: ?column? integer
--> 6
execute p;
--> ERROR 42601: wrong number of parameters for prepared statement "p" [DETAIL: Expected 1 parameters but got 0.]
execute p ('x');
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 12]
prepare p as select 1;
--> ERROR 42P05: prepared statement "p" already exists
deallocate p;
execute p (1);
--> ERROR 26000: prepared statement "p" does not exist
prepare q as select $1;
prepare r as select $1 + $2::int;
prepare s as select nosuch;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 21]
deallocate all;
lock table nosuch;
--> ERROR 25P01: LOCK TABLE can only be used in transaction blocks
lock table thing;
--> ERROR 25P01: LOCK TABLE can only be used in transaction blocks
drop table thing;

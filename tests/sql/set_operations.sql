-- # UNION, INTERSECT, EXCEPT: sections 7.4 and 10.5

-- each op: union | union all | intersect | intersect all | except | except all | union distinct
-- each a ~ b: (values (1), (2), (2), (3), (null)) ~ (values (2), (2), (2), (4), (null)) | select 1, 'a' ~ select 1, 'a' | select 1 where false ~ select 2 | (select 3 union all select 3) ~ (select 3) | select 1 ~ select 2.5 | select 'a' ~ select 'b'::varchar(3) | select null ~ select 5 | select null ~ select null | select '2' ~ select 2 | select date '2024-01-01' ~ select timestamp '2024-01-01'
{a} {op} {b} order by 1;
--: column1 integer
--> union, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 1 / 2 / 3 / 4 / ∅
--: ?column? integer | ?column? text
--> union, select 1, 'a', select 1, 'a' => 1 | a
--: ?column? integer
--> union, select 1 where false, select 2 => 2
--> union, (select 3 union all select 3), (select 3) => 3
--: ?column? numeric
--> union, select 1, select 2.5 => 1 / 2.5
--: ?column? character varying
--> union, select 'a', select 'b'::varchar(3) => a / b
--: ?column? integer
--> union, select null, select 5 => 5 / ∅
--: ?column? text
--> union, select null, select null => ∅
--: ?column? integer
--> union, select '2', select 2 => 2
--: date timestamp without time zone
--> union, select date '2024-01-01', select timestamp '2024-01-01' => 2024-01-01 00:00:00
--: column1 integer
--> union all, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 1 / 2 / 2 / 2 / 2 / 2 / 3 / 4 / ∅ / ∅
--: ?column? integer | ?column? text
--> union all, select 1, 'a', select 1, 'a' => 1 | a / 1 | a
--: ?column? integer
--> union all, select 1 where false, select 2 => 2
--> union all, (select 3 union all select 3), (select 3) => 3 / 3 / 3
--: ?column? numeric
--> union all, select 1, select 2.5 => 1 / 2.5
--: ?column? character varying
--> union all, select 'a', select 'b'::varchar(3) => a / b
--: ?column? integer
--> union all, select null, select 5 => 5 / ∅
--: ?column? text
--> union all, select null, select null => ∅ / ∅
--: ?column? integer
--> union all, select '2', select 2 => 2 / 2
--: date timestamp without time zone
--> union all, select date '2024-01-01', select timestamp '2024-01-01' => 2024-01-01 00:00:00 / 2024-01-01 00:00:00
--: column1 integer
--> intersect, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 2 / ∅
--: ?column? integer | ?column? text
--> intersect, select 1, 'a', select 1, 'a' => 1 | a
--: ?column? integer
--> intersect, select 1 where false, select 2 =>
--> intersect, (select 3 union all select 3), (select 3) => 3
--: ?column? numeric
--> intersect, select 1, select 2.5 =>
--: ?column? character varying
--> intersect, select 'a', select 'b'::varchar(3) =>
--: ?column? integer
--> intersect, select null, select 5 =>
--: ?column? text
--> intersect, select null, select null => ∅
--: ?column? integer
--> intersect, select '2', select 2 => 2
--: date timestamp without time zone
--> intersect, select date '2024-01-01', select timestamp '2024-01-01' => 2024-01-01 00:00:00
--: column1 integer
--> intersect all, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 2 / 2 / ∅
--: ?column? integer | ?column? text
--> intersect all, select 1, 'a', select 1, 'a' => 1 | a
--: ?column? integer
--> intersect all, select 1 where false, select 2 =>
--> intersect all, (select 3 union all select 3), (select 3) => 3
--: ?column? numeric
--> intersect all, select 1, select 2.5 =>
--: ?column? character varying
--> intersect all, select 'a', select 'b'::varchar(3) =>
--: ?column? integer
--> intersect all, select null, select 5 =>
--: ?column? text
--> intersect all, select null, select null => ∅
--: ?column? integer
--> intersect all, select '2', select 2 => 2
--: date timestamp without time zone
--> intersect all, select date '2024-01-01', select timestamp '2024-01-01' => 2024-01-01 00:00:00
--: column1 integer
--> except, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 1 / 3
--: ?column? integer | ?column? text
--> except, select 1, 'a', select 1, 'a' =>
--: ?column? integer
--> except, select 1 where false, select 2 =>
--> except, (select 3 union all select 3), (select 3) =>
--: ?column? numeric
--> except, select 1, select 2.5 => 1
--: ?column? character varying
--> except, select 'a', select 'b'::varchar(3) => a
--: ?column? integer
--> except, select null, select 5 => ∅
--: ?column? text
--> except, select null, select null =>
--: ?column? integer
--> except, select '2', select 2 =>
--: date timestamp without time zone
--> except, select date '2024-01-01', select timestamp '2024-01-01' =>
--: column1 integer
--> except all, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 1 / 3
--: ?column? integer | ?column? text
--> except all, select 1, 'a', select 1, 'a' =>
--: ?column? integer
--> except all, select 1 where false, select 2 =>
--> except all, (select 3 union all select 3), (select 3) => 3
--: ?column? numeric
--> except all, select 1, select 2.5 => 1
--: ?column? character varying
--> except all, select 'a', select 'b'::varchar(3) => a
--: ?column? integer
--> except all, select null, select 5 => ∅
--: ?column? text
--> except all, select null, select null =>
--: ?column? integer
--> except all, select '2', select 2 =>
--: date timestamp without time zone
--> except all, select date '2024-01-01', select timestamp '2024-01-01' =>
--: column1 integer
--> union distinct, (values (1), (2), (2), (3), (null)), (values (2), (2), (2), (4), (null)) => 1 / 2 / 3 / 4 / ∅
--: ?column? integer | ?column? text
--> union distinct, select 1, 'a', select 1, 'a' => 1 | a
--: ?column? integer
--> union distinct, select 1 where false, select 2 => 2
--> union distinct, (select 3 union all select 3), (select 3) => 3
--: ?column? numeric
--> union distinct, select 1, select 2.5 => 1 / 2.5
--: ?column? character varying
--> union distinct, select 'a', select 'b'::varchar(3) => a / b
--: ?column? integer
--> union distinct, select null, select 5 => 5 / ∅
--: ?column? text
--> union distinct, select null, select null => ∅
--: ?column? integer
--> union distinct, select '2', select 2 => 2
--: date timestamp without time zone
--> union distinct, select date '2024-01-01', select timestamp '2024-01-01' => 2024-01-01 00:00:00
select 1 union select 2 intersect select 2 order by 1;
--: ?column? integer
--> 1
--> 2
(select 1 union select 2) intersect select 2;
--: ?column? integer
--> 2
select 1 except select 1 union select 3;
--: ?column? integer
--> 3
select 1 except (select 1 union select 3);
--: ?column? integer
select 1 union all select 1 except all select 1;
--: ?column? integer
--> 1
select 1 as a union select 2 as b order by a;
--: a integer
--> 1
--> 2
select 1 as a union select 2 as b order by b;
--> ERROR 42703: column "b" does not exist [HINT: There is a column named "b" in table "*SELECT* 2", but it cannot be referenced from this part of the query.] [POSITION: 44]
select 1 as a, 2 union select 3, 4 order by 2 desc, a;
--: a integer | ?column? integer
--> 3 | 4
--> 1 | 2
(select 2 as n order by 1 limit 1) union all (select 1 order by 1 limit 1);
--: n integer
--> 2
--> 1
select n from generate_series(1, 5) n union all select 0 order by n desc limit 3 offset 1;
--: n integer
--> 4
--> 3
--> 2
(select 1 union select 2) order by 1 desc limit 1;
--: ?column? integer
--> 2
select * from (select 1 as x union all select 2) t where x > 1;
--: x integer
--> 2
select x, count(*) from (select 1 as x union all select 1 union all select 2) t group by x order by x;
--: x integer | count bigint
--> 1 | 2
--> 2 | 1
select 1 in (select 1 union select 2), exists (select 1 intersect select 2), array(select 1 union select 2 order by 1), (select 3 except select 2);
--: ?column? boolean | exists boolean | array integer[] | ?column? integer
--> t | f | {1,2} | 3
values (1, 'a'), (2, 'b') union all select 3, 'c' order by 1 desc;
--: column1 integer | column2 text
--> 3 | c
--> 2 | b
--> 1 | a
select array[1] union select array[2] order by 1;
--: array integer[]
--> {1}
--> {2}
select row(1, 'a') union select row(1, 'a');
--> ERROR 42883: could not identify a comparison function for type unknown
select '{"a":1}'::jsonb union select '{"a": 1}'::jsonb;
--: jsonb jsonb
--> {"a": 1}
select 1 union select 2 for update;
--> ERROR 0A000: FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT
select * from (select 1 as a, 2 as b) t union select 3, 4 order by 1;
--: a integer | b integer
--> 1 | 2
--> 3 | 4
select 1, 2 union select 1;
--> ERROR 42601: each UNION query must have the same number of columns [POSITION: 26]
select 1 union select 'a';
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 23]
select 1 union select true;
--> ERROR 42804: UNION types integer and boolean cannot be matched [POSITION: 23]
select array[1] union select 1;
--> ERROR 42804: UNION types integer[] and integer cannot be matched [POSITION: 30]
select '{}'::json union select '{}'::json;
--> ERROR 42883: could not identify an equality operator for type json [POSITION: 8]
select '{}'::json union all select '{}'::json;
--: json json
--> {}
--> {}
select 1 union select 2 order by x;
--> ERROR 42703: column "x" does not exist [POSITION: 34]
select 1 as a union select 2 order by a + 1;
--> ERROR 0A000: invalid UNION/INTERSECT/EXCEPT ORDER BY clause [DETAIL: Only result column names can be used, not expressions or functions.] [HINT: Add the expression/function to every SELECT, or move the UNION into a FROM clause.] [POSITION: 39]
select 1 as a union select 2 order by 2;
--> ERROR 42P10: ORDER BY position 2 is not in select list [POSITION: 39]
select 1 limit 1 union select 2;
--> ERROR 42601: syntax error at or near "union" [POSITION: 18]
select 1 order by 1 union select 2;
--> ERROR 42601: syntax error at or near "union" [POSITION: 21]
select 'x' as a union select 'y' order by upper(a);
--> ERROR 0A000: invalid UNION/INTERSECT/EXCEPT ORDER BY clause [DETAIL: Only result column names can be used, not expressions or functions.] [HINT: Add the expression/function to every SELECT, or move the UNION into a FROM clause.] [POSITION: 43]
select nosuch union select 1;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 8]
-- each t: int2 | int4 | int8 | numeric | float4 | float8 | text | varchar | bpchar | name | date | timestamp | timestamptz | bool | interval | json | uuid | bytea
-- each u: int4 | int8 | float8 | text | timestamptz | name
select null::{t} as x union all select null::{u};
--: x integer
--> int2, int4 => ∅ / ∅
--: x bigint
--> int2, int8 => ∅ / ∅
--: x double precision
--> int2, float8 => ∅ / ∅
--> int2, text => ERROR 42804: UNION types smallint and text cannot be matched [POSITION: 41]
--> int2, timestamptz => ERROR 42804: UNION types smallint and timestamp with time zone cannot be matched [POSITION: 41]
--> int2, name => ERROR 42804: UNION types smallint and name cannot be matched [POSITION: 41]
--: x integer
--> int4, int4 => ∅ / ∅
--: x bigint
--> int4, int8 => ∅ / ∅
--: x double precision
--> int4, float8 => ∅ / ∅
--> int4, text => ERROR 42804: UNION types integer and text cannot be matched [POSITION: 41]
--> int4, timestamptz => ERROR 42804: UNION types integer and timestamp with time zone cannot be matched [POSITION: 41]
--> int4, name => ERROR 42804: UNION types integer and name cannot be matched [POSITION: 41]
--: x bigint
--> int8, int4 => ∅ / ∅
--> int8, int8 => ∅ / ∅
--: x double precision
--> int8, float8 => ∅ / ∅
--> int8, text => ERROR 42804: UNION types bigint and text cannot be matched [POSITION: 41]
--> int8, timestamptz => ERROR 42804: UNION types bigint and timestamp with time zone cannot be matched [POSITION: 41]
--> int8, name => ERROR 42804: UNION types bigint and name cannot be matched [POSITION: 41]
--: x numeric
--> numeric, int4 => ∅ / ∅
--> numeric, int8 => ∅ / ∅
--: x double precision
--> numeric, float8 => ∅ / ∅
--> numeric, text => ERROR 42804: UNION types numeric and text cannot be matched [POSITION: 44]
--> numeric, timestamptz => ERROR 42804: UNION types numeric and timestamp with time zone cannot be matched [POSITION: 44]
--> numeric, name => ERROR 42804: UNION types numeric and name cannot be matched [POSITION: 44]
--: x real
--> float4, int4 => ∅ / ∅
--> float4, int8 => ∅ / ∅
--: x double precision
--> float4, float8 => ∅ / ∅
--> float4, text => ERROR 42804: UNION types real and text cannot be matched [POSITION: 43]
--> float4, timestamptz => ERROR 42804: UNION types real and timestamp with time zone cannot be matched [POSITION: 43]
--> float4, name => ERROR 42804: UNION types real and name cannot be matched [POSITION: 43]
--> float8, int4 => ∅ / ∅
--> float8, int8 => ∅ / ∅
--> float8, float8 => ∅ / ∅
--> float8, text => ERROR 42804: UNION types double precision and text cannot be matched [POSITION: 43]
--> float8, timestamptz => ERROR 42804: UNION types double precision and timestamp with time zone cannot be matched [POSITION: 43]
--> float8, name => ERROR 42804: UNION types double precision and name cannot be matched [POSITION: 43]
--> text, int4 => ERROR 42804: UNION types text and integer cannot be matched [POSITION: 41]
--> text, int8 => ERROR 42804: UNION types text and bigint cannot be matched [POSITION: 41]
--> text, float8 => ERROR 42804: UNION types text and double precision cannot be matched [POSITION: 41]
--: x text
--> text, text => ∅ / ∅
--> text, timestamptz => ERROR 42804: UNION types text and timestamp with time zone cannot be matched [POSITION: 41]
--> text, name => ∅ / ∅
--> varchar, int4 => ERROR 42804: UNION types character varying and integer cannot be matched [POSITION: 44]
--> varchar, int8 => ERROR 42804: UNION types character varying and bigint cannot be matched [POSITION: 44]
--> varchar, float8 => ERROR 42804: UNION types character varying and double precision cannot be matched [POSITION: 44]
--: x character varying
--> varchar, text => ∅ / ∅
--> varchar, timestamptz => ERROR 42804: UNION types character varying and timestamp with time zone cannot be matched [POSITION: 44]
--: x name
--> varchar, name => ∅ / ∅
--> bpchar, int4 => ERROR 42804: UNION types character and integer cannot be matched [POSITION: 43]
--> bpchar, int8 => ERROR 42804: UNION types character and bigint cannot be matched [POSITION: 43]
--> bpchar, float8 => ERROR 42804: UNION types character and double precision cannot be matched [POSITION: 43]
--: x character
--> bpchar, text => ∅ / ∅
--> bpchar, timestamptz => ERROR 42804: UNION types character and timestamp with time zone cannot be matched [POSITION: 43]
--: x name
--> bpchar, name => ∅ / ∅
--> name, int4 => ERROR 42804: UNION types name and integer cannot be matched [POSITION: 41]
--> name, int8 => ERROR 42804: UNION types name and bigint cannot be matched [POSITION: 41]
--> name, float8 => ERROR 42804: UNION types name and double precision cannot be matched [POSITION: 41]
--> name, text => ∅ / ∅
--> name, timestamptz => ERROR 42804: UNION types name and timestamp with time zone cannot be matched [POSITION: 41]
--> name, name => ∅ / ∅
--> date, int4 => ERROR 42804: UNION types date and integer cannot be matched [POSITION: 41]
--> date, int8 => ERROR 42804: UNION types date and bigint cannot be matched [POSITION: 41]
--> date, float8 => ERROR 42804: UNION types date and double precision cannot be matched [POSITION: 41]
--> date, text => ERROR 42804: UNION types date and text cannot be matched [POSITION: 41]
--: x timestamp with time zone
--> date, timestamptz => ∅ / ∅
--> date, name => ERROR 42804: UNION types date and name cannot be matched [POSITION: 41]
--> timestamp, int4 => ERROR 42804: UNION types timestamp without time zone and integer cannot be matched [POSITION: 46]
--> timestamp, int8 => ERROR 42804: UNION types timestamp without time zone and bigint cannot be matched [POSITION: 46]
--> timestamp, float8 => ERROR 42804: UNION types timestamp without time zone and double precision cannot be matched [POSITION: 46]
--> timestamp, text => ERROR 42804: UNION types timestamp without time zone and text cannot be matched [POSITION: 46]
--> timestamp, timestamptz => ∅ / ∅
--> timestamp, name => ERROR 42804: UNION types timestamp without time zone and name cannot be matched [POSITION: 46]
--> timestamptz, int4 => ERROR 42804: UNION types timestamp with time zone and integer cannot be matched [POSITION: 48]
--> timestamptz, int8 => ERROR 42804: UNION types timestamp with time zone and bigint cannot be matched [POSITION: 48]
--> timestamptz, float8 => ERROR 42804: UNION types timestamp with time zone and double precision cannot be matched [POSITION: 48]
--> timestamptz, text => ERROR 42804: UNION types timestamp with time zone and text cannot be matched [POSITION: 48]
--> timestamptz, timestamptz => ∅ / ∅
--> timestamptz, name => ERROR 42804: UNION types timestamp with time zone and name cannot be matched [POSITION: 48]
--> bool, int4 => ERROR 42804: UNION types boolean and integer cannot be matched [POSITION: 41]
--> bool, int8 => ERROR 42804: UNION types boolean and bigint cannot be matched [POSITION: 41]
--> bool, float8 => ERROR 42804: UNION types boolean and double precision cannot be matched [POSITION: 41]
--> bool, text => ERROR 42804: UNION types boolean and text cannot be matched [POSITION: 41]
--> bool, timestamptz => ERROR 42804: UNION types boolean and timestamp with time zone cannot be matched [POSITION: 41]
--> bool, name => ERROR 42804: UNION types boolean and name cannot be matched [POSITION: 41]
--> interval, int4 => ERROR 42804: UNION types interval and integer cannot be matched [POSITION: 45]
--> interval, int8 => ERROR 42804: UNION types interval and bigint cannot be matched [POSITION: 45]
--> interval, float8 => ERROR 42804: UNION types interval and double precision cannot be matched [POSITION: 45]
--> interval, text => ERROR 42804: UNION types interval and text cannot be matched [POSITION: 45]
--> interval, timestamptz => ERROR 42804: UNION types interval and timestamp with time zone cannot be matched [POSITION: 45]
--> interval, name => ERROR 42804: UNION types interval and name cannot be matched [POSITION: 45]
--> json, int4 => ERROR 42804: UNION types json and integer cannot be matched [POSITION: 41]
--> json, int8 => ERROR 42804: UNION types json and bigint cannot be matched [POSITION: 41]
--> json, float8 => ERROR 42804: UNION types json and double precision cannot be matched [POSITION: 41]
--> json, text => ERROR 42804: UNION types json and text cannot be matched [POSITION: 41]
--> json, timestamptz => ERROR 42804: UNION types json and timestamp with time zone cannot be matched [POSITION: 41]
--> json, name => ERROR 42804: UNION types json and name cannot be matched [POSITION: 41]
--> uuid, int4 => ERROR 42804: UNION types uuid and integer cannot be matched [POSITION: 41]
--> uuid, int8 => ERROR 42804: UNION types uuid and bigint cannot be matched [POSITION: 41]
--> uuid, float8 => ERROR 42804: UNION types uuid and double precision cannot be matched [POSITION: 41]
--> uuid, text => ERROR 42804: UNION types uuid and text cannot be matched [POSITION: 41]
--> uuid, timestamptz => ERROR 42804: UNION types uuid and timestamp with time zone cannot be matched [POSITION: 41]
--> uuid, name => ERROR 42804: UNION types uuid and name cannot be matched [POSITION: 41]
--> bytea, int4 => ERROR 42804: UNION types bytea and integer cannot be matched [POSITION: 42]
--> bytea, int8 => ERROR 42804: UNION types bytea and bigint cannot be matched [POSITION: 42]
--> bytea, float8 => ERROR 42804: UNION types bytea and double precision cannot be matched [POSITION: 42]
--> bytea, text => ERROR 42804: UNION types bytea and text cannot be matched [POSITION: 42]
--> bytea, timestamptz => ERROR 42804: UNION types bytea and timestamp with time zone cannot be matched [POSITION: 42]
--> bytea, name => ERROR 42804: UNION types bytea and name cannot be matched [POSITION: 42]
select null union all select null union all select 1;
--> ERROR 42804: UNION types text and integer cannot be matched [POSITION: 52]
select null union all (select null union all select 1);
--: ?column? integer
--> ∅
--> ∅
--> 1
select 1 union all select '2' union all select 3.5;
--: ?column? numeric
--> 1
--> 2
--> 3.5

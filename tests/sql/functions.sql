-- # Functions and procedures in SQL: chapters 38.3 to 38.7, CREATE FUNCTION, CALL

create table item (id int primary key, name text, price numeric, kind text);
insert into item select i, 'item ' || i, i * 10, case when i % 2 = 0 then 'even' else 'odd' end from generate_series(1, 6) i;
--> INSERT 0 6

-- ## Scalar functions, arguments by name, defaults

create function add(a int, b int default 10, c int default 100) returns int language sql immutable as 'select a + b + c';
select add(1), add(1, 2), add(1, 2, 3), add(1, c => 5), add(c => 1, a => 2), add(a := 1, b := 2);
--: add integer | add integer | add integer | add integer | add integer | add integer
--> 111 | 103 | 6 | 16 | 13 | 103
-- each args: '' | 1, 2, 3, 4 | nosuch => 1 | 1, a => 2 | a => 1, 2 | 'x'::text | null | 1.5
select add({args});
--> '' => ERROR 22P02: invalid input syntax for type integer: "" [POSITION: 12]
--> 1, 2, 3, 4 => ERROR 42883: function add(integer, integer, integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> nosuch => 1 => ERROR 42883: function add(nosuch => integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> 1, a => 2 => ERROR 42883: function add(integer, a => integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> a => 1, 2 => ERROR 42601: positional argument cannot follow named argument [POSITION: 20]
--> 'x'::text => ERROR 42883: function add(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: add integer
--> null => ∅
--> 1.5 => ERROR 42883: function add(numeric) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
create function named(i int) returns text language sql stable as $$ select name from item where id = i $$;
select id, named(id) from item where named(id) like '%4' or id = named.id order by id;
--> ERROR 42P01: missing FROM-clause entry for table "named" [POSITION: 66]
select id, named(id) from item where named(id) like '%4' or id = 1 order by id;
--: id integer | named text
--> 1 | item 1
--> 4 | item 4
create function shadow(name text) returns bigint language sql as 'select count(*) from item where name = name';
select shadow('item 1');
--: shadow bigint
--> 6
create function qualified(name text) returns bigint language sql as 'select count(*) from item where item.name = qualified.name';
select qualified('item 1');
--: qualified bigint
--> 1
create function positional(int, text) returns text language sql as $$ select $2 || $1 $$;
select positional(1, 'x');
--: positional text
--> x1
create function twice(n int) returns int return n * 2;
select twice(4), twice(twice(2));
--: twice integer | twice integer
--> 8 | 8
create function last_of(n int) returns int begin atomic select n + 1; select n + 2; end;
select last_of(4);
--: last_of integer
--> 6
create function strict_one(a int, b int) returns int strict language sql as 'select 1';
select strict_one(1, null), strict_one(1, 2);
--: strict_one integer | strict_one integer
--> ∅ | 1
create function no_rows() returns text language sql as 'select name from item where false';
select no_rows() is null;
--: ?column? boolean
--> t
create function nothing() returns void language sql as 'select 1';
select nothing();
--: nothing void
--> ∅
create function fact(n int) returns numeric language sql as 'select case when n <= 1 then 1 else n * fact(n - 1) end';
select fact(5), fact(20), fact(0);
--: fact numeric | fact numeric | fact numeric
--> 120 | 2432902008176640000 | 1
create function endless(n int) returns int language sql as 'select endless(n + 1) + 1';
create function rnd() returns float8 language sql volatile as 'select random()';
select count(distinct rnd()) > 1 from generate_series(1, 10);
--: ?column? boolean
--> t
create function dup(n float8) returns bool language sql as 'select n = n';
select bool_and(dup(random())) from generate_series(1, 10);
--: bool_and boolean
--> t

-- ## Sets, rows and tables

create function ids(lowest int) returns setof int language sql as 'select id from item where id >= lowest order by id';
select ids(5);
--: ids integer
--> 5
--> 6
select * from ids(5);
--: ids integer
--> 5
--> 6
select * from ids(5) x;
--: x integer
--> 5
--> 6
select x + 1 from ids(5) as t (x);
--: ?column? integer
--> 6
--> 7
select * from ids(5) with ordinality as t (x, n);
--: x integer | n bigint
--> 5 | 1
--> 6 | 2
create function cheap(most numeric) returns setof item language sql stable as 'select * from item where price <= most order by id';
select * from cheap(20);
--: id integer | name text | price numeric | kind text
--> 1 | item 1 | 10 | odd
--> 2 | item 2 | 20 | even
select name from cheap(50) where kind = 'odd' and id > 1;
--: name text
--> item 3
--> item 5
select cheap(20);
--: cheap user type
--> (1,"item 1",10,odd)
--> (2,"item 2",20,even)
select (cheap(20)).name;
--: name text
--> item 1
--> item 2
create function pairs(lowest int) returns table (k int, v text) language sql as 'select id, name from item where id >= lowest order by id';
select * from pairs(5);
--: k integer | v text
--> 5 | item 5
--> 6 | item 6
select i.id, p.* from item i, lateral pairs(i.id) p where i.id > 4 order by 1, 2;
--: id integer | k integer | v text
--> 5 | 5 | item 5
--> 5 | 6 | item 6
--> 6 | 6 | item 6
select i.id, p.v from item i left join lateral pairs(i.id + 5) p on true where i.id < 3 order by 1, 2;
--: id integer | v text
--> 1 | item 6
--> 2 | ∅
select k, count(*) from pairs(3) group by k having k > 4 order by k;
--: k integer | count bigint
--> 5 | 1
--> 6 | 1
create function one_column() returns table (only_one int) language sql as 'select 7';
select * from one_column();
--: only_one integer
--> 7
select one_column();
--: one_column integer
--> 7
create function outs(in n int, out half int, out rest int) language sql as 'select n / 2, n % 2';
select outs(7);
--: outs record
--> (3,1)
select * from outs(7);
--: half integer | rest integer
--> 3 | 1
select (outs(7)).half, (outs(7)).rest;
--: half integer | rest integer
--> 3 | 1
create function single_out(out x text) language sql as $$ select 'x'::text $$;
select single_out();
--: single_out text
--> x
select * from single_out();
--: x text
--> x
create function rec() returns record language sql as $$ select 1, 'a'::text $$;
select rec();
--: rec record
--> (1,a)
select * from rec() as (a int, b text);
--: a integer | b text
--> 1 | a
select * from rec() as r (a int, b text);
--: a integer | b text
--> 1 | a
select * from rec();
--> ERROR 42601: a column definition list is required for functions returning "record" [POSITION: 15]
select * from rec() as (a int);
--> ERROR 42P13: return type mismatch in function declared to return record [DETAIL: Final statement returns too many columns.]
select * from rec() as (a int, b int);
--> ERROR 42P13: return type mismatch in function declared to return record [DETAIL: Final statement returns text instead of integer at column 2.]
create function recs() returns setof record language sql as $$ select id, name from item where id < 3 order by id $$;
select * from recs() as r (i int, n text) where i = 2;
--: i integer | n text
--> 2 | item 2
create function first_item() returns item language sql as 'select * from item order by id limit 1';
select first_item();
--: first_item user type
--> (1,"item 1",10,odd)
select * from first_item();
--: id integer | name text | price numeric | kind text
--> 1 | item 1 | 10 | odd
select (first_item()).price;
--: price numeric
--> 10
create function no_item() returns item language sql as 'select * from item where false';
select * from no_item();
--: id integer | name text | price numeric | kind text
--> ∅ | ∅ | ∅ | ∅
create function label(i item) returns text language sql as $$ select i.name || ' costs ' || i.price $$;
select label(item) from item where id < 3 order by id;
--: label text
--> item 1 costs 10
--> item 2 costs 20
select * from rows from (ids(5), pairs(6)) as t (a, b, c);
--: a integer | b integer | c text
--> 5 | 6 | item 6
--> 6 | ∅ | ∅
select sum(x), max(x) from ids(1) x;
--: sum bigint | max integer
--> 21 | 6
select array(select ids(4));
--: array integer[]
--> {4,5,6}
select (select max(x) from ids(1) x), exists (select 1 from ids(9));
--: max integer | exists boolean
--> 6 | f
select id from item where id in (select ids(5)) order by id;
--: id integer
--> 5
--> 6

-- ## Polymorphic and variadic ones, overloading

create function first_of(anyarray) returns anyelement language sql as 'select $1[1]';
select first_of(array[3, 4]), first_of(array['a', 'b']), first_of('{1.5}'::numeric[]);
--: first_of integer | first_of text | first_of numeric
--> 3 | a | 1.5
create function same_two(anyelement, anyelement) returns anyarray language sql as 'select array[$1, $2]';
select same_two(1, 2), same_two('a'::text, 'b');
--: same_two integer[] | same_two text[]
--> {1,2} | {a,b}
select same_two(1, 'b'::text);
--> ERROR 42883: function same_two(integer, text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
create function total(variadic list int[]) returns bigint language sql as 'select sum(x) from unnest(list) x';
select total(1, 2, 3), total(5), total(variadic array[4, 5]), total(variadic '{}');
--: total bigint | total bigint | total bigint | total bigint
--> 6 | 5 | 9 | ∅
select total();
--> ERROR 42883: function total() does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
create function over(int) returns text language sql as $$ select 'int' $$;
create function over(text) returns text language sql as $$ select 'text' $$;
create function over(numeric) returns text language sql as $$ select 'numeric' $$;
-- each x: 1 | 1.5 | 'a' | 1::bigint | 'a'::varchar | 1::float8 | null | true
select over({x});
--: over text
--> 1 => int
--> 1.5 => numeric
--> 'a' => text
--> 1::bigint => numeric
--> 'a'::varchar => text
--> 1::float8 => ERROR 42883: function over(double precision) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> null => text
--> true => ERROR 42883: function over(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
create function ambiguous(int, int default 1) returns int language sql as 'select 2';
create function ambiguous(int) returns int language sql as 'select 1';
select ambiguous(1);
--> ERROR 42725: function ambiguous(integer) is not unique [HINT: Could not choose a best candidate function. You might need to add explicit type casts.] [POSITION: 8]
select ambiguous(1, 2);
--: ambiguous integer
--> 2
create function lower(int) returns text language sql as $$ select 'own' $$;
select lower(1), lower('A');
--: lower text | lower text
--> own | a

-- ## What writes, and what is seen

create table log (id int generated always as identity, what text);
create function note(what text) returns int language sql as $$ insert into log (what) values (what) returning id $$;
select note('a'), note('b');
--: note integer | note integer
--> 1 | 2
select note(name) from item where id < 3 order by id;
--: note integer
--> 3
--> 4
create function note_and_count(what text) returns bigint language sql as $$ insert into log (what) values (what); select count(*) from log $$;
select note_and_count('c'), note_and_count('d');
--: note_and_count bigint | note_and_count bigint
--> 5 | 6
create function from_log() returns bigint language sql as $$ insert into log (what) select 'x' from log; select count(*) from log $$;
select from_log();
--: from_log bigint
--> 12
select note(what) is not null as noted from log where id < 4 order by id;
--: noted boolean
--> t
--> t
--> t
create function stable_count() returns bigint stable language sql as 'select count(*) from log';
select stable_count() = (select count(*) from log);
--: ?column? boolean
--> t
create function bad_stable(i int) returns int stable language sql as $$ insert into log (what) values ('no') returning id $$;
select bad_stable(1);
--> ERROR 0A000: INSERT is not allowed in a non-volatile function
create function changes() returns setof log language sql as $$ update log set what = upper(what) where id < 3 returning * $$;
select * from changes() order by id;
--: id integer | what text
--> 1 | A
--> 2 | B
create function removed(i int) returns text language sql as $$ delete from log where id = i returning what $$;
select removed(1), removed(1);
--: removed text | removed text
--> A | ∅
create procedure wipe(lowest int) language sql as $$ delete from log where id >= lowest; insert into log (what) values ('wiped') $$;
call wipe(0);
select what from log;
--: what text
--> wiped
create procedure out_and_in(in a int, out b int, inout c int) language sql as 'select a + 1, c + 1';
call out_and_in(1, null, 3);
--: b integer | c integer
--> 2 | 4
call out_and_in(a => 1, b => null, c => 5);
--: b integer | c integer
--> 2 | 6
call wipe('x');
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 11]
call nosuch(1);
--> ERROR 42883: procedure nosuch(integer) does not exist [HINT: No procedure matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 6]
call twice(1);
--> ERROR 42809: twice(integer) is not a procedure [HINT: To call a function, use SELECT.] [POSITION: 6]
select wipe(1);
--> ERROR 42809: wipe(integer) is a procedure [HINT: To call a procedure, use CALL.] [POSITION: 8]
begin;
call wipe(1);
rollback;
select count(*) from log;
--: count bigint
--> 1

-- ## In definitions

create function low(t text) returns text immutable language sql as 'select lower(t)';
create table used (id int primary key default twice(21), t text check (low(t) <> 'bad'), g text generated always as (low(t)) stored);
insert into used (t) values ('ABC') returning *;
--: id integer | t text | g text
--> 42 | ABC | abc
--> INSERT 0 1
insert into used (id, t) values (1, 'BAD');
--> ERROR 23514: new row for relation "used" violates check constraint "used_t_check" [DETAIL: Failing row contains (1, BAD, bad).]
create index used_low on used (low(t));
select id from used where low(t) = 'abc';
--: id integer
--> 42
create unique index used_low_unique on used (low(t));
--> CREATE INDEX
insert into used (id, t) values (2, 'abc');
--> ERROR 23505: duplicate key value violates unique constraint "used_low_unique" [DETAIL: Key (low(t))=(abc) already exists.]
create function volatile_one() returns int language sql as 'select random()::int';
create index bad on used (volatile_one());
--> ERROR 42P17: functions in index expression must be marked IMMUTABLE
create table bad (x int generated always as (volatile_one()) stored);
--> ERROR 42P17: generation expression is not immutable
create function valid(k text) returns bool stable language sql as 'select exists (select 1 from item where kind = k)';
create table kinds (k text check (valid(k)));
insert into kinds values ('even');
--> INSERT 0 1
insert into kinds values ('prime');
--> ERROR 23514: new row for relation "kinds" violates check constraint "kinds_k_check" [DETAIL: Failing row contains (prime).]
update kinds set k = 'odd' returning k;
--: k text
--> odd
--> UPDATE 1
update kinds set k = 'prime';
--> ERROR 23514: new row for relation "kinds" violates check constraint "kinds_k_check" [DETAIL: Failing row contains (prime).]
create view named_items as select id, named(id) as n, twice(id) as t from item;
select * from named_items where id < 3 order by id;
--: id integer | n text | t integer
--> 1 | item 1 | 2
--> 2 | item 2 | 4

-- ## What is refused

-- each d: bad() language sql as 'select 1' | bad() returns int as 'select 1' | bad() returns int language nosuch as '' | bad() returns int language sql | bad() returns int language sql as '' | bad() returns int language sql as 'select nosuch' | bad() returns int language sql as 'select $1' | bad() returns int language sql as 'selec 1' | bad() returns int language sql as 'select 1, 2' | bad() returns int language sql as $$select 'x'::text$$ | bad() returns int language sql as 'insert into item values (1)' | bad() returns table (a int, b text) language sql as 'select 1' | bad() returns table (a int, b text) language sql as 'select 1, 2' | bad() returns table (a int, b int) language sql as 'select 1, 2, 3' | bad(a int, a int) returns int language sql as 'select 1' | bad(a int default 1, b int) returns int language sql as 'select 1' | bad(variadic a int[], b int) returns int language sql as 'select 1' | bad(variadic a int) returns int language sql as 'select 1' | bad(out a int default 1) language sql as 'select 1' | bad() returns anyelement language sql as 'select 1' | bad(out a int) returns text language sql as 'select 1' | bad() returns trigger language sql as 'select 1' | bad(nosuchtype) returns int language sql as 'select 1' | bad() returns nosuchtype language sql as 'select 1' | bad() returns int stable volatile language sql as 'select 1' | bad() returns int cost 0 language sql as 'select 1' | bad() returns int rows 5 language sql as 'select 1' | bad() returns int language sql as 'commit' | twice(int) returns int language sql as 'select 1' | bad(a int default 'x') returns int language sql as 'select 1'
create function {d};
--> bad() language sql as 'select 1' => ERROR 42P13: function result type must be specified
--> bad() returns int as 'select 1' => ERROR 42P13: no language specified
--> bad() returns int language nosuch as '' => ERROR 42704: language "nosuch" does not exist
--> bad() returns int language sql => ERROR 42P13: no function body specified
--> bad() returns int language sql as '' => ERROR 42P13: return type mismatch in function declared to return integer [DETAIL: Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.]
--> bad() returns int language sql as 'select nosuch' => ERROR 42703: column "nosuch" does not exist [POSITION: 59]
--> bad() returns int language sql as 'select $1' => ERROR 42P02: there is no parameter $1 [POSITION: 59]
--> bad() returns int language sql as 'selec 1' => ERROR 42601: syntax error at or near "selec" [POSITION: 52]
--> bad() returns int language sql as 'select 1, 2' => ERROR 42P13: return type mismatch in function declared to return integer [DETAIL: Final statement must return exactly one column.]
--> bad() returns int language sql as $$select 'x'::text$$ => ERROR 42P13: return type mismatch in function declared to return integer [DETAIL: Actual return type is text.]
--> bad() returns int language sql as 'insert into item values (1)' => ERROR 42P13: return type mismatch in function declared to return integer [DETAIL: Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.]
--> bad() returns table (a int, b text) language sql as 'select 1' => ERROR 42P13: return type mismatch in function declared to return record [DETAIL: Final statement returns too few columns.]
--> bad() returns table (a int, b text) language sql as 'select 1, 2' =>
--> bad() returns table (a int, b int) language sql as 'select 1, 2, 3' => ERROR 42723: function "bad" already exists with same argument types
--> bad(a int, a int) returns int language sql as 'select 1' => ERROR 42P13: parameter name "a" used more than once
--> bad(a int default 1, b int) returns int language sql as 'select 1' => ERROR 42P13: input parameters after one with a default value must also have defaults
--> bad(variadic a int[], b int) returns int language sql as 'select 1' => ERROR 42P13: VARIADIC parameter must be the last input parameter
--> bad(variadic a int) returns int language sql as 'select 1' => ERROR 42P13: VARIADIC parameter must be an array
--> bad(out a int default 1) language sql as 'select 1' => ERROR 42P13: only input parameters can have default values
--> bad() returns anyelement language sql as 'select 1' => ERROR 42P13: cannot determine result data type [DETAIL: A result of type anyelement requires at least one input of type anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange.]
--> bad(out a int) returns text language sql as 'select 1' => ERROR 42P13: function result type must be integer because of OUT parameters
--> bad() returns trigger language sql as 'select 1' => ERROR 42723: function "bad" already exists with same argument types
--> bad(nosuchtype) returns int language sql as 'select 1' => ERROR 42704: type nosuchtype does not exist
--> bad() returns nosuchtype language sql as 'select 1' => ERROR 42704: type "nosuchtype" does not exist
--> bad() returns int stable volatile language sql as 'select 1' => ERROR 42601: conflicting or redundant options [POSITION: 42]
--> bad() returns int cost 0 language sql as 'select 1' => ERROR 22023: COST must be positive
--> bad() returns int rows 5 language sql as 'select 1' => ERROR 22023: ROWS is not applicable when function does not return a set
--> bad() returns int language sql as 'commit' => ERROR 42723: function "bad" already exists with same argument types
--> twice(int) returns int language sql as 'select 1' => ERROR 42723: function "twice" already exists with same argument types
--> bad(a int default 'x') returns int language sql as 'select 1' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 35]
-- each d: twice(n int) returns text return 'x' | twice(m int) returns int return m | add(a int, b int, c int) returns int language sql as 'select 1' | outs(in n int, out half int, out other int) language sql as 'select 1, 2'
create or replace function {d};
--> twice(n int) returns text return 'x' => ERROR 42P13: cannot change return type of existing function [HINT: Use DROP FUNCTION twice(integer) first.]
--> twice(m int) returns int return m => ERROR 42P13: cannot change name of input parameter "n" [HINT: Use DROP FUNCTION twice(integer) first.]
--> add(a int, b int, c int) returns int language sql as 'select 1' => ERROR 42P13: cannot remove parameter defaults from existing function [HINT: Use DROP FUNCTION add(integer,integer,integer) first.]
--> outs(in n int, out half int, out other int) language sql as 'select 1, 2' => ERROR 42P13: cannot change return type of existing function [DETAIL: Row type defined by OUT parameters is different.] [HINT: Use DROP FUNCTION outs(integer) first.]
create or replace function twice(n int) returns int return n * 3;
--> CREATE FUNCTION
select twice(2);
--: twice integer
--> 6
create or replace procedure twice(n int) language sql as 'select 1';
--> ERROR 42809: cannot change routine kind [DETAIL: "twice" is a function.]
create function divided(n int) returns int language sql as 'select 1 / n from item';
select divided(0);
--> ERROR 22012: division by zero
set check_function_bodies = off;
create function later() returns bigint language sql as 'select count(*) from later_table';
reset check_function_bodies;
select later();
--> ERROR 42P01: relation "later_table" does not exist
create table later_table ();
select later();
--: later bigint
--> 0

-- ## Other names, schemas and paths

drop schema if exists one, two cascade;
--> NOTICE 00000: schema "one" does not exist, skipping
--> NOTICE 00000: schema "two" does not exist, skipping
create schema one;
create schema two;
create function one.f() returns text language sql as $$ select 'one' $$;
create function two.f() returns text language sql as $$ select 'two' $$;
select f();
--> ERROR 42883: function f() does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select one.f(), two.f();
--: f text | f text
--> one | two
set search_path = two, one;
select f();
--: f text
--> two
set search_path = one, two, t_functions;
select f();
--: f text
--> one
create function with_path() returns text language sql set search_path = two as 'select f()';
select with_path(), current_schema();
--: with_path text | current_schema name
--> two | one
set search_path = t_functions;
alter function one.f() rename to g;
select one.g();
--: g text
--> one
alter function one.g() set schema two;
select two.g();
--: g text
--> one
alter function two.g() rename to f;
--> ERROR 42723: function f() already exists in schema "two"
alter function two.g() immutable strict;
alter function two.nosuch() immutable;
--> ERROR 42883: function two.nosuch() does not exist
alter function total(int[]) owner to nosuch;
--> ERROR 42704: role "nosuch" does not exist

-- ## Dropping

create function base_fn(int) returns int language sql immutable as 'select $1';
create table on_fn (a int default base_fn(1), b int check (base_fn(b) > 0));
create view on_fn_view as select base_fn(a) as x from on_fn;
create view on_fn_view_too as select x from on_fn_view;
drop function base_fn(int);
--> ERROR 2BP01: cannot drop function base_fn(integer) because other objects depend on it [DETAIL: default value for column a of table on_fn depends on function base_fn(integer)\nconstraint on_fn_b_check on table on_fn depends on function base_fn(integer)\nview on_fn_view depends on function base_fn(integer)\nview on_fn_view_too depends on view on_fn_view] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
drop function base_fn(int) cascade;
--> NOTICE 00000: drop cascades to 4 other objects [DETAIL: drop cascades to default value for column a of table on_fn\ndrop cascades to constraint on_fn_b_check on table on_fn\ndrop cascades to view on_fn_view\ndrop cascades to view on_fn_view_too]
insert into on_fn values (default, -1) returning *;
--: a integer | b integer
--> ∅ | -1
--> INSERT 0 1
create function atomic_fn() returns bigint begin atomic select count(a) from on_fn; end;
alter table on_fn drop column b;
alter table on_fn drop column a;
--> ERROR 2BP01: cannot drop column a of table on_fn because other objects depend on it [DETAIL: function atomic_fn() depends on column a of table on_fn] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
drop table on_fn;
--> ERROR 2BP01: cannot drop table on_fn because other objects depend on it [DETAIL: function atomic_fn() depends on table on_fn] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
drop table on_fn cascade;
--> NOTICE 00000: drop cascades to function atomic_fn()
select atomic_fn();
--> ERROR 42883: function atomic_fn() does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
create table wide (a int, b int, ab int, "order" int);
create view only_ab as select ab from wide;
create view only_a as select a from wide where "order" > 0;
create view both_of as select w.a, v.ab from wide w join only_ab v using (ab);
alter table wide drop column b;
alter table wide drop column a;
--> ERROR 2BP01: cannot drop column a of table wide because other objects depend on it [DETAIL: view only_a depends on column a of table wide\nview both_of depends on column a of table wide] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
alter table wide drop column a cascade;
--> NOTICE 00000: drop cascades to 2 other objects [DETAIL: drop cascades to view only_a\ndrop cascades to view both_of]
select * from only_ab;
--: ab integer
alter table wide drop column "order";
create sequence counter;
create table counted (n int default nextval('counter'));
drop sequence counter;
--> ERROR 2BP01: cannot drop sequence counter because other objects depend on it [DETAIL: default value for column n of table counted depends on sequence counter] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
drop sequence counter cascade;
--> NOTICE 00000: drop cascades to default value for column n of table counted
create type mood as enum ('good', 'bad');
create function of_mood(mood) returns text language sql as 'select $1::text';
drop type mood;
--> ERROR 2BP01: cannot drop type mood because other objects depend on it [DETAIL: function of_mood(mood) depends on type mood] [HINT: Use DROP ... CASCADE to drop the dependent objects too.]
drop type mood cascade;
--> NOTICE 00000: drop cascades to function of_mood(mood)
drop function ambiguous;
--> ERROR 42725: function name "ambiguous" is not unique [HINT: Specify the argument list to select the function unambiguously.]
drop function ambiguous(int, int);
drop function ambiguous;
drop function nosuch;
--> ERROR 42883: could not find a function named "nosuch"
drop function nosuch(int);
--> ERROR 42883: function nosuch(integer) does not exist
drop procedure twice(int);
--> ERROR 42809: twice(integer) is not a procedure
drop function wipe(int);
--> ERROR 42809: wipe(integer) is not a function
drop function if exists nosuch(int), nosuch2;
--> NOTICE 00000: function nosuch(pg_catalog.int4) does not exist, skipping
--> NOTICE 00000: function nosuch2() does not exist, skipping
drop routine wipe(int), total;

-- ## The catalog

select proname, pronargs, pronargdefaults, prorettype::regtype, proargtypes::text, proallargtypes, proargmodes, proargnames, proretset, provolatile, proisstrict, prosrc, prokind from pg_proc where pronamespace = current_schema()::regnamespace and proname in ('add', 'ids', 'outs', 'pairs', 'strict_one', 'nothing', 'first_of', 'out_and_in') order by proname;
--: proname name | pronargs smallint | pronargdefaults smallint | prorettype regtype | proargtypes text | proallargtypes oid[] | proargmodes "char"[] | proargnames text[] | proretset boolean | provolatile "char" | proisstrict boolean | prosrc text | prokind "char"
--> add | 3 | 2 | integer | 23 23 23 | ∅ | ∅ | {a,b,c} | f | i | f | select a + b + c | f
--> first_of | 1 | 0 | anyelement | 2277 | ∅ | ∅ | ∅ | f | v | f | select $1[1] | f
--> ids | 1 | 0 | integer | 23 | ∅ | ∅ | {lowest} | t | v | f | select id from item where id >= lowest order by id | f
--> nothing | 0 | 0 | void | "" | ∅ | ∅ | ∅ | f | v | f | select 1 | f
--> out_and_in | 2 | 0 | record | 23 23 | {23,23,23} | {i,o,b} | {a,b,c} | f | v | f | select a + 1, c + 1 | p
--> outs | 1 | 0 | record | 23 | {23,23,23} | {i,o,o} | {n,half,rest} | f | v | f | select n / 2, n % 2 | f
--> pairs | 1 | 0 | record | 23 | {23,23,25} | {i,t,t} | {lowest,k,v} | t | v | f | select id, name from item where id >= lowest order by id | f
--> strict_one | 2 | 0 | integer | 23 23 | ∅ | ∅ | {a,b} | f | v | t | select 1 | f
-- each f: add | ids | outs | pairs | cheap | first_of | out_and_in | strict_one | positional
select pg_get_function_arguments('{f}'::regproc), pg_get_function_identity_arguments('{f}'::regproc), pg_get_function_result('{f}'::regproc);
--: pg_get_function_arguments text | pg_get_function_identity_arguments text | pg_get_function_result text
--> add => a integer, b integer DEFAULT 10, c integer DEFAULT 100 | a integer, b integer, c integer | integer
--> ids => lowest integer | lowest integer | SETOF integer
--> outs => n integer, OUT half integer, OUT rest integer | n integer, OUT half integer, OUT rest integer | record
--> pairs => lowest integer | lowest integer | TABLE(k integer, v text)
--> cheap => most numeric | most numeric | SETOF item
--> first_of => anyarray | anyarray | anyelement
--> out_and_in => IN a integer, OUT b integer, INOUT c integer | IN a integer, OUT b integer, INOUT c integer | ∅
--> strict_one => a integer, b integer | a integer, b integer | integer
--> positional => integer, text | integer, text | text
-- each f: add | outs | pairs | strict_one | cheap | with_path
select pg_get_functiondef('{f}'::regproc);
--: pg_get_functiondef text
--> add => "CREATE OR REPLACE FUNCTION t_functions.add(a integer, b integer DEFAULT 10, c integer DEFAULT 100)\n RETURNS integer\n LANGUAGE sql\n IMMUTABLE\nAS $function$select a + b + c$function$\n"
--> outs => "CREATE OR REPLACE FUNCTION t_functions.outs(n integer, OUT half integer, OUT rest integer)\n RETURNS record\n LANGUAGE sql\nAS $function$select n / 2, n % 2$function$\n"
--> pairs => "CREATE OR REPLACE FUNCTION t_functions.pairs(lowest integer)\n RETURNS TABLE(k integer, v text)\n LANGUAGE sql\nAS $function$select id, name from item where id >= lowest order by id$function$\n"
--> strict_one => "CREATE OR REPLACE FUNCTION t_functions.strict_one(a integer, b integer)\n RETURNS integer\n LANGUAGE sql\n STRICT\nAS $function$select 1$function$\n"
--> cheap => "CREATE OR REPLACE FUNCTION t_functions.cheap(most numeric)\n RETURNS SETOF item\n LANGUAGE sql\n STABLE\nAS $function$select * from item where price <= most order by id$function$\n"
--> with_path => ERROR 42883: function "with_path" does not exist [POSITION: 27]
select 'add'::regproc, 'add(int,int,int)'::regprocedure, 'ids'::regproc::text, 'one.f'::regproc, 'over(int)'::regprocedure, 'lower(text)'::regprocedure;
--> ERROR 42883: function "one.f" does not exist [POSITION: 80]
select 'over'::regproc;
--> ERROR 42725: more than one function named "over" [POSITION: 8]
select 'nosuch'::regproc;
--> ERROR 42883: function "nosuch" does not exist [POSITION: 8]
select 'add(text)'::regprocedure;
--> ERROR 42883: function "add(text)" does not exist [POSITION: 8]
comment on function add(int, int, int) is 'sums';
select obj_description('add'::regproc, 'pg_proc'), pg_describe_object('pg_proc'::regclass, 'add'::regproc, 0);
--: obj_description text | pg_describe_object text
--> sums | function add(integer,integer,integer)
revoke all on function add(int, int, int) from public;
select proacl from pg_proc where oid = 'add'::regproc;
--: proacl aclitem[]
--> {postgres=X/postgres}
select routine_name, routine_type, data_type, routine_definition, is_deterministic, security_type from information_schema.routines where routine_schema = current_schema() and routine_name in ('add', 'ids', 'out_and_in') order by 1;
--: routine_name name | routine_type character varying | data_type character varying | routine_definition character varying | is_deterministic character varying(7) | security_type character varying
--> add | FUNCTION | integer | select a + b + c | YES | INVOKER
--> ids | FUNCTION | integer | select id from item where id >= lowest order by id | NO | INVOKER
--> out_and_in | PROCEDURE | ∅ | select a + 1, c + 1 | NO | INVOKER
select ordinal_position, parameter_mode, parameter_name, data_type, parameter_default from information_schema.parameters where specific_schema = current_schema() and specific_name like 'add%' order by 1;
--: ordinal_position integer | parameter_mode character varying | parameter_name name | data_type character varying | parameter_default character varying
--> 1 | IN | a | integer | ∅
--> 2 | IN | b | integer | 10
--> 3 | IN | c | integer | 100
select refclassid::regclass, refobjid::regprocedure from pg_depend where classid = 'pg_rewrite'::regclass and refobjid in ('named'::regproc, 'twice'::regproc) order by 2;
--: refclassid regclass | refobjid regprocedure
--> pg_proc | named(integer)
--> pg_proc | twice(integer)

set client_min_messages = error;
drop schema one cascade;
drop schema two cascade;
reset client_min_messages;

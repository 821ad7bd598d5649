-- # Select lists, DISTINCT, ORDER BY, LIMIT: sections 7.3, 7.5 to 7.7, 3.1

create table fruit (id int primary key, name text, kind text, price numeric(6,2), n int);
insert into fruit values (1, 'apple', 'pome', 1.20, 5), (2, 'pear', 'pome', 2.50, null), (3, 'plum', 'stone', 0.80, 12), (4, 'peach', 'stone', 2.50, 3), (5, 'fig', null, 3.10, 0), (6, 'Kiwi', 'berry', null, 7);
--> INSERT 0 6

-- ## Output columns

select id, name as "the name", price * n total, upper(name), 1, 'x', null, n is null, -n, n::text, (n), fruit.kind k from fruit where id = 1;
--: id integer | the name text | total numeric | upper text | ?column? integer | ?column? text | ?column? text | ?column? boolean | ?column? integer | n text | n integer | k text
--> 1 | apple | 6.00 | APPLE | 1 | x | ∅ | f | -5 | 5 | 5 | pome
select f.*, f.id as again, * from fruit f where id = 2;
--: id integer | name text | kind text | price numeric(393222) | n integer | again integer | id integer | name text | kind text | price numeric(393222) | n integer
--> 2 | pear | pome | 2.50 | ∅ | 2 | 2 | pear | pome | 2.50 | ∅
select fruit from fruit where id = 3;
--: fruit user type
--> (3,plum,stone,0.80,12)
select id as name, name as id from fruit where id = 1;
--: name integer | id text
--> 1 | apple
select;
--:
-->
select from fruit where id < 3;
--:
-->
-->
select case when n > 5 then 'x' end, coalesce(n, 0), nullif(n, 5), (select 1), array[n], row(n), exists (select 1), n in (1), n between 1 and 2, not true, cast(n as text), extract(year from date '2024-01-01'), current_date is null, n::int8::text, (row(1)), greatest(n, 1), trim(name), substring(name from 1 for 1), position('a' in name), overlay(name placing 'x' from 1), name collate "C", (array[n])[1], name like 'a%', n = any (array[1]), interval '1 day', date '2024-01-01', n::numeric(5,1), true, session_user is null, grouping from (select 5 as n, 'abc' as name, 1 as grouping) t;
--: case text | coalesce integer | nullif integer | ?column? integer | array integer[] | row record | exists boolean | ?column? boolean | ?column? boolean | ?column? boolean | n text | extract numeric | ?column? boolean | n text | row record | greatest integer | btrim text | substring text | position integer | overlay text | name text | array integer | ?column? boolean | ?column? boolean | interval interval | date date | n numeric(327685) | ?column? boolean | ?column? boolean | grouping integer
--> ∅ | 5 | ∅ | 1 | {5} | (5) | t | f | f | f | 5 | 2024 | f | 5 | (1) | 5 | abc | a | 1 | xbc | abc | 5 | t | f | 1 day | 2024-01-01 | 5.0 | t | f | 1
select "name", "id" as "ID", fruit."kind" from fruit where "id" = 1;
--: name text | ID integer | kind text
--> apple | 1 | pome
select name nosuchas, price as select from fruit where id = 1;
--: nosuchas text | select numeric(393222)
--> apple | 1.20
select a.name from fruit as a where a.id = 1 and a.name is not null;
--: name text
--> apple
select id as "", 1;
--> ERROR 42601: zero-length delimited identifier at or near """" [POSITION: 14]
select public.fruit.id from fruit;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "fruit" [HINT: There is an entry for table "fruit", but it cannot be referenced from this part of the query.] [POSITION: 8]
select t_select_lists.fruit.id from t_select_lists.fruit where fruit.id = 1;
--: id integer
--> 1

-- ## ORDER BY

-- each o: price | price desc | price nulls first | price desc nulls last | kind, name | kind desc, price asc, id | 2 | 3 desc, 1 | price * n | lower(name) | name collate "C" | kind is null, id desc | case when kind = 'stone' then 0 else 1 end, id | price using >, id | -id | length(name), name | (kind, name) | id % 2, id
select id, name, price from fruit order by {o}, id;
--: id integer | name text | price numeric(393222)
--> price => 3 | plum | 0.80 / 1 | apple | 1.20 / 2 | pear | 2.50 / 4 | peach | 2.50 / 5 | fig | 3.10 / 6 | Kiwi | ∅
--> price desc => 6 | Kiwi | ∅ / 5 | fig | 3.10 / 2 | pear | 2.50 / 4 | peach | 2.50 / 1 | apple | 1.20 / 3 | plum | 0.80
--> price nulls first => 6 | Kiwi | ∅ / 3 | plum | 0.80 / 1 | apple | 1.20 / 2 | pear | 2.50 / 4 | peach | 2.50 / 5 | fig | 3.10
--> price desc nulls last => 5 | fig | 3.10 / 2 | pear | 2.50 / 4 | peach | 2.50 / 1 | apple | 1.20 / 3 | plum | 0.80 / 6 | Kiwi | ∅
--> kind, name => 6 | Kiwi | ∅ / 1 | apple | 1.20 / 2 | pear | 2.50 / 4 | peach | 2.50 / 3 | plum | 0.80 / 5 | fig | 3.10
--> kind desc, price asc, id => 5 | fig | 3.10 / 3 | plum | 0.80 / 4 | peach | 2.50 / 1 | apple | 1.20 / 2 | pear | 2.50 / 6 | Kiwi | ∅
--> 2 => 6 | Kiwi | ∅ / 1 | apple | 1.20 / 5 | fig | 3.10 / 4 | peach | 2.50 / 2 | pear | 2.50 / 3 | plum | 0.80
--> 3 desc, 1 => 6 | Kiwi | ∅ / 5 | fig | 3.10 / 2 | pear | 2.50 / 4 | peach | 2.50 / 1 | apple | 1.20 / 3 | plum | 0.80
--> price * n => 5 | fig | 3.10 / 1 | apple | 1.20 / 4 | peach | 2.50 / 3 | plum | 0.80 / 2 | pear | 2.50 / 6 | Kiwi | ∅
--> lower(name) => 1 | apple | 1.20 / 5 | fig | 3.10 / 6 | Kiwi | ∅ / 4 | peach | 2.50 / 2 | pear | 2.50 / 3 | plum | 0.80
--> name collate "C" => 6 | Kiwi | ∅ / 1 | apple | 1.20 / 5 | fig | 3.10 / 4 | peach | 2.50 / 2 | pear | 2.50 / 3 | plum | 0.80
--> kind is null, id desc => 6 | Kiwi | ∅ / 4 | peach | 2.50 / 3 | plum | 0.80 / 2 | pear | 2.50 / 1 | apple | 1.20 / 5 | fig | 3.10
--> case when kind = 'stone' then 0 else 1 end, id => 3 | plum | 0.80 / 4 | peach | 2.50 / 1 | apple | 1.20 / 2 | pear | 2.50 / 5 | fig | 3.10 / 6 | Kiwi | ∅
--> price using >, id => 6 | Kiwi | ∅ / 5 | fig | 3.10 / 2 | pear | 2.50 / 4 | peach | 2.50 / 1 | apple | 1.20 / 3 | plum | 0.80
--> -id => 6 | Kiwi | ∅ / 5 | fig | 3.10 / 4 | peach | 2.50 / 3 | plum | 0.80 / 2 | pear | 2.50 / 1 | apple | 1.20
--> length(name), name => 5 | fig | 3.10 / 6 | Kiwi | ∅ / 2 | pear | 2.50 / 3 | plum | 0.80 / 1 | apple | 1.20 / 4 | peach | 2.50
--> (kind, name) => 6 | Kiwi | ∅ / 1 | apple | 1.20 / 2 | pear | 2.50 / 4 | peach | 2.50 / 3 | plum | 0.80 / 5 | fig | 3.10
--> id % 2, id => 2 | pear | 2.50 / 4 | peach | 2.50 / 6 | Kiwi | ∅ / 1 | apple | 1.20 / 3 | plum | 0.80 / 5 | fig | 3.10
select name as n from fruit order by n;
--: n text
--> Kiwi
--> apple
--> fig
--> peach
--> pear
--> plum
select name as id, id as other from fruit order by id;
--: id text | other integer
--> Kiwi | 6
--> apple | 1
--> fig | 5
--> peach | 4
--> pear | 2
--> plum | 3
select id + 1 as n from fruit order by n desc limit 2;
--: n integer
--> 7
--> 6
select id from fruit order by fruit.price desc, fruit.id limit 3;
--: id integer
--> 6
--> 5
--> 2
select name from fruit order by kind, name;
--: name text
--> Kiwi
--> apple
--> pear
--> peach
--> plum
--> fig
select kind, count(*) from fruit group by kind order by count(*) desc, kind nulls first;
--: kind text | count bigint
--> pome | 2
--> stone | 2
--> ∅ | 1
--> berry | 1
select id, id from fruit order by id limit 1;
--: id integer | id integer
--> 1 | 1
select id as x, n as x from fruit order by x;
--> ERROR 42702: ORDER BY "x" is ambiguous [POSITION: 44]
select id from fruit order by nosuch;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 31]
select id from fruit order by 2;
--> ERROR 42P10: ORDER BY position 2 is not in select list [POSITION: 31]
select id from fruit order by 0;
--> ERROR 42P10: ORDER BY position 0 is not in select list [POSITION: 31]
select id from fruit order by -1 limit 1;
--> ERROR 42P10: ORDER BY position -1 is not in select list [POSITION: 31]
select id from fruit order by 'a';
--> ERROR 42601: non-integer constant in ORDER BY [POSITION: 31]
select id from fruit order by 1.5;
--> ERROR 42601: non-integer constant in ORDER BY [POSITION: 31]
select id as x from fruit order by x + 1;
--> ERROR 42703: column "x" does not exist [POSITION: 36]
select id from fruit order by id using %;
--> ERROR 42809: operator % is not a valid ordering operator [HINT: Ordering operators must be "<" or ">" members of btree operator families.] [POSITION: 40]
select '{}'::json order by 1;
--> ERROR 42883: could not identify an ordering operator for type json [HINT: Use an explicit ordering operator or modify the query.] [POSITION: 28]
select id from fruit order by true, null, id limit 1;
--> ERROR 42601: non-integer constant in ORDER BY [POSITION: 31]
select id from fruit order by (select price), id limit 2;
--: id integer
--> 3
--> 1

-- ## LIMIT and OFFSET

-- each l: limit 2 | limit 0 | limit all | limit null | offset 4 | limit 2 offset 1 | offset 1 limit 2 | offset 100 | fetch first 2 rows only | fetch first row only | fetch next 1 row only | offset 1 rows fetch next 2 rows only | limit 1 + 1 | limit 1.5 | limit '2' | limit 2::int8 | fetch first 2 rows with ties | offset 2 row | fetch first (1 + 1) rows only
--  | limit -1 | offset -1 | limit 'x' | limit id | limit (select count(*) / 3 from fruit) | limit 1 limit 2 | fetch first -1 rows only | limit 1, 2
select id from fruit order by id {l};
--: id integer
--> limit 2 => 1 / 2
--> limit 0 =>
--> limit all => 1 / 2 / 3 / 4 / 5 / 6
--> limit null => 1 / 2 / 3 / 4 / 5 / 6
--> offset 4 => 5 / 6
--> limit 2 offset 1 => 2 / 3
--> offset 1 limit 2 => 2 / 3
--> offset 100 =>
--> fetch first 2 rows only => 1 / 2
--> fetch first row only => 1
--> fetch next 1 row only => 1
--> offset 1 rows fetch next 2 rows only => 2 / 3
--> limit 1 + 1 => 1 / 2
--> limit 1.5 => 1 / 2
--> limit '2' => 1 / 2
--> limit 2::int8 => 1 / 2
--> fetch first 2 rows with ties => 1 / 2
--> offset 2 row => 3 / 4 / 5 / 6
--> fetch first (1 + 1) rows only => 1 / 2
--> limit -1 => ERROR 2201W: LIMIT must not be negative
--> offset -1 => ERROR 2201X: OFFSET must not be negative
--> limit 'x' => ERROR 22P02: invalid input syntax for type bigint: "x" [POSITION: 40]
--> limit id => ERROR 42P10: argument of LIMIT must not contain variables [POSITION: 40]
--> limit (select count(*) / 3 from fruit) => 1 / 2
--> limit 1 limit 2 => ERROR 42601: syntax error at or near "limit" [POSITION: 42]
--> fetch first -1 rows only => ERROR 2201W: LIMIT must not be negative
--> limit 1, 2 => ERROR 42601: LIMIT #,# syntax is not supported [HINT: Use separate LIMIT and OFFSET clauses.] [POSITION: 34]
select id, price from fruit order by price desc nulls last fetch first 2 rows with ties;
--: id integer | price numeric(393222)
--> 5 | 3.10
--> 2 | 2.50
--> 4 | 2.50
select price from fruit fetch first 2 rows with ties;
--> ERROR 42601: WITH TIES cannot be specified without ORDER BY clause
select id from fruit order by id limit 2 for update;
--: id integer
--> 1
--> 2
select count(*) from (select id from fruit limit 3) t;
--: count bigint
--> 3
select max(id) from (select id from fruit order by id offset 2) t;
--: max integer
--> 6

-- ## DISTINCT and DISTINCT ON

select distinct kind from fruit order by kind;
--: kind text
--> berry
--> pome
--> stone
--> ∅
select distinct kind, price > 2 from fruit order by 1, 2;
--: kind text | ?column? boolean
--> berry | ∅
--> pome | f
--> pome | t
--> stone | f
--> stone | t
--> ∅ | t
select distinct n % 2 as odd from fruit order by odd;
--: odd integer
--> 0
--> 1
--> ∅
select distinct on (kind) kind, name from fruit order by kind, price desc nulls last;
--: kind text | name text
--> berry | Kiwi
--> pome | pear
--> stone | peach
--> ∅ | fig
select distinct on (kind) name from fruit order by kind desc, id;
--: name text
--> fig
--> plum
--> apple
--> Kiwi
select distinct on (kind, price > 1) kind, name, price from fruit order by kind, price > 1, id;
--: kind text | name text | price numeric(393222)
--> berry | Kiwi | ∅
--> pome | apple | 1.20
--> stone | plum | 0.80
--> stone | peach | 2.50
--> ∅ | fig | 3.10
select distinct on (1) kind, id from fruit order by 1, 2;
--: kind text | id integer
--> berry | 6
--> pome | 1
--> stone | 3
--> ∅ | 5
select distinct on (k) kind as k, id from fruit order by k, id desc;
--: k text | id integer
--> berry | 6
--> pome | 2
--> stone | 4
--> ∅ | 5
select distinct on (length(name)) length(name), name from fruit order by 1, 2;
--: length integer | name text
--> 3 | fig
--> 4 | Kiwi
--> 5 | apple
select distinct on (kind) kind, count(*) over () from fruit order by kind;
--: kind text | count bigint
--> berry | 6
--> pome | 6
--> stone | 6
--> ∅ | 6
select distinct on (kind) kind, sum(n) from fruit group by kind order by kind;
--: kind text | sum bigint
--> berry | 7
--> pome | 5
--> stone | 15
--> ∅ | 0
select distinct on (kind) kind from fruit order by id;
--> ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions [POSITION: 21]
select distinct kind from fruit order by id;
--> ERROR 42P10: for SELECT DISTINCT, ORDER BY expressions must appear in select list [POSITION: 42]
select distinct on (kind) * from fruit order by price;
--> ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions [POSITION: 21]
select distinct on () 1;
--> ERROR 42601: syntax error at or near ")" [POSITION: 21]
select distinct on (2) id from fruit;
--> ERROR 42P10: DISTINCT ON position 2 is not in select list [POSITION: 21]
select distinct id, '{}'::json from fruit;
--> ERROR 42883: could not identify an equality operator for type json [POSITION: 21]
select all id from fruit where id = 1;
--: id integer
--> 1
select distinct count(*) from fruit group by kind order by 1;
--: count bigint
--> 1
--> 2
select count(distinct kind), count(distinct (kind, n)) from fruit;
--: count bigint | count bigint
--> 3 | 6
select distinct * from (values (1, null), (1, null), (null, 1)) v order by 1, 2;
--: column1 integer | column2 integer
--> 1 | ∅
--> ∅ | 1
select distinct x from (values (0.0), (0.00), (-0.0)) v (x);
--: x numeric
--> 0.0
select distinct x from (values ('a '::char(3)), ('a'), ('b')) v (x) order by 1;
--: x character
--> "a  "
--> b

-- ## WHERE

-- each w: true | null | n > 3 and price < 2 | n > 3 or price > 2.4 | not (n > 3) | name like '%p%' | name ilike 'k%' | kind in ('pome', 'berry') | kind not in ('pome') | n between 3 and 7 | n is null | n is distinct from 5 | (kind, n) = ('pome', 5) | price = 2.5 | price = '2.50' | id = 3.0 | id = any ('{1,3}') | length(name) = 4 | name > 'f' | coalesce(n, 0) = 0 | id % 2 = 0 and not kind is null | name ~ '^p' | id in (select n from fruit) | 1 = 1 | kind = 'x' or kind is null | id > '4'
select id from fruit where {w} order by id;
--: id integer
--> true => 1 / 2 / 3 / 4 / 5 / 6
--> null =>
--> n > 3 and price < 2 => 1 / 3
--> n > 3 or price > 2.4 => 1 / 2 / 3 / 4 / 5 / 6
--> not (n > 3) => 4 / 5
--> name like '%p%' => 1 / 2 / 3 / 4
--> name ilike 'k%' => 6
--> kind in ('pome', 'berry') => 1 / 2 / 6
--> kind not in ('pome') => 3 / 4 / 6
--> n between 3 and 7 => 1 / 4 / 6
--> n is null => 2
--> n is distinct from 5 => 2 / 3 / 4 / 5 / 6
--> (kind, n) = ('pome', 5) => 1
--> price = 2.5 => 2 / 4
--> price = '2.50' => 2 / 4
--> id = 3.0 => 3
--> id = any ('{1,3}') => 1 / 3
--> length(name) = 4 => 2 / 3 / 6
--> name > 'f' => 2 / 3 / 4 / 5
--> coalesce(n, 0) = 0 => 2 / 5
--> id % 2 = 0 and not kind is null => 2 / 4 / 6
--> name ~ '^p' => 2 / 3 / 4
--> id in (select n from fruit) => 3 / 5
--> 1 = 1 => 1 / 2 / 3 / 4 / 5 / 6
--> kind = 'x' or kind is null => 5
--> id > '4' => 5 / 6
-- each w: 1 | 'x' | 'true' | name | n + 1 | nosuch | nosuch(1) | count(*) > 1 | name = 1 | id = 'x' | price like 'a' | x.id = 1 | id = 1 and | generate_series(1,2) = 1 | id == 1 | id = = 1 | name = "apple" | fruit | row(id) | id is 5 | id between 1 | not id | id in 1
select id from fruit where {w} order by id;
--> 1 => ERROR 42804: argument of WHERE must be type boolean, not type integer [POSITION: 28]
--> 'x' => ERROR 22P02: invalid input syntax for type boolean: "x" [POSITION: 28]
--: id integer
--> 'true' => 1 / 2 / 3 / 4 / 5 / 6
--> name => ERROR 42804: argument of WHERE must be type boolean, not type text [POSITION: 28]
--> n + 1 => ERROR 42804: argument of WHERE must be type boolean, not type integer [POSITION: 28]
--> nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 28]
--> nosuch(1) => ERROR 42883: function nosuch(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 28]
--> count(*) > 1 => ERROR 42803: aggregate functions are not allowed in WHERE [POSITION: 28]
--> name = 1 => ERROR 42883: operator does not exist: text = integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 33]
--> id = 'x' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 33]
--> price like 'a' => ERROR 42883: operator does not exist: numeric ~~ unknown [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 34]
--> x.id = 1 => ERROR 42P01: missing FROM-clause entry for table "x" [POSITION: 28]
--> id = 1 and => ERROR 42601: syntax error at or near "order" [POSITION: 39]
--> generate_series(1,2) = 1 => ERROR 0A000: set-returning functions are not allowed in WHERE [POSITION: 28]
--> id == 1 => ERROR 42883: operator does not exist: integer == integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 31]
--> id = = 1 => ERROR 42601: syntax error at or near "=" [POSITION: 33]
--> name = "apple" => ERROR 42703: column "apple" does not exist [POSITION: 35]
--> fruit => ERROR 42804: argument of WHERE must be type boolean, not type fruit [POSITION: 28]
--> row(id) => ERROR 42804: argument of WHERE must be type boolean, not type record [POSITION: 28]
--> id is 5 => ERROR 42601: syntax error at or near "5" [POSITION: 34]
--> id between 1 => ERROR 42601: syntax error at or near "order" [POSITION: 41]
--> not id => ERROR 42804: argument of NOT must be type boolean, not type integer [POSITION: 32]
--> id in 1 => ERROR 42601: syntax error at or near "1" [POSITION: 34]

-- ## VALUES and TABLE

values (1, 'one'), (2, 'two');
--: column1 integer | column2 text
--> 1 | one
--> 2 | two
values (1), (2.5), ('3') order by 1;
--: column1 numeric
--> 1
--> 2.5
--> 3
values (1, 2), (3);
--> ERROR 42601: VALUES lists must all be the same length [POSITION: 17]
values (null), (1);
--: column1 integer
--> ∅
--> 1
values ('a'), (1);
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 9]
values (default);
--> ERROR 42601: DEFAULT is not allowed in this context [POSITION: 9]
values (1), (2), (3) order by 1 desc limit 1 offset 1;
--: column1 integer
--> 2
select * from (values (date '2024-01-01', null), (null, 'x')) v (d, t);
--: d date | t text
--> 2024-01-01 | ∅
--> ∅ | x
table fruit limit 1;
--: id integer | name text | kind text | price numeric(393222) | n integer
--> 1 | apple | pome | 1.20 | 5
select * from (table fruit) t where id = 6;
--: id integer | name text | kind text | price numeric(393222) | n integer
--> 6 | Kiwi | berry | ∅ | 7
drop table fruit;

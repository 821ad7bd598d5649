-- # LATERAL and functions in FROM: sections 7.2.1.4, 7.2.1.5 and 9.25

create table node (id int primary key, parent int, tags text[], doc jsonb);
insert into node values (1, null, '{a,b}', '{"k": [1,2]}'), (2, 1, '{}', '{"k": []}'), (3, 1, null, null), (4, 2, '{c}', '{"k": [9]}');
--> INSERT 0 4
select n.id, c.id from node n, lateral (select * from node m where m.parent = n.id) c order by 1, 2;
--: id integer | id integer
--> 1 | 2
--> 1 | 3
--> 2 | 4
select n.id, c.cnt from node n left join lateral (select count(*) as cnt from node m where m.parent = n.id) c on c.cnt > 0 order by 1;
--: id integer | cnt bigint
--> 1 | 2
--> 2 | 1
--> 3 | ∅
--> 4 | ∅
select n.id, t from node n, unnest(n.tags) t order by 1, 2;
--: id integer | t text
--> 1 | a
--> 1 | b
--> 4 | c
select n.id, t.* from node n left join unnest(n.tags) with ordinality as t (tag, at) on true order by 1, 3;
--: id integer | tag text | at bigint
--> 1 | a | 1
--> 1 | b | 2
--> 2 | ∅ | ∅
--> 3 | ∅ | ∅
--> 4 | c | 1
select n.id, e from node n, jsonb_array_elements(n.doc -> 'k') e order by 1, e;
--: id integer | e jsonb
--> 1 | 1
--> 1 | 2
--> 4 | 9
select n.id, k.* from node n cross join lateral jsonb_each(n.doc) as k order by 1;
--: id integer | key text | value jsonb
--> 1 | k | [1, 2]
--> 2 | k | []
--> 4 | k | [9]
select n.id, s from node n, generate_series(1, n.id) s where n.id < 3 order by 1, 2;
--: id integer | s integer
--> 1 | 1
--> 2 | 1
--> 2 | 2
select n.id, l.up from node n join lateral (select m.id as up from node m where m.id = n.parent limit 1) l on true order by 1;
--: id integer | up integer
--> 2 | 1
--> 3 | 1
--> 4 | 2
select x, y from (values (1), (2)) v (x), lateral (values (v.x * 10), (v.x * 100)) w (y) order by 1, 2;
--: x integer | y integer
--> 1 | 10
--> 1 | 100
--> 2 | 20
--> 2 | 200
select a.x, b.y, c.z from (values (1), (2)) a (x), lateral (select a.x + 1) b (y), lateral (select b.y * a.x) c (z) order by 1;
--: x integer | y integer | z integer
--> 1 | 2 | 2
--> 2 | 3 | 6
select n.id, m from node n, lateral (select max(id) from node where id < n.id) s (m) order by 1;
--: id integer | m integer
--> 1 | ∅
--> 2 | 1
--> 3 | 2
--> 4 | 3
select n.id, (select string_agg(t, ',') from unnest(n.tags) t) from node n order by 1;
--: id integer | string_agg text
--> 1 | a,b
--> 2 | ∅
--> 3 | ∅
--> 4 | c
select n.id, top.id from node n left join lateral (select id from node where parent = n.id order by id desc limit 1) top on true order by 1;
--: id integer | id integer
--> 1 | 3
--> 2 | 4
--> 3 | ∅
--> 4 | ∅
select * from node n, (select n.id) s;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "n" [HINT: There is an entry for table "n", but it cannot be referenced from this part of the query.] [POSITION: 31]
select * from node n right join lateral (select n.id) s on true;
--> ERROR 42P10: invalid reference to FROM-clause entry for table "n" [DETAIL: The combining JOIN type must be INNER or LEFT for a LATERAL reference.] [POSITION: 49]
select * from node n full join unnest(n.tags) t on true;
--> ERROR 42P10: invalid reference to FROM-clause entry for table "n" [DETAIL: The combining JOIN type must be INNER or LEFT for a LATERAL reference.] [POSITION: 39]
select * from lateral (select 1) s, node where id = 1;
--: ?column? integer | id integer | parent integer | tags text[] | doc jsonb
--> 1 | 1 | ∅ | {a,b} | {"k": [1, 2]}
select * from generate_series(1, 3);
--: generate_series integer
--> 1
--> 2
--> 3
select * from generate_series(1, 3) as g;
--: g integer
--> 1
--> 2
--> 3
select * from generate_series(1, 3) as g (n);
--: n integer
--> 1
--> 2
--> 3
select g from generate_series(1, 3) g;
--: g integer
--> 1
--> 2
--> 3
select g.g from generate_series(1, 2) g;
--: g integer
--> 1
--> 2
select g.n, g.ordinality from generate_series(5, 6) with ordinality g (n) order by 1;
--: n integer | ordinality bigint
--> 5 | 1
--> 6 | 2
select * from generate_series(1, 3) with ordinality as g (n, at);
--: n integer | at bigint
--> 1 | 1
--> 2 | 2
--> 3 | 3
-- each a: 1, 10, 3 | 10, 1, -4 | 1, 3 | 3, 1 | 1, 1 | null, 1 | 1::int8, 3 | 1.5, 4, 0.75 | 5, 1, 0 | -2, 2, 2 | 2147483646, 2147483647 | 1, 3, null | 1.0, 3 | 1::int2, 3::int2
select * from generate_series({a});
--: generate_series integer
--> 1, 10, 3 => 1 / 4 / 7 / 10
--> 10, 1, -4 => 10 / 6 / 2
--> 1, 3 => 1 / 2 / 3
--> 3, 1 =>
--> 1, 1 => 1
--> null, 1 =>
--: generate_series bigint
--> 1::int8, 3 => 1 / 2 / 3
--: generate_series numeric
--> 1.5, 4, 0.75 => 1.5 / 2.25 / 3.00 / 3.75
--> 5, 1, 0 => ERROR 22023: step size cannot equal zero
--: generate_series integer
--> -2, 2, 2 => -2 / 0 / 2
--> 2147483646, 2147483647 => 2147483646 / 2147483647
--> 1, 3, null =>
--: generate_series numeric
--> 1.0, 3 => 1.0 / 2.0 / 3.0
--> 1::int2, 3::int2 => ERROR 42725: function generate_series(smallint, smallint) is not unique [HINT: Could not choose a best candidate function. You might need to add explicit type casts.] [POSITION: 15]
select generate_series(1, 3), generate_series(1, 2), 'x';
--: generate_series integer | generate_series integer | ?column? text
--> 1 | 1 | x
--> 2 | 2 | x
--> 3 | ∅ | x
select generate_series(1, 2) + 10, abs(generate_series(-2, -1));
--: ?column? integer | abs integer
--> 11 | 2
--> 12 | 1
select x, generate_series(1, x) from (values (2), (0), (1)) v (x);
--: x integer | generate_series integer
--> 2 | 1
--> 2 | 2
--> 1 | 1
select generate_series(1, 3) order by 1 desc limit 2;
--: generate_series integer
--> 3
--> 2
select distinct generate_series(1, 4) % 2 order by 1;
--: ?column? integer
--> 0
--> 1
select generate_series(1, generate_series(1, 3));
--: generate_series integer
--> 1
--> 1
--> 2
--> 1
--> 2
--> 3
select array_agg(s) from (select generate_series(1, 3) s) t;
--: array_agg integer[]
--> {1,2,3}
select count(*) from (select generate_series(1, 3), generate_series(1, 2)) t;
--: count bigint
--> 3
select case when true then generate_series(1, 2) end;
--> ERROR 0A000: set-returning functions are not allowed in CASE [HINT: You might be able to move the set-returning function into a LATERAL FROM item.] [POSITION: 28]
select coalesce(generate_series(1, 2), 0);
--> ERROR 0A000: set-returning functions are not allowed in COALESCE [HINT: You might be able to move the set-returning function into a LATERAL FROM item.] [POSITION: 17]
select 1 where generate_series(1, 2) = 1;
--> ERROR 0A000: set-returning functions are not allowed in WHERE [POSITION: 16]
select 1 from node group by id having generate_series(1, 2) = 1;
--> ERROR 0A000: set-returning functions are not allowed in HAVING [POSITION: 39]
select 1 limit generate_series(1, 2);
--> ERROR 0A000: set-returning functions are not allowed in LIMIT [POSITION: 16]
values (generate_series(1, 2));
--> ERROR 0A000: set-returning functions are not allowed in VALUES [POSITION: 9]
select * from rows from (generate_series(1, 3), unnest(array['a','b'])) as t (n, s);
--: n integer | s text
--> 1 | a
--> 2 | b
--> 3 | ∅
select * from rows from (generate_series(1, 2), generate_series(1, 3)) with ordinality;
--: generate_series integer | generate_series integer | ordinality bigint
--> 1 | 1 | 1
--> 2 | 2 | 2
--> ∅ | 3 | 3
select * from unnest(array[1,2]) as u;
--: u integer
--> 1
--> 2
select * from unnest(array[1,2], array[3]) as u (a, b);
--: a integer | b integer
--> 1 | 3
--> 2 | ∅
select * from json_to_recordset('[{"a":1}]') as t (a int), generate_series(1, 2) g order by 2;
--: a integer | g integer
--> 1 | 1
--> 1 | 2
select * from upper('abc');
--: upper text
--> ABC
select * from upper('abc') as u (v);
--: v text
--> ABC
select * from current_date as d where d is null;
--: d date
select * from now() n where n is null;
--: n timestamp with time zone
select * from abs(-5) with ordinality;
--: abs integer | ordinality bigint
--> 5 | 1
select * from regexp_matches('a1b2', '[a-z]\d', 'g') m;
--: m text[]
--> {a1}
--> {b2}
select * from string_to_table('a,b', ',');
--: string_to_table text
--> a
--> b
select * from nosuch(1);
--> ERROR 42883: function nosuch(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 15]
select * from generate_series('a', 'b');
--> ERROR 42725: function generate_series(unknown, unknown) is not unique [HINT: Could not choose a best candidate function. You might need to add explicit type casts.] [POSITION: 15]
select * from generate_series(1, 2) as g (a, b);
--> ERROR 42P10: table "g" has 1 columns available but 2 columns specified
select * from count(*);
--> ERROR 42803: aggregate functions are not allowed in functions in FROM [POSITION: 15]
select * from row_number();
--> ERROR 42809: window function row_number requires an OVER clause [POSITION: 15]
select nosuch from generate_series(1, 2) g;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 8]
select i, j from generate_series(1, 3) i, generate_series(i, 3) j order by 1, 2;
--: i integer | j integer
--> 1 | 1
--> 1 | 2
--> 1 | 3
--> 2 | 2
--> 2 | 3
--> 3 | 3
select * from (select 1, 2) as t (a);
--: a integer | ?column? integer
--> 1 | 2
select * from (select 1 as a, 2 as a) t;
--: a integer | a integer
--> 1 | 2
select a from (select 1 as a, 2 as a) t;
--> ERROR 42702: column reference "a" is ambiguous [POSITION: 8]
select * from (select 1);
--> ERROR 42601: subquery in FROM must have an alias [HINT: For example, FROM (SELECT ...) [AS] foo.] [POSITION: 15]
select * from (values (1, 'a'), (2, 'b')) as v;
--: column1 integer | column2 text
--> 1 | a
--> 2 | b
select * from (values (1), (2, 3)) v;
--> ERROR 42601: VALUES lists must all be the same length [POSITION: 29]
select column1 from (values (1), (2)) v order by 1 desc;
--: column1 integer
--> 2
--> 1
table node;
--: id integer | parent integer | tags text[] | doc jsonb
--> 1 | ∅ | {a,b} | {"k": [1, 2]}
--> 2 | 1 | {} | {"k": []}
--> 3 | 1 | ∅ | ∅
--> 4 | 2 | {c} | {"k": [9]}
select * from only node where id = 1;
--: id integer | parent integer | tags text[] | doc jsonb
--> 1 | ∅ | {a,b} | {"k": [1, 2]}
select n.* from node * n where id = 1;
--: id integer | parent integer | tags text[] | doc jsonb
--> 1 | ∅ | {a,b} | {"k": [1, 2]}
drop table node;

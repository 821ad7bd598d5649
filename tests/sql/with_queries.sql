-- # WITH: section 7.8

create table region (id int primary key, parent int, name text);
insert into region values (1, null, 'world'), (2, 1, 'europe'), (3, 1, 'asia'), (4, 2, 'france'), (5, 4, 'paris'), (6, 3, 'japan');
--> INSERT 0 6

-- ## Plain terms

with t as (select 1 as n) select * from t;
--: n integer
--> 1
with t (a, b) as (select 1, 2) select b, a from t;
--: b integer | a integer
--> 2 | 1
with t (a) as (select 1, 2) select * from t;
--: a integer | ?column? integer
--> 1 | 2
with a as (select 1 as x), b as (select x + 1 as y from a) select * from a, b;
--: x integer | y integer
--> 1 | 2
with t as (select * from region where parent = 1) select t1.name, t2.name from t t1 join t t2 on t1.id < t2.id;
--: name text | name text
--> europe | asia
with t as materialized (select id from region) select count(*) from t;
--: count bigint
--> 6
with t as not materialized (select id from region) select count(*) from t where id > 2;
--: count bigint
--> 4
with t as (select 1) select (select count(*) from t), exists (select from t);
--: count bigint | exists boolean
--> 1 | t
with region as (select 'mine' as name) select * from region;
--: name text
--> mine
with t as (select 1 as n) (with t as (select 2 as n) select n from t) union all select n from t;
--: n integer
--> 2
--> 1
select (with t as (select max(id) as m from region) select m from t), id from region where id in (with u as (select 2 as id) select id from u);
--: m integer | id integer
--> 6 | 2
with t as (values (1, 'a'), (2, 'b')) select * from t order by 1 desc;
--: column1 integer | column2 text
--> 2 | b
--> 1 | a
with t as (select generate_series(1, 3) as n) select sum(n) from t;
--: sum bigint
--> 6
with t as (select 1), t as (select 2) select 1;
--> ERROR 42712: WITH query name "t" specified more than once [POSITION: 23]
with b as (select * from a), a as (select 1) select * from b;
--> ERROR 42P01: relation "a" does not exist [DETAIL: There is a WITH item named "a", but it cannot be referenced from this part of the query.] [HINT: Use WITH RECURSIVE, or re-order the WITH items to remove forward references.] [POSITION: 26]
with t as (select * from t) select * from t;
--> ERROR 42P01: relation "t" does not exist [DETAIL: There is a WITH item named "t", but it cannot be referenced from this part of the query.] [HINT: Use WITH RECURSIVE, or re-order the WITH items to remove forward references.] [POSITION: 26]
with t as (select nosuch) select 1;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 19]
with t (a, b) as (select 1) select 1;
--> ERROR 42P10: WITH query "t" has 1 columns available but 2 columns specified [POSITION: 6]
with t as (select 1 as n) select * from t where nosuch = 1;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 49]
with t as (select 1) values (1), (2) union table t order by 1;
--: column1 integer
--> 1
--> 2
with t as (table region) table t order by id limit 2;
--: id integer | parent integer | name text
--> 1 | ∅ | world
--> 2 | 1 | europe

-- ## Recursion

with recursive t (n) as (values (1) union all select n + 1 from t where n < 5) select sum(n), count(*) from t;
--: sum bigint | count bigint
--> 15 | 5
with recursive t as (select 1 as n union select (n + 1) % 4 from t) select * from t order by n;
--: n integer
--> 0
--> 1
--> 2
--> 3
with recursive up as (select id, parent, name from region where name = 'paris' union all select r.id, r.parent, r.name from region r join up on r.id = up.parent) select name from up;
--: name text
--> paris
--> france
--> europe
--> world
with recursive down (id, depth, path) as (select id, 0, name from region where parent is null union all select r.id, depth + 1, path || '/' || r.name from region r, down where r.parent = down.id) select depth, path from down order by path;
--: depth integer | path text
--> 0 | world
--> 1 | world/asia
--> 2 | world/asia/japan
--> 1 | world/europe
--> 2 | world/europe/france
--> 3 | world/europe/france/paris
with recursive fib (a, b) as (select 0, 1 union all select b, a + b from fib where b < 100) select string_agg(a::text, ' ') from fib;
--: string_agg text
--> 0 1 1 2 3 5 8 13 21 34 55 89
with recursive t (n) as (select 1 union all select n * 2 from t) select n from t limit 8;
--: n integer
--> 1
--> 2
--> 4
--> 8
--> 16
--> 32
--> 64
--> 128
with recursive t (n, s) as (select 1, 'x'::text union all select n + 1, s || 'x' from t where n < 4) select * from t;
--: n integer | s text
--> 1 | x
--> 2 | xx
--> 3 | xxx
--> 4 | xxxx
with recursive a (n) as (select 1 union all select n + 1 from a where n < 3), b (m) as (select max(n) from a union all select m - 1 from b where m > 0) select * from b order by 1;
--: m integer
--> 0
--> 1
--> 2
--> 3
with recursive t (n) as (select 1 union all select n + 1 from t where n < 3) select t1.n, t2.n from t t1 left join t t2 on t1.n = t2.n + 1 order by 1;
--: n integer | n integer
--> 1 | ∅
--> 2 | 1
--> 3 | 2
with recursive t (n) as (select 1 union all (select n + 1 from t where n < 5 order by n limit 1)) select * from t;
--: n integer
--> 1
--> 2
--> 3
--> 4
--> 5
with recursive t (n) as (select 1 union all select n + 1 from (select n from t where n < 4) s) select count(*) from t;
--: count bigint
--> 4
with recursive down as (select id, parent from region where id = 1 union all select r.id, r.parent from down d join region r on r.parent = d.id) search breadth first by id set ord select id from down order by ord;
--: id integer
--> 1
--> 2
--> 3
--> 4
--> 6
--> 5
with recursive down as (select id, parent from region where id = 1 union all select r.id, r.parent from down d join region r on r.parent = d.id) search depth first by id set ord select id, ord from down order by ord;
--: id integer | ord record[]
--> 1 | {(1)}
--> 2 | {(1),(2)}
--> 4 | {(1),(2),(4)}
--> 5 | {(1),(2),(4),(5)}
--> 3 | {(1),(3)}
--> 6 | {(1),(3),(6)}
with recursive g (f, t) as (values (1, 2), (2, 3), (3, 1)), walk (at) as (select 1 union all select g.t from walk w join g on g.f = w.at) cycle at set looped using path select at, looped, path from walk;
--: at integer | looped boolean | path record[]
--> 1 | f | {(1)}
--> 2 | f | {(1),(2)}
--> 3 | f | {(1),(2),(3)}
--> 1 | t | {(1),(2),(3),(1)}
with recursive g (f, t) as (values (1, 2), (2, 3), (3, 1)), walk (at) as (select 1 union all select g.t from walk w join g on g.f = w.at) cycle at set looped to 'y' default 'n' using path select at, looped from walk;
--: at integer | looped text
--> 1 | n
--> 2 | n
--> 3 | n
--> 1 | y
-- each q: select n + 1 from t | select 1 union all select sum(n) from t | select 1 union all select n from t union all select n from t | select 1 except select n from t | select 1 intersect all select n from t | select n from t union all select 1 | select 1 union all select n::text from t | select 1 union all select 1.5 + n from t where n < 2 | select 1 union all select n from region left join t on true | select 1 union all select (select n from t) | select 1 union all select n + 1 from t order by 1 | select 1 union all select n + 1 from t limit 3 | select 1 union all select t.n from t, t u | select 1 union all select distinct n from t where n < 0 | select 1 union all select n from t where exists (select from t) | select 1, 2 union all select n from t
with recursive t (n) as ({q}) select * from t;
--> select n + 1 from t => ERROR 42P19: recursive query "t" does not have the form non-recursive-term UNION [ALL] recursive-term [POSITION: 16]
--> select 1 union all select sum(n) from t => ERROR 42P19: aggregate functions are not allowed in a recursive query's recursive term [POSITION: 52]
--> select 1 union all select n from t union all select n from t => ERROR 42P19: recursive reference to query "t" must not appear within its non-recursive term [POSITION: 59]
--> select 1 except select n from t => ERROR 42P19: recursive query "t" does not have the form non-recursive-term UNION [ALL] recursive-term [POSITION: 16]
--> select 1 intersect all select n from t => ERROR 42P19: recursive query "t" does not have the form non-recursive-term UNION [ALL] recursive-term [POSITION: 16]
--> select n from t union all select 1 => ERROR 42P19: recursive reference to query "t" must not appear within its non-recursive term [POSITION: 40]
--> select 1 union all select n::text from t => ERROR 42804: UNION types integer and text cannot be matched [POSITION: 52]
--> select 1 union all select 1.5 + n from t where n < 2 => ERROR 42804: recursive query "t" column 1 has type integer in non-recursive term but type numeric overall [HINT: Cast the output of the non-recursive term to the correct type.] [POSITION: 33]
--> select 1 union all select n from region left join t on true => ERROR 42P19: recursive reference to query "t" must not appear within an outer join [POSITION: 76]
--> select 1 union all select (select n from t) => ERROR 42P19: recursive reference to query "t" must not appear within a subquery [POSITION: 67]
--> select 1 union all select n + 1 from t order by 1 => ERROR 0A000: ORDER BY in a recursive query is not implemented [POSITION: 74]
--> select 1 union all select n + 1 from t limit 3 => ERROR 0A000: LIMIT in a recursive query is not implemented [POSITION: 71]
--> select 1 union all select t.n from t, t u => ERROR 42P19: recursive reference to query "t" must not appear more than once [POSITION: 64]
--: n integer
--> select 1 union all select distinct n from t where n < 0 => 1
--> select 1 union all select n from t where exists (select from t) => ERROR 42P19: recursive reference to query "t" must not appear within a subquery [POSITION: 87]
--> select 1, 2 union all select n from t => ERROR 42601: each UNION query must have the same number of columns [POSITION: 55]
with recursive t (n) as (select 'a' union all select n || 'b' from t where length(n) < 3) select * from t;
--: n text
--> a
--> ab
--> abb
with recursive t (n) as (select 'a'::varchar(5) union all select n || 'b' from t where length(n) < 3) select * from t;
--> ERROR 42804: recursive query "t" column 1 has type character varying(5) in non-recursive term but type character varying overall [HINT: Cast the output of the non-recursive term to the correct type.] [POSITION: 33]
with recursive a as (select * from b), b as (select * from a) select 1;
--> ERROR 0A000: mutual recursion between WITH items is not implemented [POSITION: 16]

-- ## Writes in WITH

with new as (insert into region values (7, 6, 'tokyo') returning *) select * from new;
--: id integer | parent integer | name text
--> 7 | 6 | tokyo
with gone as (delete from region where id = 7 returning name), n as (select count(*) as c from region) select gone.name, n.c from gone, n;
--: name text | c bigint
--> tokyo | 7
with moved as (update region set name = upper(name) where parent = 1 returning id, name) select * from moved order by id;
--: id integer | name text
--> 2 | EUROPE
--> 3 | ASIA
with a as (insert into region values (8, 1, 'africa') returning id) insert into region select 9, id, 'egypt' from a returning *;
--: id integer | parent integer | name text
--> 9 | 8 | egypt
--> INSERT 0 1
with d as (delete from region where id in (8, 9) returning *) select count(*), min(name) from d;
--: count bigint | min text
--> 2 | africa
with u as (update region set name = lower(name) where id = 2) select name from region where id = 2;
--: name text
--> EUROPE
select name from region where id = 2;
--: name text
--> europe
with x as (select 10 as id) insert into region select id, 1, 'x' from x returning id;
--: id integer
--> 10
--> INSERT 0 1
with x as (select 10 as id) delete from region using x where region.id = x.id returning name;
--: name text
--> x
--> DELETE 1
with x as (select max(id) as m from region) update region set name = 'last' from x where id = x.m returning *;
--: id integer | parent integer | name text | m integer
--> 6 | 3 | last | 6
--> UPDATE 1
with recursive t (n) as (select 20 union all select n + 1 from t where n < 22) insert into region select n, null, 'r' || n from t;
--> INSERT 0 3
with up as (insert into region values (20, 1, 'changed'), (30, 1, 'new') on conflict (id) do update set name = excluded.name || '!' returning id, name) select * from up order by 1;
--: id integer | name text
--> 20 | changed!
--> 30 | new
with up as (insert into region values (20, 1, 'again') on conflict do nothing returning id) select count(*) from up;
--: count bigint
--> 0
with a as (update region set name = 'A' where id = 20 returning id), b as (delete from region where id = 21 returning id) select a.id, b.id from a, b;
--: id integer | id integer
--> 20 | 21
with a as (delete from region where id >= 20) select count(*) from region where id >= 20;
--: count bigint
--> 3
select count(*) from region where id >= 20;
--: count bigint
--> 0
with t as (delete from region) select 1 from (with u as (delete from region returning 1) select * from u) s;
--> ERROR 0A000: WITH clause containing a data-modifying statement must be at the top level [POSITION: 52]
select * from (delete from region returning *) t;
--> ERROR 42601: syntax error at or near "from" [POSITION: 23]
select (with u as (delete from region returning 1) select 1);
--> ERROR 0A000: WITH clause containing a data-modifying statement must be at the top level [POSITION: 14]
with t as (delete from region where id = 6) select * from t;
--> ERROR 0A000: WITH query "t" does not have a RETURNING clause [POSITION: 59]
with t as (create table x (a int)) select 1;
--> ERROR 42601: syntax error at or near "create" [POSITION: 12]
drop table region;

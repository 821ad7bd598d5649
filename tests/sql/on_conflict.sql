-- # INSERT ... ON CONFLICT

create table counter (id int primary key, name text unique, n int default 0, part text, live bool default true, check (n < 100));
create unique index counter_part on counter (part) where live;
--> CREATE INDEX
create unique index counter_lower on counter (lower(name), n);
--> CREATE INDEX
insert into counter values (1, 'one', 1, 'p', true), (2, 'two', 2, 'q', false);
--> INSERT 0 2

-- each c:  | (id) | (name) | on constraint counter_pkey | on constraint counter_name_key | (part) where live | (part) | (n) | (id, name) | on constraint nosuch | (lower(name), n) | (nosuch) | (id) where n > 0 | (id desc) | ((id))
insert into counter values (1, 'one', 1, 'p') on conflict {c} do nothing returning id;
--> | (id) => ERROR 42601: syntax error at or near "|" [POSITION: 59]
--: id integer
--> (name) => INSERT 0 0
--> on constraint counter_pkey => INSERT 0 0
--> on constraint counter_name_key => INSERT 0 0
--> (part) where live => INSERT 0 0
--> (part) => ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT specification
--> (n) => ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT specification
--> (id, name) => ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT specification
--> on constraint nosuch => ERROR 42704: constraint "nosuch" for table "counter" does not exist
--> (lower(name), n) => INSERT 0 0
--> (nosuch) => ERROR 42703: column "nosuch" does not exist [POSITION: 59]
--> (id) where n > 0 => INSERT 0 0
--> (id desc) => ERROR 42P10: ASC/DESC is not allowed in ON CONFLICT clause [POSITION: 59]
--> ((id)) => INSERT 0 0
insert into counter values (1, 'x') on conflict (id) do update set n = counter.n + 1 returning id, name, n;
--: id integer | name text | n integer
--> 1 | one | 2
--> INSERT 0 1
insert into counter values (1, 'x', 5) on conflict (id) do update set n = counter.n + excluded.n, name = excluded.name returning *;
--: id integer | name text | n integer | part text | live boolean
--> 1 | x | 7 | p | t
--> INSERT 0 1
insert into counter as c values (1, 'y', 50) on conflict (id) do update set n = excluded.n where c.n < 5 returning *;
--: id integer | name text | n integer | part text | live boolean
--> INSERT 0 0
insert into counter as c values (1, 'y', 50) on conflict (id) do update set n = excluded.n where c.n > 5 returning c.n, c.name;
--: n integer | name text
--> 50 | x
--> INSERT 0 1
insert into counter values (3, 'three'), (1, 'z', 0), (4, 'four') on conflict (id) do update set name = 'was ' || excluded.name returning id, name;
--> ERROR 42601: VALUES lists must all be the same length [POSITION: 43]
insert into counter values (7, 'a'), (7, 'b') on conflict (id) do update set n = 1;
--> ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time [HINT: Ensure that no rows proposed for insertion within the same command have duplicate constrained values.]
insert into counter values (7, 'a'), (7, 'b') on conflict (id) do nothing returning id, name;
--: id integer | name text
--> 7 | a
--> INSERT 0 1
insert into counter values (8, 'a') on conflict (id) do update set n = 1;
--> ERROR 23505: duplicate key value violates unique constraint "counter_name_key" [DETAIL: Key (name)=(a) already exists.]
insert into counter (id, name) values (8, 'a') on conflict (name) do update set id = excluded.id returning id, name;
--: id integer | name text
--> 8 | a
--> INSERT 0 1
insert into counter (id, n) values (1, 500) on conflict (id) do update set n = 1;
--> ERROR 23514: new row for relation "counter" violates check constraint "counter_n_check" [DETAIL: Failing row contains (1, null, 500, null, t).]
insert into counter (id, n) values (1, 50) on conflict (id) do update set n = 500;
--> ERROR 23514: new row for relation "counter" violates check constraint "counter_n_check" [DETAIL: Failing row contains (1, x, 500, p, t).]
insert into counter values (1) on conflict (id) do update set id = 2;
--> ERROR 23505: duplicate key value violates unique constraint "counter_pkey" [DETAIL: Key (id)=(2) already exists.]
insert into counter values (1) on conflict (id) do update set (name, n) = ('set', 9) returning name, n;
--: name text | n integer
--> set | 9
--> INSERT 0 1
insert into counter values (1) on conflict (id) do update set (name, n) = (select 'sub', count(*) from counter) returning name, n;
--: name text | n integer
--> sub | 3
--> INSERT 0 1
insert into counter values (1) on conflict (id) do update set (name, n) = (select excluded.id::text, c.n from counter c where c.id = counter.id + 1) returning name, n;
--: name text | n integer
--> 1 | 2
--> INSERT 0 1
insert into counter values (1) on conflict (id) do update set n = default returning n;
--: n integer
--> 0
--> INSERT 0 1
insert into counter values (1, 'w') on conflict (id) do update set n = 3 where (select max(n) from counter c where c.id <> counter.id) < 50 returning n;
--: n integer
--> 3
--> INSERT 0 1
insert into counter values (1, 'w') on conflict (id) do update set n = 4 where exists (select from counter c where c.id = excluded.id + 1) returning n;
--: n integer
--> 4
--> INSERT 0 1
insert into counter values (1, 'w') on conflict (id) do update set n = 5 where counter.n in (select n + 1 from counter c where c.id = counter.id) returning n;
--: n integer
--> INSERT 0 0
insert into counter select id, 'again', n + 1 from counter where id < 3 on conflict (id) do update set n = excluded.n returning id, n;
--: id integer | n integer
--> 2 | 3
--> 1 | 5
--> INSERT 0 2
insert into counter values (50, 'fifty', 5, 'p') on conflict (part) where live do update set part = 'moved' returning id, part;
--: id integer | part text
--> 1 | moved
--> INSERT 0 1
insert into counter values (51, 'x51', 5, 'q') on conflict (part) where live do nothing returning id, part;
--: id integer | part text
--> 51 | q
--> INSERT 0 1
insert into counter values (1) on conflict do update set n = 1;
--> ERROR 42601: ON CONFLICT DO UPDATE requires inference specification or constraint name [HINT: For example, ON CONFLICT (column_name).] [POSITION: 32]
insert into counter values (1) on conflict (id) do update set nosuch = 1;
--> ERROR 42703: column "nosuch" of relation "counter" does not exist [POSITION: 63]
insert into counter values (1) on conflict (id) do update set n = nosuch;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 67]
insert into counter values (1) on conflict (id) do update set n = n + 1;
--> ERROR 42702: column reference "n" is ambiguous [POSITION: 67]
insert into counter values (1) on conflict (id) do update set n = excluded.nosuch;
--> ERROR 42703: column excluded.nosuch does not exist [POSITION: 67]
insert into counter values (1) on conflict (id) do update set n = 1 returning excluded.n;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "excluded" [HINT: There is an entry for table "excluded", but it cannot be referenced from this part of the query.] [POSITION: 79]
insert into counter values (1) on conflict (id) do update set n = count(*);
--> ERROR 42803: aggregate functions are not allowed in UPDATE [POSITION: 67]
insert into counter values (1) on conflict (id) do update;
--> ERROR 42601: syntax error at or near ";" [POSITION: 58]
insert into counter values (1) on conflict (id) do nothing where true;
--> ERROR 42601: syntax error at or near "where" [POSITION: 60]
with x as (insert into counter values (1, 'cte') on conflict (id) do update set n = 42 returning id, n) select * from x;
--: id integer | n integer
--> 1 | 42
with x as (insert into counter values (60, 'cte', 6) on conflict (id) do nothing returning id) select (select count(*) from x), (select count(*) from counter where id = 60);
--: count bigint | count bigint
--> 1 | 0
with src as (select 1 as id, 7 as n) insert into counter (id, n) select * from src on conflict (id) do update set n = excluded.n returning n;
--: n integer
--> 7
--> INSERT 0 1
with del as (delete from counter where id = 60 returning id) insert into counter (id, n) select 1, id from del on conflict (id) do update set n = excluded.n returning id, n;
--: id integer | n integer
--> 1 | 60
--> INSERT 0 1
insert into counter values (null, 'x') on conflict (id) do nothing;
--> ERROR 23502: null value in column "id" of relation "counter" violates not-null constraint [DETAIL: Failing row contains (null, x, 0, null, t).]
select id, name, n from counter order by id;
--: id integer | name text | n integer
--> 1 | 1 | 60
--> 2 | two | 3
--> 8 | a | 0
--> 51 | x51 | 5
drop table counter;

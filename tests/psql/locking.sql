-- Which reads lock, by EXPLAIN: scenarios A1 to A12 of implicit and explicit row locks.
create table t (k int primary key, a int, b int, c int unique);
create table other (id int primary key, x int);
create index t_a on t (a);
insert into t select n, n % 10, n, n from generate_series(1, 1000) n;
analyze t;
show enable_implicit_select_for_update;
\echo A1: by primary key, with the lock and without
explain (costs off) update t set b = 1 where k = 5;
set enable_implicit_select_for_update = off;
explain (costs off) update t set b = 1 where k = 5;
reset enable_implicit_select_for_update;
\echo A2: a range of the key, and the whole table
explain (costs off) update t set b = 1 where k between 10 and 20;
explain (costs off) update t set b = 1;
\echo A3: a filter that the scan evaluates itself: only the rows that pass are locked
explain (costs off) update t set b = 1 where b = 7;
explain (costs off) update t set b = 1 where k < 20 and b = 7;
\echo A4: through a secondary index
explain (costs off) update t set b = 1 where c = 5;
\echo key columns that change take the stronger lock
explain (costs off) update t set c = 1 where k = 5;
explain (costs off) update t set k = 1 where k = 5;
\echo A6: subqueries are only read
explain (costs off) update t set b = (select max(x) from other) where k = 5;
\echo a joined table is only read, and the join could discard rows
explain (costs off) update t set b = x from other where id = k;
\echo A8: upsert
explain (costs off) insert into t values (1, 1, 1, 1) on conflict (k) do update set b = 2;
explain (costs off) insert into t values (1, 1, 1, 1) on conflict do nothing;
explain (costs off) insert into t values (1, 1, 1, 1);
\echo A9: delete
explain (costs off) delete from t where k = 5;
explain (costs off) delete from t where b = 5;
\echo A10: prepared statements behave alike
prepare p (int) as update t set b = 1 where k = $1;
explain (costs off) execute p (5);
\echo A11: the setting and its scope
begin;
set local enable_implicit_select_for_update = off;
show enable_implicit_select_for_update;
rollback;
show enable_implicit_select_for_update;
set enable_implicit_select_for_update = maybe;
\echo A12: explicit locks
explain (costs off) select * from t where k = 5 for update;
explain (costs off) select * from t where k = 5 for no key update;
explain (costs off) select * from t where k = 5 for share;
explain (costs off) select * from t where k = 5 for key share;
explain (costs off) select * from t where k = 5 for share for update;
select * from t for update of nobody;
select * from t for update of public.t;
select distinct a from t for update;
select count(*) from t for update;
select a from t group by a for update;
select a from t union select a from t for update;
select row_number() over () from t for update;
begin read only;
select * from t for update;
rollback;
drop table t, other;

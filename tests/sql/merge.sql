-- # MERGE

create table account (id int primary key, balance int check (balance >= 0), note text default 'new');
create table change (id int, delta int, kind text);
insert into account values (1, 100, 'a'), (2, 50, 'b'), (3, 0, 'c');
--> INSERT 0 3
insert into change values (1, 10, 'add'), (2, -50, 'close'), (4, 40, 'add'), (5, 0, 'skip');
--> INSERT 0 4

begin;
merge into account a using change c on a.id = c.id when matched then update set balance = a.balance + c.delta when not matched then insert values (c.id, c.delta);
--> MERGE 4
select * from account order by id;
--: id integer | balance integer | note text
--> 1 | 110 | a
--> 2 | 0 | b
--> 3 | 0 | c
--> 4 | 40 | new
--> 5 | 0 | new
rollback;
begin;
merge into account as a using change as c on a.id = c.id
  when matched and a.balance + c.delta = 0 then delete
  when matched then update set balance = balance + delta, note = kind
  when not matched and c.delta = 0 then do nothing
  when not matched then insert (id, balance) values (c.id, c.delta);
--> MERGE 3
select * from account order by id;
--: id integer | balance integer | note text
--> 1 | 110 | add
--> 3 | 0 | c
--> 4 | 40 | new
rollback;
begin;
merge into account using (select id, sum(delta) as d from change group by id) s on account.id = s.id when matched then do nothing when not matched then insert (balance, id) values (d, s.id);
--> MERGE 2
select * from account order by id;
--: id integer | balance integer | note text
--> 1 | 100 | a
--> 2 | 50 | b
--> 3 | 0 | c
--> 4 | 40 | new
--> 5 | 0 | new
merge into account using (values (1), (2)) v (id) on account.id = v.id when matched then update set note = default, (balance) = row(v.id);
--> MERGE 2
merge into account using (values (10)) v (id) on false when not matched then insert default values;
--> ERROR 23502: null value in column "id" of relation "account" violates not-null constraint [DETAIL: Failing row contains (null, null, new).]
merge into account using (values (11)) v (id) on account.id = v.id when not matched then insert (id, note) values (v.id, default);
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
select * from account order by id;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
rollback;
begin;
merge into account a using account b on a.id = b.id when matched and b.balance > 10 then update set balance = 1 when matched then delete;
--> MERGE 3
select * from account order by id;
--: id integer | balance integer | note text
--> 1 | 1 | a
--> 2 | 1 | b
rollback;
begin;
with c as (select 1 as id, 5 as n) merge into account a using c on a.id = c.id when matched then update set balance = n;
--> MERGE 1
merge into account a using change c on a.id = c.id and c.kind = 'add' when matched then update set balance = (select max(balance) from account x where x.id <> a.id);
--> MERGE 1
merge into account a using change c on a.id = c.id when matched and c.kind in (select 'close') then delete;
--> MERGE 1
merge into only account a using change c on a.id = c.id when not matched by target then insert values (1, 2);
--> ERROR 42601: syntax error at or near "by" [POSITION: 74]
rollback;
begin;
merge into account a using change c on a.id < c.id when matched then update set balance = 1;
--> ERROR 21000: MERGE command cannot affect row a second time [HINT: Ensure that not more than one source row matches any one target row.]
rollback;
begin;
merge into account a using (values (1), (1)) v (id) on a.id = v.id when matched then delete;
--> ERROR 21000: MERGE command cannot affect row a second time [HINT: Ensure that not more than one source row matches any one target row.]
rollback;
merge into account a using (values (9), (9)) v (id) on a.id = v.id when not matched then insert values (v.id, 1);
--> ERROR 23505: duplicate key value violates unique constraint "account_pkey" [DETAIL: Key (id)=(9) already exists.]
merge into account a using change c on a.id = c.id when matched then update set balance = -5;
--> ERROR 23514: new row for relation "account" violates check constraint "account_balance_check" [DETAIL: Failing row contains (1, -5, a).]
merge into account a using change c on a.id = c.id when not matched then insert (balance) values (1);
--> ERROR 23502: null value in column "id" of relation "account" violates not-null constraint [DETAIL: Failing row contains (null, 1, new).]
-- each w: when matched then update set nosuch = 1 | when matched then update set balance = nosuch | when matched then update set a.balance = 1 | when not matched then insert (nosuch) values (1) | when not matched then insert (id) values (1, 2) | when not matched then insert (id, balance) values (1) | when not matched then insert values (a.id) | when not matched and a.id = 1 then do nothing | when matched then insert values (1) | when not matched then update set balance = 1 | when not matched then delete | when matched then delete when matched then do nothing | when matched and true then delete when matched then do nothing when matched then delete | when matched then update set balance = count(*) | when matched and 1 then delete | when matched then update set balance = 'x' | when not matched then insert select 1 |
merge into account a using change c on a.id = c.id {w};
--> when matched then update set nosuch = 1 => ERROR 42703: column "nosuch" of relation "account" does not exist [POSITION: 81]
--> when matched then update set balance = nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 91]
--> when matched then update set a.balance = 1 => ERROR 42703: column "a" of relation "account" does not exist [POSITION: 81]
--> when not matched then insert (nosuch) values (1) => ERROR 42703: column "nosuch" of relation "account" does not exist [POSITION: 82]
--> when not matched then insert (id) values (1, 2) => ERROR 42601: INSERT has more expressions than target columns [POSITION: 97]
--> when not matched then insert (id, balance) values (1) => ERROR 42601: INSERT has more target columns than expressions [POSITION: 86]
--> when not matched then insert values (a.id) => ERROR 42P01: invalid reference to FROM-clause entry for table "a" [HINT: There is an entry for table "a", but it cannot be referenced from this part of the query.] [POSITION: 89]
--> when not matched and a.id = 1 then do nothing => ERROR 42P01: invalid reference to FROM-clause entry for table "a" [HINT: There is an entry for table "a", but it cannot be referenced from this part of the query.] [POSITION: 73]
--> when matched then insert values (1) => ERROR 42601: syntax error at or near "insert" [POSITION: 70]
--> when not matched then update set balance = 1 => ERROR 42601: syntax error at or near "update" [POSITION: 74]
--> when not matched then delete => ERROR 42601: syntax error at or near "delete" [POSITION: 74]
--> when matched then delete when matched then do nothing => ERROR 42601: unreachable WHEN clause specified after unconditional WHEN clause
--> when matched and true then delete when matched then do nothing when matched then delete => ERROR 42601: unreachable WHEN clause specified after unconditional WHEN clause
--> when matched then update set balance = count(*) => ERROR 42803: aggregate functions are not allowed in UPDATE [POSITION: 91]
--> when matched and 1 then delete => ERROR 42804: argument of WHEN must be type boolean, not type integer [POSITION: 69]
--> when matched then update set balance = 'x' => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 91]
--> when not matched then insert select 1 => ERROR 42601: syntax error at or near "select" [POSITION: 81]
-->  => ERROR 42601: syntax error at or near ";" [POSITION: 52]
merge into account a using change c on a.nosuch = c.id when matched then delete;
--> ERROR 42703: column a.nosuch does not exist [POSITION: 40]
merge into nosuch a using change c on a.id = c.id when matched then delete;
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 12]
merge into account a using nosuch c on a.id = c.id when matched then delete;
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 28]
merge into account a using change a on a.id = a.id when matched then delete;
--> ERROR 42712: name "a" specified more than once [DETAIL: The name is used both as MERGE target table and data source.]
merge into account a using change c on a.id = c.id when matched then delete returning a.id;
--> ERROR 42601: syntax error at or near "returning" [POSITION: 77]
with m as (merge into account a using change c on a.id = c.id when matched then delete) select 1;
--> ERROR 0A000: MERGE not supported in WITH query [POSITION: 6]
create view account_view as select * from account;
merge into account_view a using change c on a.id = c.id when matched then delete;
--> ERROR 0A000: cannot execute MERGE on relation "account_view" [DETAIL: This operation is not supported for views.]
merge into account a using account_view v on a.id = v.id when matched and v.id = 3 then delete;
--> MERGE 1
explain (costs off) merge into account a using change c on a.id = c.id when matched then delete;
--: QUERY PLAN text
--> Merge on account a
--> "  ->  Hash Join"
--> "        Hash Cond: (c.id = a.id)"
--> "        ->  Seq Scan on change c"
--> "        ->  Hash"
--> "              ->  Seq Scan on account a"
prepare m (int, int) as merge into account a using (values ($1, $2)) v (id, n) on a.id = v.id when matched then update set balance = n when not matched then insert values (v.id, n);
execute m (1, 7);
--> MERGE 1
execute m (77, 8);
--> MERGE 1
select * from account order by id;
--: id integer | balance integer | note text
--> 1 | 7 | a
--> 2 | 50 | b
--> 77 | 8 | new
-- Identity and generated columns.
create table made (id int generated always as identity, x int, twice int generated always as (x * 2) stored);
merge into made using (values (1), (2)) v (x) on made.x = v.x when not matched then insert (x) values (v.x);
--> MERGE 2
merge into made using (values (1), (3)) v (x) on made.x = v.x when matched then update set x = 10 when not matched then insert (id, x) overriding system value values (100, v.x);
--> MERGE 2
merge into made using (values (9)) v (x) on made.x = v.x when not matched then insert (id, x) values (5, v.x);
--> ERROR 428C9: cannot insert a non-DEFAULT value into column "id" [DETAIL: Column "id" is an identity column defined as GENERATED ALWAYS.] [HINT: Use OVERRIDING SYSTEM VALUE to override.]
merge into made using (values (9)) v (x) on made.x = v.x when not matched then insert (x, twice) values (5, 5);
--> ERROR 428C9: cannot insert a non-DEFAULT value into column "twice" [DETAIL: Column "twice" is a generated column.]
merge into made using (values (10)) v (x) on made.x = v.x when matched then update set twice = 5;
--> ERROR 428C9: column "twice" can only be updated to DEFAULT [DETAIL: Column "twice" is a generated column.]
select * from made order by id;
--: id integer | x integer | twice integer
--> 1 | 2 | 4
--> 2 | 10 | 20
--> 100 | 3 | 6
drop view account_view;
drop table account, change, made;

-- # INSERT, UPDATE, DELETE, RETURNING: chapter 6

create table item (id int primary key, name text not null default 'none', n int check (n >= 0), price numeric(6,2) default 1.5, at timestamp default '2024-01-01', tags text[]);

-- ## INSERT

insert into item values (1, 'a', 1, 2.5);
--> INSERT 0 1
insert into item (name, id) values ('b', 2) returning *;
--: id integer | name text | n integer | price numeric(393222) | at timestamp without time zone | tags text[]
--> 2 | b | ∅ | 1.50 | 2024-01-01 00:00:00 | ∅
--> INSERT 0 1
insert into item (id) values (3), (4) returning id, name, price;
--: id integer | name text | price numeric(393222)
--> 3 | none | 1.50
--> 4 | none | 1.50
--> INSERT 0 2
insert into item default values;
--> ERROR 23502: null value in column "id" of relation "item" violates not-null constraint [DETAIL: Failing row contains (null, none, null, 1.50, 2024-01-01 00:00:00, null).]
insert into item values (5, default, default, default) returning *;
--: id integer | name text | n integer | price numeric(393222) | at timestamp without time zone | tags text[]
--> 5 | none | ∅ | 1.50 | 2024-01-01 00:00:00 | ∅
--> INSERT 0 1
insert into item select id + 10, name, n from item where id < 3 returning id;
--: id integer
--> 11
--> 12
--> INSERT 0 2
insert into item (id, name) select 20, 'x' union all select 21, 'y' returning id, upper(name) as u;
--: id integer | u text
--> 20 | X
--> 21 | Y
--> INSERT 0 2
insert into item as i (id, n) values (6, 7) returning i.id, i.n * 2 as double, i.*;
--: id integer | double integer | id integer | name text | n integer | price numeric(393222) | at timestamp without time zone | tags text[]
--> 6 | 14 | 6 | none | 7 | 1.50 | 2024-01-01 00:00:00 | ∅
--> INSERT 0 1
insert into item (id, price) values (7, 1.005), (8, '2') returning price;
--: price numeric(393222)
--> 1.01
--> 2.00
--> INSERT 0 2
insert into item (id, n) values (9, '5'), (10, 2.6) returning n;
--: n integer
--> 5
--> 3
--> INSERT 0 2
insert into item (id, name) values (30, 42), (31, true), (32, date '2024-01-01') returning name;
--: name text
--> 42
--> true
--> 2024-01-01
--> INSERT 0 3
insert into item (id, tags) values (33, '{a,b}'), (34, array['c']) returning tags;
--: tags text[]
--> {a,b}
--> {c}
--> INSERT 0 2
insert into item (id, name) (select 35, 'paren') returning id;
--: id integer
--> 35
--> INSERT 0 1
insert into item (id, name) table (values (36, 'x'));
--> ERROR 42601: syntax error at or near "(" [POSITION: 35]
with v as (select 37 as id) insert into item (id) select id from v returning id;
--: id integer
--> 37
--> INSERT 0 1
insert into item (id, n) values ((select max(id) + 1 from item), (select count(*) from item)) returning id, n > 10;
--: id integer | ?column? boolean
--> 38 | t
--> INSERT 0 1
insert into item (id) select generate_series(50, 52) returning id;
--: id integer
--> 50
--> 51
--> 52
--> INSERT 0 3
insert into item (id, name) values (60, 'q') returning (select max(id) from item), id in (select id from item);
--: max integer | ?column? boolean
--> 52 | f
--> INSERT 0 1
-- each v: (1, 'dup') | (100, null) | (101, 'x', -1) | (102, 'x', 1, 99999.99) | (103, 'x', 'abc') | (null, 'x') | (104, 'a', 1, 1, '2024-13-01') | (105, 'a', 1, 1, null, null, 7) | ('x') | (106, 'x', 3000000000) | (107, 'x', true) | (108, 'x', array[1]) | (1), (2, 'x')
insert into item values {v};
--> (1, 'dup') => ERROR 23505: duplicate key value violates unique constraint "item_pkey" [DETAIL: Key (id)=(1) already exists.]
--> (100, null) => ERROR 23502: null value in column "name" of relation "item" violates not-null constraint [DETAIL: Failing row contains (100, null, null, 1.50, 2024-01-01 00:00:00, null).]
--> (101, 'x', -1) => ERROR 23514: new row for relation "item" violates check constraint "item_n_check" [DETAIL: Failing row contains (101, x, -1, 1.50, 2024-01-01 00:00:00, null).]
--> (102, 'x', 1, 99999.99) => ERROR 22003: numeric field overflow [DETAIL: A field with precision 6, scale 2 must round to an absolute value less than 10^4.]
--> (103, 'x', 'abc') => ERROR 22P02: invalid input syntax for type integer: "abc" [POSITION: 36]
--> (null, 'x') => ERROR 23502: null value in column "id" of relation "item" violates not-null constraint [DETAIL: Failing row contains (null, x, null, 1.50, 2024-01-01 00:00:00, null).]
--> (104, 'a', 1, 1, '2024-13-01') => ERROR 22008: date/time field value out of range: "2024-13-01" [HINT: Perhaps you need a different "datestyle" setting.] [POSITION: 42]
--> (105, 'a', 1, 1, null, null, 7) => ERROR 42601: INSERT has more expressions than target columns [POSITION: 54]
--> ('x') => ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 26]
--> (106, 'x', 3000000000) => ERROR 22003: integer out of range
--> (107, 'x', true) => ERROR 42804: column "n" is of type integer but expression is of type boolean [HINT: You will need to rewrite or cast the expression.] [POSITION: 36]
--> (108, 'x', array[1]) => ERROR 42804: column "n" is of type integer but expression is of type integer[] [HINT: You will need to rewrite or cast the expression.] [POSITION: 36]
--> (1), (2, 'x') => ERROR 42601: VALUES lists must all be the same length [POSITION: 31]
-- each c: (id, nosuch) values (1, 2) | (id, id) values (1, 2) | (id, name) values (1) | (id) values (1, 2) | (id) select 1, 2 | (id, name) select 200 | (item.id) values (1) | (id) values (200) returning nosuch | (id) values (nosuch) | (id) values (id) | (id, name) values (default) | (id) values (default) | () values (1) | (id) overriding user value values (1)
insert into item {c};
--> (id, nosuch) values (1, 2) => ERROR 42703: column "nosuch" of relation "item" does not exist [POSITION: 23]
--> (id, id) values (1, 2) => ERROR 42701: column "id" specified more than once [POSITION: 23]
--> (id, name) values (1) => ERROR 42601: INSERT has more target columns than expressions [POSITION: 23]
--> (id) values (1, 2) => ERROR 42601: INSERT has more expressions than target columns [POSITION: 34]
--> (id) select 1, 2 => ERROR 42601: INSERT has more expressions than target columns [POSITION: 33]
--> (id, name) select 200 => ERROR 42601: INSERT has more target columns than expressions [POSITION: 23]
--> (item.id) values (1) => ERROR 42703: column "item" of relation "item" does not exist [POSITION: 19]
--> (id) values (200) returning nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 46]
--> (id) values (nosuch) => ERROR 42703: column "nosuch" does not exist [POSITION: 31]
--> (id) values (id) => ERROR 42703: column "id" does not exist [HINT: There is a column named "id" in table "item", but it cannot be referenced from this part of the query.] [POSITION: 31]
--> (id, name) values (default) => ERROR 42601: INSERT has more target columns than expressions [POSITION: 23]
--> (id) values (default) => ERROR 23502: null value in column "id" of relation "item" violates not-null constraint [DETAIL: Failing row contains (null, none, null, 1.50, 2024-01-01 00:00:00, null).]
--> () values (1) => ERROR 42601: syntax error at or near ")" [POSITION: 19]
--> (id) overriding user value values (1) => ERROR 23505: duplicate key value violates unique constraint "item_pkey" [DETAIL: Key (id)=(1) already exists.]
insert into nosuch values (1);
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 13]
insert into item values;
--> ERROR 42601: syntax error at or near ";" [POSITION: 24]

-- ## UPDATE

update item set n = 5 where id = 1 returning *;
--: id integer | name text | n integer | price numeric(393222) | at timestamp without time zone | tags text[]
--> 1 | a | 5 | 2.50 | 2024-01-01 00:00:00 | ∅
--> UPDATE 1
update item set n = n + 1, name = name || '!' where id in (1, 2) returning id, n, name;
--: id integer | n integer | name text
--> 1 | 6 | a!
--> 2 | ∅ | b!
--> UPDATE 2
update item set price = default, at = default where id = 1 returning price, at;
--: price numeric(393222) | at timestamp without time zone
--> 1.50 | 2024-01-01 00:00:00
--> UPDATE 1
update item set (name, n) = ('both', 3) where id = 3 returning name, n;
--: name text | n integer
--> both | 3
--> UPDATE 1
update item set (name, n) = row('row', 4) where id = 3 returning name, n;
--: name text | n integer
--> row | 4
--> UPDATE 1
update item set (name, n) = (select 'sub', max(id) from item) where id = 4 returning name, n;
--: name text | n integer
--> sub | 60
--> UPDATE 1
update item set (name, n) = (select i.name || '?', i.id from item i where i.id = item.id + 1) where id in (1, 5) returning id, name, n;
--: id integer | name text | n integer
--> 1 | b!? | 2
--> 5 | none? | 6
--> UPDATE 2
update item set (name) = ('single') where id = 5 returning name;
--> ERROR 0A000: source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression [POSITION: 27]
update item set (name) = row('one') where id = 5 returning name;
--: name text
--> one
--> UPDATE 1
update item set (n, price) = (default, 9) where id = 5 returning n, price;
--: n integer | price numeric(393222)
--> ∅ | 9.00
--> UPDATE 1
update item set (n, price) = (values (8, 8.5)) where id = 5 returning n, price;
--: n integer | price numeric(393222)
--> 8 | 8.50
--> UPDATE 1
update item set (n, price) = (select 1, 2 where false) where id = 5 returning n, price;
--: n integer | price numeric(393222)
--> ∅ | ∅
--> UPDATE 1
update item i set n = v.n from (values (1, 100), (2, 200)) v (id, n) where i.id = v.id returning i.id, i.n, v.n as given;
--: id integer | n integer | given integer
--> 1 | 100 | 100
--> 2 | 200 | 200
--> UPDATE 2
update item set n = o.id from item o where o.id = item.id + 1 and item.id < 3 returning item.id, item.n, o.id;
--: id integer | n integer | id integer
--> 1 | 2 | 2
--> 2 | 3 | 3
--> UPDATE 2
update item set n = 1 from (values (1), (1)) v (id) where item.id = v.id returning item.id;
--: id integer
--> 1
--> UPDATE 1
update item as x set name = upper(x.name) where x.id = 2 returning x.name;
--: name text
--> B!
--> UPDATE 1
with u as (update item set n = (select count(*) from item b where b.id < item.id) where id < 6 returning id, n) select * from u order by id;
--: id integer | n integer
--> 1 | 0
--> 2 | 1
--> 3 | 2
--> 4 | 3
--> 5 | 4
update item set id = 300 where id = 60 returning id;
--: id integer
--> 300
--> UPDATE 1
update item set id = id where id = 300;
--> UPDATE 1
update item set n = 0 where false;
--> UPDATE 0
with u as (update item set name = 'all' where id > 40 returning id) select * from u order by id;
--: id integer
--> 50
--> 51
--> 52
--> 300
update only item set n = 2 where id = 1 returning n;
--: n integer
--> 2
--> UPDATE 1
with t as (select 1 as id) update item set n = 77 from t where item.id = t.id returning item.n;
--: n integer
--> 77
--> UPDATE 1
update item set n = n + 1, price = n where id = 1 returning n, price;
--: n integer | price numeric(393222)
--> 78 | 77.00
--> UPDATE 1
update item set tags = array_append(tags, 'z') where id = 33 returning tags;
--: tags text[]
--> {a,b,z}
--> UPDATE 1
-- each s: id = 2 where id = 1 | name = null where id = 1 | n = -1 where id = 1 | n = 'abc' | nosuch = 1 | item.n = 1 | n = nosuch | n = 1, n = 2 | (n, name) = (1) | (n, name) = (1, 'a', 2) | (n, name) = (select 1) | (n, price) = (select 1, 2, 3) | n = true | price = 1e10 where id = 1 | n = (select id from item) | n = default + 1 | (n) = (select 1, 2) | n = count(*) | n = 1 where count(*) > 1 | n = rank() over () | n = 1 returning nosuch | n = 1 order by id | n = 1 limit 1 | (n, price) = 5 | (n, n) = (1, 2) | n = 1 from item | (n, price) = (select id, id from item)
update item set {s};
--> id = 2 where id = 1 => ERROR 23505: duplicate key value violates unique constraint "item_pkey" [DETAIL: Key (id)=(2) already exists.]
--> name = null where id = 1 => ERROR 23502: null value in column "name" of relation "item" violates not-null constraint [DETAIL: Failing row contains (1, null, 78, 77.00, 2024-01-01 00:00:00, null).]
--> n = -1 where id = 1 => ERROR 23514: new row for relation "item" violates check constraint "item_n_check" [DETAIL: Failing row contains (1, b!?, -1, 77.00, 2024-01-01 00:00:00, null).]
--> n = 'abc' => ERROR 22P02: invalid input syntax for type integer: "abc" [POSITION: 21]
--> nosuch = 1 => ERROR 42703: column "nosuch" of relation "item" does not exist [POSITION: 17]
--> item.n = 1 => ERROR 42703: column "item" of relation "item" does not exist [POSITION: 17]
--> n = nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 21]
--> n = 1, n = 2 => ERROR 42601: multiple assignments to same column "n"
--> (n, name) = (1) => ERROR 0A000: source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression [POSITION: 30]
--> (n, name) = (1, 'a', 2) => ERROR 42601: number of columns does not match number of values [POSITION: 29]
--> (n, name) = (select 1) => ERROR 42601: number of columns does not match number of values [POSITION: 29]
--> (n, price) = (select 1, 2, 3) => ERROR 42601: number of columns does not match number of values [POSITION: 30]
--> n = true => ERROR 42804: column "n" is of type integer but expression is of type boolean [HINT: You will need to rewrite or cast the expression.] [POSITION: 21]
--> price = 1e10 where id = 1 => ERROR 22003: numeric field overflow [DETAIL: A field with precision 6, scale 2 must round to an absolute value less than 10^4.]
--> n = (select id from item) => ERROR 21000: more than one row returned by a subquery used as an expression
--> n = default + 1 => ERROR 42601: DEFAULT is not allowed in this context [POSITION: 21]
--> (n) = (select 1, 2) => ERROR 42601: number of columns does not match number of values [POSITION: 23]
--> n = count(*) => ERROR 42803: aggregate functions are not allowed in UPDATE [POSITION: 21]
--> n = 1 where count(*) > 1 => ERROR 42803: aggregate functions are not allowed in WHERE [POSITION: 29]
--> n = rank() over () => ERROR 42P20: window functions are not allowed in UPDATE [POSITION: 21]
--> n = 1 returning nosuch => ERROR 42703: column "nosuch" does not exist [POSITION: 33]
--> n = 1 order by id => ERROR 42601: syntax error at or near "order" [POSITION: 23]
--> n = 1 limit 1 => ERROR 42601: syntax error at or near "limit" [POSITION: 23]
--> (n, price) = 5 => ERROR 0A000: source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression [POSITION: 30]
--> (n, n) = (1, 2) => ERROR 42601: multiple assignments to same column "n"
--> n = 1 from item => ERROR 42712: table name "item" specified more than once
--> (n, price) = (select id, id from item) => ERROR 21000: more than one row returned by a subquery used as an expression
update nosuch set a = 1;
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 8]
update item i set n = 1 where item.id = 1;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "item" [HINT: Perhaps you meant to reference the table alias "i".] [POSITION: 31]
update item set n = 1 from nosuch;
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 28]

-- ## DELETE

delete from item where id = 300 returning *;
--: id integer | name text | n integer | price numeric(393222) | at timestamp without time zone | tags text[]
--> 300 | all | ∅ | 1.50 | 2024-01-01 00:00:00 | ∅
--> DELETE 1
delete from item where id > 49 returning id, name;
--: id integer | name text
--> 50 | all
--> 51 | all
--> 52 | all
--> DELETE 3
delete from item i using (values (20), (21)) v (id) where i.id = v.id returning i.id, v.id;
--: id integer | id integer
--> 20 | 20
--> 21 | 21
--> DELETE 2
delete from item using item o where item.id = 35 and o.id = 1 returning item.id, o.id;
--: id integer | id integer
--> 35 | 1
--> DELETE 1
with d as (delete from item as d where d.id in (select id from item where id between 30 and 34) returning d.id) select * from d order by id;
--: id integer
--> 30
--> 31
--> 32
--> 33
--> 34
delete from only item where id = 37;
--> DELETE 1
with d as (delete from item where n > (select avg(n) from item) returning id) select * from d order by id;
--: id integer
--> 1
--> 38
delete from item where id = 1000;
--> DELETE 0
with t as (select 12 as id) delete from item using t where item.id = t.id returning item.id;
--: id integer
--> 12
--> DELETE 1
delete from item where nosuch = 1;
--> ERROR 42703: column "nosuch" does not exist [POSITION: 24]
delete from nosuch;
--> ERROR 42P01: relation "nosuch" does not exist [POSITION: 13]
delete from item i where item.id = 1;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "item" [HINT: Perhaps you meant to reference the table alias "i".] [POSITION: 26]
delete from item returning count(*);
--> ERROR 42803: aggregate functions are not allowed in RETURNING [POSITION: 28]
delete from item where id = 1 returning (select count(*) from item);
--: count bigint
--> DELETE 0
delete from item order by id;
--> ERROR 42601: syntax error at or near "order" [POSITION: 18]
delete item;
--> ERROR 42601: syntax error at or near "item" [POSITION: 8]
select id, name, n, price from item order by id;
--: id integer | name text | n integer | price numeric(393222)
--> 2 | B! | 1 | 1.50
--> 3 | row | 2 | 1.50
--> 4 | sub | 3 | 1.50
--> 5 | one | 4 | ∅
--> 6 | none | 7 | 1.50
--> 7 | none | ∅ | 1.01
--> 8 | none | ∅ | 2.00
--> 9 | none | 5 | 1.50
--> 10 | none | 3 | 1.50
--> 11 | a | 1 | 1.50
delete from item;
--> DELETE 10
select count(*) from item;
--: count bigint
--> 0
truncate item;
--> TRUNCATE TABLE
truncate nosuch;
--> ERROR 42P01: relation "nosuch" does not exist
drop table item;

-- ## WHERE CURRENT OF

create table queue (id int primary key, done bool default false);
insert into queue select n from generate_series(1, 4) n;
--> INSERT 0 4
begin;
declare c cursor for select * from queue order by id for update;
--> DECLARE CURSOR
fetch 1 from c;
--: id integer | done boolean
--> 1 | f
update queue set done = true where current of c returning *;
--: id integer | done boolean
--> 1 | t
--> UPDATE 1
fetch 1 from c;
--: id integer | done boolean
--> 2 | f
delete from queue where current of c returning id;
--: id integer
--> 2
--> DELETE 1
update queue set done = true where current of nosuch;
--> ERROR 34000: cursor "nosuch" does not exist
rollback;
begin;
declare c cursor for select * from queue;
--> DECLARE CURSOR
fetch 2 from c;
--: id integer | done boolean
--> 1 | f
--> 2 | f
update queue set done = true where current of c returning id;
--: id integer
--> 2
--> UPDATE 1
commit;
select * from queue order by id;
--: id integer | done boolean
--> 1 | f
--> 2 | t
--> 3 | f
--> 4 | f
begin;
declare c cursor for select * from queue where id > 0;
--> DECLARE CURSOR
update queue set done = true where current of c;
--> ERROR 24000: cursor "c" is not positioned on a row
rollback;
begin;
declare c cursor for select count(*) from queue;
--> DECLARE CURSOR
fetch 1 from c;
--: count bigint
--> 4
update queue set done = true where current of c;
--> ERROR 24000: cursor "c" is not a simply updatable scan of table "queue"
rollback;
drop table queue;

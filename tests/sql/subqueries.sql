-- # Subqueries, rows and quantified comparisons: sections 9.23, 9.24, 4.2.11, 4.2.13

create table stock (id int primary key, kind text, n int, tags text[]);
insert into stock values (1, 'a', 10, '{x}'), (2, 'a', null, '{y,z}'), (3, 'b', 30, null), (4, null, 5, '{}');
--> INSERT 0 4

-- ## EXISTS, IN, ANY, ALL over subqueries

select exists (select 1 from stock where n > 20), not exists (select from stock where false), exists (select 1 where null);
--: exists boolean | ?column? boolean | exists boolean
--> t | t | f
-- each op: in | not in | = any | <> all | > some | >= all | < any
-- each q: select n from stock | select n from stock where n is not null | select n from stock where false | select n from stock where kind = 'b' | values (5), (null)
select 5 {op} ({q}), 99 {op} ({q}), null::int {op} ({q});
--: ?column? boolean | ?column? boolean | ?column? boolean
--> in, select n from stock => t | ∅ | ∅
--> in, select n from stock where n is not null => t | f | ∅
--> in, select n from stock where false => f | f | f
--> in, select n from stock where kind = 'b' => f | f | ∅
--> in, values (5), (null) => t | ∅ | ∅
--> not in, select n from stock => f | ∅ | ∅
--> not in, select n from stock where n is not null => f | t | ∅
--> not in, select n from stock where false => t | t | t
--> not in, select n from stock where kind = 'b' => t | t | ∅
--> not in, values (5), (null) => f | ∅ | ∅
--> = any, select n from stock => t | ∅ | ∅
--> = any, select n from stock where n is not null => t | f | ∅
--> = any, select n from stock where false => f | f | f
--> = any, select n from stock where kind = 'b' => f | f | ∅
--> = any, values (5), (null) => t | ∅ | ∅
--> <> all, select n from stock => f | ∅ | ∅
--> <> all, select n from stock where n is not null => f | t | ∅
--> <> all, select n from stock where false => t | t | t
--> <> all, select n from stock where kind = 'b' => t | t | ∅
--> <> all, values (5), (null) => f | ∅ | ∅
--> > some, select n from stock => ∅ | t | ∅
--> > some, select n from stock where n is not null => f | t | ∅
--> > some, select n from stock where false => f | f | f
--> > some, select n from stock where kind = 'b' => f | t | ∅
--> > some, values (5), (null) => ∅ | t | ∅
--> >= all, select n from stock => f | ∅ | ∅
--> >= all, select n from stock where n is not null => f | t | ∅
--> >= all, select n from stock where false => t | t | t
--> >= all, select n from stock where kind = 'b' => f | t | ∅
--> >= all, values (5), (null) => ∅ | ∅ | ∅
--> < any, select n from stock => t | ∅ | ∅
--> < any, select n from stock where n is not null => t | f | ∅
--> < any, select n from stock where false => f | f | f
--> < any, select n from stock where kind = 'b' => t | f | ∅
--> < any, values (5), (null) => ∅ | ∅ | ∅
-- each l: (1, 2) | (1, 2, 3) | (null) | (2, null) | (1, null) | ('1') | (1.0)
select 1 in {l}, 1 not in {l};
--: ?column? boolean | ?column? boolean
--> (1, 2) => t | f
--> (1, 2, 3) => t | f
--> (null) => ∅ | ∅
--> (2, null) => ∅ | ∅
--> (1, null) => t | f
--> ('1') => t | f
--> (1.0) => t | f
select (1, 'a') in (select id, kind from stock), (2, 'z') not in (select id, kind from stock), (4, 'a') in (select id, kind from stock), row(1, 'a') = any (select id, kind from stock);
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> t | t | ∅ | t
select (1, 2) in ((1, 2), (3, 4)), (1, null) in ((1, 2)), (2, null) in ((1, 2)), (1, 2) not in ((1, null));
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> t | ∅ | f | ∅
select id from stock where n = (select max(n) from stock);
--: id integer
--> 3
select id from stock s where n > (select avg(n) from stock where kind = s.kind or s.kind is null) order by id;
--: id integer
select id from stock where kind in ('a', 'b') and n not in (10) order by id;
--: id integer
--> 3
select id from stock where 'y' = any (tags) or 'x' = any (tags) order by id;
--: id integer
--> 1
--> 2
select id, n > all (select n from stock where kind = 'a' and n is not null) as above from stock order by id;
--: id integer | above boolean
--> 1 | f
--> 2 | ∅
--> 3 | t
--> 4 | f
select id, (select count(*) from stock b where b.n < a.n) as below, case when exists (select from stock b where b.kind = a.kind and b.id <> a.id) then 'shared' else 'alone' end from stock a order by id;
--: id integer | below bigint | case text
--> 1 | 1 | shared
--> 2 | 0 | shared
--> 3 | 2 | alone
--> 4 | 0 | alone
select kind, n from stock where (kind, n) = (select kind, n from stock where id = 1);
--: kind text | n integer
--> a | 10
select id from stock where (kind, n) in (select kind, max(n) from stock group by kind) order by id;
--: id integer
--> 1
--> 3
select (select n from stock where id = 99), coalesce((select n from stock where id = 99), -1);
--: n integer | coalesce integer
--> ∅ | -1
select (select n from stock);
--> ERROR 21000: more than one row returned by a subquery used as an expression
select (select id, n from stock where id = 1);
--> ERROR 42601: subquery must return only one column [POSITION: 8]
select 1 in (select 1, 2);
--> ERROR 42601: subquery has too many columns [POSITION: 10]
select (1, 2) in (select 1);
--> ERROR 42601: subquery has too few columns [POSITION: 15]
select 1 = (select 1, 2);
--> ERROR 42601: subquery must return only one column [POSITION: 12]
select 1 in ();
--> ERROR 42601: syntax error at or near ")" [POSITION: 14]
select 1 > any (1, 2);
--> ERROR 42601: syntax error at or near "," [POSITION: 18]
select 1 in (select 'a');
--> ERROR 42883: operator does not exist: integer = text [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
select 1 in ('a');
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 14]
select 1 = all (select null), 1 = any (select null where false), 1 <> all ('{}'::int[]);
--> ERROR 42883: operator does not exist: integer = text [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
select (select sum(n) from stock) as total, id, n * 100 / (select sum(n) from stock) as share from stock order by id;
--: total bigint | id integer | share bigint
--> 45 | 1 | 22
--> 45 | 2 | ∅
--> 45 | 3 | 66
--> 45 | 4 | 11
select array(select id from stock order by id desc), (select array_agg(id order by id) from stock where n is not null);
--: array integer[] | array_agg integer[]
--> {4,3,2,1} | {1,3,4}
select * from stock where id = (select id from stock order by n desc nulls last limit 1);
--: id integer | kind text | n integer | tags text[]
--> 3 | b | 30 | ∅
select s.id, t.n from (select id from stock where id < 3) s, (select count(*) n from stock) t order by 1;
--: id integer | n bigint
--> 1 | 4
--> 2 | 4
select * from (select id, kind from stock) as s (a) where a = 1;
--: a integer | kind text
--> 1 | a
select (select (select max(id) from stock s3 where s3.id <= s2.id) from stock s2 where s2.id = s1.id) from stock s1 order by 1;
--: max integer
--> 1
--> 2
--> 3
--> 4
select id from stock group by id having count(*) = (select 1) and id in (select 1 union select 3) order by id;
--: id integer
--> 1
--> 3
select id from stock order by (select -n from stock s where s.id = stock.id) nulls first, id;
--: id integer
--> 2
--> 3
--> 1
--> 4
select id from stock limit (select 2) offset (select 1);
--: id integer
--> 2
--> 3
select case (select 1) when 1 then 'one' end, (select 'x') || 'y', -(select 5), (select array[1,2])[2], (select row(1, 2)) = row(1, 2), (select 1) + (select 2) * 3;
--: case text | ?column? text | ?column? integer | array integer | ?column? boolean | ?column? integer
--> one | xy | -5 | 2 | t | 7
select (select s) from stock s where id = 1;
--: s user type
--> (1,a,10,{x})
select (select s.*) from stock s where id = 1;
--> ERROR 42601: subquery must return only one column [POSITION: 8]
select x.a from (select (select 1) as a) x;
--: a integer
--> 1
select count(*) from stock where (select true);
--: count bigint
--> 4
select exists (select nosuch from stock);
--> ERROR 42703: column "nosuch" does not exist [POSITION: 23]
select exists (select * from stock order by nosuch);
--> ERROR 42703: column "nosuch" does not exist [POSITION: 45]
select id from stock where id in (select nosuch from (select 1 as x) t);
--> ERROR 42703: column "nosuch" does not exist [POSITION: 42]
select id from stock where id in (select kind from (select 1 as x) t);
--> ERROR 42883: operator does not exist: integer = text [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 31]

-- ## Row values

-- each a ~ b: (1, 2) ~ (1, 2) | (1, 2) ~ (1, 3) | (1, null) ~ (1, 2) | (1, null) ~ (2, 1) | (null, 1) ~ (null, 1) | (1, 'b') ~ (1, 'a') | row() ~ row() | row(1) ~ row(2) | (1, 2.5) ~ (1.0, 2.5)
select {a} = {b}, {a} <> {b}, {a} < {b}, {a} <= {b}, {a} > {b}, {a} is distinct from {b}, {a} is not distinct from {b};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> (1, 2), (1, 2) => t | f | f | t | f | f | t
--> (1, 2), (1, 3) => f | t | t | t | f | t | f
--> (1, null), (1, 2) => ∅ | ∅ | ∅ | ∅ | ∅ | t | f
--> (1, null), (2, 1) => f | t | t | t | f | t | f
--> (null, 1), (null, 1) => ∅ | ∅ | ∅ | ∅ | ∅ | f | t
--> (1, 'b'), (1, 'a') => f | t | f | f | t | t | f
--> row(), row() => ERROR 0A000: cannot compare rows of zero length [POSITION: 14]
--> row(1), row(2) => f | t | t | t | f | t | f
--> (1, 2.5), (1.0, 2.5) => t | f | f | t | f | f | t
-- each x: row(1, 2) | row(null, null) | row(1, null) | row() | (null, (null, null)) | null
select {x} is null, {x} is not null;
--: ?column? boolean | ?column? boolean
--> row(1, 2) => f | t
--> row(null, null) => t | f
--> row(1, null) => f | f
--> row() => t | t
--> (null, (null, null)) => f | f
--> null => t | f
select row(1, 'a b', null, '', 'q"x', array[1,2], row(1, 'n')), (1, 2)::text, row(), row(null), row(1.50, true);
--: row record | row text | row record | row record | row record
--> (1,"a b",,"","q""x","{1,2}","(1,n)") | (1,2) | () | () | (1.50,t)
select (1, 2) = (1, 2, 3);
--> ERROR 42601: unequal number of entries in row expressions [POSITION: 15]
select (1, 2) < (1, 'a');
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 21]
select row(1, 2) = row('x', 2);
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 24]
select (row(1, 2)).f1, (stock).kind, (stock.*).n from stock where id = 1;
--: f1 integer | kind text | n integer
--> 1 | a | 10
select (row(1, 2)).f3;
--> ERROR 42703: could not identify column "f3" in record data type [POSITION: 9]
select (1).x;
--> ERROR 42809: column notation .x applied to type integer, which is not a composite type [POSITION: 9]
select row(stock.*, 9), row(stock, 9) from stock where id = 1;
--: row record | row record
--> (1,a,10,{x},9) | ("(1,a,10,{x})",9)
select s = row(1, 'a', 10, '{x}'::text[]), s < row(2, null::text, 1, null::text[]) from stock s where id = 1;
--> ERROR 42804: cannot compare dissimilar column types text and unknown at record column 2
select max(r), count(distinct r) from (values (row(1, 2)), (row(1, 3))) v (r);
--> ERROR 42809: record type has not been registered
select max(id) from stock where (id, n) >= (1, 20) and (id, n) < (4, 0);
--: max integer
--> 3
select id from stock where (kind, id) > ('a', 1) order by kind, id;
--: id integer
--> 2
--> 3
select id, n from stock order by (n, id) limit 2;
--: id integer | n integer
--> 4 | 5
--> 1 | 10
select distinct (kind, n is null) from stock order by 1;
--: row record
--> (a,f)
--> (a,t)
--> (b,f)
--> (,f)
select (kind, count(*)) from stock group by kind order by 1;
--: row record
--> (a,2)
--> (b,1)
--> (,1)

-- ## Conditional expressions: section 9.18

-- each x: 1 | 2 | 3 | null
select case {x} when 1 then 'one' when 2 then 'two' else 'other' end, case when {x} > 1 then 'big' when {x} is null then 'none' end, coalesce({x}, 0), nullif({x}, 2), greatest({x}, 2), least({x}, 2, null);
--: case text | case text | coalesce integer | nullif integer | greatest integer | least integer
--> 1 => one | ∅ | 1 | 1 | 2 | 1
--> 2 => two | big | 2 | ∅ | 2 | 2
--> 3 => other | big | 3 | 3 | 3 | 2
--> null => ERROR 42883: operator does not exist: text = integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 18]
select case when true then 1 else 2.5 end, case when false then 'x' end, case 1 when 1 then null else 'a' end, coalesce(null, null), coalesce(null, 'a', 'b'), greatest(null, null), nullif(null, 1), greatest('a', 'b', 'B'), least(date '2024-01-01', '2023-01-01');
--: case numeric | case text | case text | coalesce text | coalesce text | greatest text | nullif integer | greatest text | least date
--> 1 | ∅ | ∅ | ∅ | a | ∅ | ∅ | b | 2023-01-01
select case when n <> 0 then 100 / n end from stock order by id;
--: case integer
--> 10
--> ∅
--> 3
--> 20
select case 'a' when 1 then 2 end;
--> ERROR 42883: operator does not exist: text = integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 17]
select case when 1 then 2 end;
--> ERROR 42804: argument of CASE/WHEN must be type boolean, not type integer [POSITION: 18]
select case when true then 1 else 'a' end;
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 35]
select coalesce(1, 'a');
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 20]
select coalesce();
--> ERROR 42601: syntax error at or near ")" [POSITION: 17]
select greatest(1, 'x'), 1;
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 20]
select nullif(1, 'x');
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 18]
select nullif(1);
--> ERROR 42601: syntax error at or near ")" [POSITION: 16]
select case when true then 1 else array[1] end;
--> ERROR 42804: CASE types integer[] and integer cannot be matched [POSITION: 28]
select coalesce(1, true);
--> ERROR 42804: COALESCE types integer and boolean cannot be matched [POSITION: 20]
select case 1 when 1 then 'a' when 1/0 then 'b' end;
--: case text
--> a
select case when false then 1/0 else 0 end, coalesce(1, 1/0), case when n is not null then n / (n - n + 1) end from stock order by id limit 1;
--: case integer | coalesce integer | case integer
--> 0 | 1 | 10

-- ## Comparisons: section 9.2

-- each x: 5 | null | 1 | 10
select {x} between 1 and 5, {x} not between 1 and 5, {x} between symmetric 5 and 1, {x} not between symmetric 10 and 5, {x} is null, {x} notnull, {x} isnull, {x} is distinct from 5, {x} is not distinct from null, num_nulls({x}, 1, null), num_nonnulls({x}, 1, null);
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | num_nulls integer | num_nonnulls integer
--> 5 => t | f | t | f | f | t | f | f | f | 1 | 2
--> null => ∅ | ∅ | ∅ | ∅ | t | f | t | t | t | 2 | 1
--> 1 => t | f | t | t | f | t | f | t | f | 1 | 2
--> 10 => f | t | f | f | f | t | f | t | f | 1 | 2
-- each x: true | false | null
select {x} is true, {x} is not true, {x} is false, {x} is not false, {x} is unknown, {x} is not unknown, not {x}, {x} and true, {x} and false, {x} and null, {x} or true, {x} or false, {x} or null;
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> true => t | f | f | t | f | t | f | t | f | ∅ | t | t | t
--> false => f | t | t | f | f | t | t | f | f | f | t | f | ∅
--> null => f | t | f | t | t | f | ∅ | ∅ | f | ∅ | t | ∅ | ∅
-- each a: true | false | null
-- each b: true | false | null
select {a} and {b}, {a} or {b}, {a} = {b}, {a} < {b}, {a} <> {b}, {a} is distinct from {b};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> true, true => t | t | t | f | f | f
--> true, false => f | t | f | f | t | t
--> true, null => ∅ | t | ∅ | ∅ | ∅ | t
--> false, true => f | t | f | t | t | t
--> false, false => f | f | t | f | f | f
--> false, null => f | ∅ | ∅ | ∅ | ∅ | t
--> null, true => ∅ | t | ∅ | ∅ | ∅ | t
--> null, false => f | ∅ | ∅ | ∅ | ∅ | t
--> null, null => ∅ | ∅ | ∅ | ∅ | ∅ | f
-- each t: 'yes' | 'no' | 't' | 'F' | '1' | '0' | 'on' | 'of' | 'off' | 'tru' | 'o' | ' true ' | '' | 'x'
select {t}::bool;
--: bool boolean
--> 'yes' => t
--> 'no' => f
--> 't' => t
--> 'F' => f
--> '1' => t
--> '0' => f
--> 'on' => t
--> 'of' => f
--> 'off' => f
--> 'tru' => t
--> 'o' => ERROR 22P02: invalid input syntax for type boolean: "o" [POSITION: 8]
--> ' true ' => t
--> '' => ERROR 22P02: invalid input syntax for type boolean: "" [POSITION: 8]
--> 'x' => ERROR 22P02: invalid input syntax for type boolean: "x" [POSITION: 8]
select 1 < 2 < 3;
--> ERROR 42601: syntax error at or near "<" [POSITION: 14]
select 1 = 1 = true, 1 <> 2 is true, not 1 = 2 and true, 2 + 3 * 4 ^ 2 % 5, -2 ^ 2, 2 - -1, not true is null, 'a' || 'b' = 'ab', 1 + 2 || 'x', 5 - 3 - 1, 2 ^ 3 ^ 2, 10 / 3 * 3, 1 - 1 between 0 and 1 and true, 'abc' like 'a' || '%', - 5 % 3, @ -5 + 1, 7 & 3 + 1, 1 << 2 + 1;
--> ERROR 42601: syntax error at or near "=" [POSITION: 14]
select 1 is null, null is null, null = null, null <> 1, 1 is distinct from 2, (1, 2) is null;
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> f | t | ∅ | ∅ | t | f
select true + 1;
--> ERROR 42883: operator does not exist: boolean + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 13]
select not 1;
--> ERROR 42804: argument of NOT must be type boolean, not type integer [POSITION: 12]
select 1 and true;
--> ERROR 42804: argument of AND must be type boolean, not type integer [POSITION: 8]
select 'a' < 1;
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 8]
select true > 0;
--> ERROR 42883: operator does not exist: boolean > integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 13]
select 1 is true;
--> ERROR 42804: argument of IS TRUE must be type boolean, not type integer [POSITION: 8]
drop table stock;

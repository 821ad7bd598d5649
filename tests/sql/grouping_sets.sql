-- # Grouping sets: section 7.2.4

create table sold (brand text, size text, n int);
insert into sold values ('Foo', 'L', 10), ('Foo', 'M', 20), ('Bar', 'M', 15), ('Bar', 'L', 5), (null, 'M', 1);
--> INSERT 0 5

-- each g: grouping sets ((brand), (size), ()) | rollup (brand, size) | cube (brand, size) | grouping sets ((brand, size), (brand)) | brand, rollup (size) | rollup (size), brand | brand, grouping sets ((size), ()) | rollup ((brand, size)) | cube (brand), cube (size) | grouping sets (rollup (brand), cube (size)) | grouping sets (grouping sets ((brand), ()), (size)) | distinct rollup (brand), rollup (brand, size) | all rollup (brand), rollup (brand, size) | (brand, size)
select brand, size, sum(n), count(*), grouping(brand), grouping(size), grouping(brand, size) from sold group by {g} order by 1, 2, 3, 7;
--: brand text | size text | sum bigint | count bigint | grouping integer | grouping integer | grouping integer
--> grouping sets ((brand), (size), ()) => Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | L | 15 | 2 | 1 | 0 | 2 / ∅ | M | 36 | 3 | 1 | 0 | 2 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> rollup (brand, size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> cube (brand, size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | L | 15 | 2 | 1 | 0 | 2 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | M | 36 | 3 | 1 | 0 | 2 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> grouping sets ((brand, size), (brand)) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1
--> brand, rollup (size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1
--> rollup (size), brand => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1
--> brand, grouping sets ((size), ()) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1
--> rollup ((brand, size)) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> cube (brand), cube (size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | L | 15 | 2 | 1 | 0 | 2 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | M | 36 | 3 | 1 | 0 | 2 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> grouping sets (rollup (brand), cube (size)) => Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | L | 15 | 2 | 1 | 0 | 2 / ∅ | M | 36 | 3 | 1 | 0 | 2 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> grouping sets (grouping sets ((brand), ()), (size)) => Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | L | 15 | 2 | 1 | 0 | 2 / ∅ | M | 36 | 3 | 1 | 0 | 2 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> distinct rollup (brand), rollup (brand, size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> all rollup (brand), rollup (brand, size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Bar | ∅ | 20 | 2 | 0 | 1 | 1 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / Foo | ∅ | 30 | 2 | 0 | 1 | 1 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | M | 1 | 1 | 0 | 0 | 0 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 1 | 1 | 0 | 1 | 1 / ∅ | ∅ | 51 | 5 | 1 | 1 | 3
--> (brand, size) => Bar | L | 5 | 1 | 0 | 0 | 0 / Bar | M | 15 | 1 | 0 | 0 | 0 / Foo | L | 10 | 1 | 0 | 0 | 0 / Foo | M | 20 | 1 | 0 | 0 | 0 / ∅ | M | 1 | 1 | 0 | 0 | 0
select sum(n) from sold group by ();
--: sum bigint
--> 51
select sum(n) from sold group by grouping sets ((), ()) order by 1;
--: sum bigint
--> 51
--> 51
select sum(n) from sold where false group by grouping sets ((), (brand));
--: sum bigint
--> ∅
select brand, sum(n) from sold group by rollup (brand) having grouping(brand) = 1 or sum(n) > 20 order by 1;
--: brand text | sum bigint
--> Foo | 30
--> ∅ | 51
select coalesce(brand, case when grouping(brand) = 1 then 'all' else 'none' end) as b, sum(n) filter (where size = 'M') from sold group by rollup (brand) order by sum(n) desc, b;
--: b text | sum bigint
--> all | 36
--> Foo | 20
--> Bar | 15
--> none | 1
select upper(brand) as u, sum(n) from sold group by rollup (u) order by u;
--: u text | sum bigint
--> BAR | 20
--> FOO | 30
--> ∅ | 51
--> ∅ | 1
select brand, sum(sum(n)) over (partition by grouping(brand)) from sold group by rollup (brand) order by 1, 2;
--: brand text | sum numeric
--> Bar | 51
--> Foo | 51
--> ∅ | 51
--> ∅ | 51
select size, count(distinct brand), array_agg(n order by n) from sold group by cube (size) order by 1;
--: size text | count bigint | array_agg integer[]
--> L | 2 | {5,10}
--> M | 2 | {1,15,20}
--> ∅ | 2 | {1,5,10,15,20}
select grouping(n) from sold group by brand;
--> ERROR 42803: arguments to GROUPING must be grouping expressions of the associated query level [POSITION: 17]
select grouping(brand) from sold;
--> ERROR 42803: arguments to GROUPING must be grouping expressions of the associated query level [POSITION: 17]
select brand, size from sold group by rollup (brand);
--> ERROR 42803: column "sold.size" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 15]
select brand, n from sold group by grouping sets ((brand), (n)) order by 1, 2;
--: brand text | n integer
--> Bar | ∅
--> Foo | ∅
--> ∅ | 1
--> ∅ | 5
--> ∅ | 10
--> ∅ | 15
--> ∅ | 20
--> ∅ | ∅
select case when n > 10 then 'many' else 'few' end as kind, size, sum(n) from sold group by rollup (kind, size) order by kind, size;
--: kind text | size text | sum bigint
--> few | L | 15
--> few | M | 1
--> few | ∅ | 16
--> many | M | 35
--> many | ∅ | 35
--> ∅ | ∅ | 51
select a, b, count(*) from (values (1, 1), (1, 2), (2, 1)) v (a, b) group by cube (a, b) having count(*) > 1 order by a, b;
--: a integer | b integer | count bigint
--> 1 | ∅ | 2
--> ∅ | 1 | 2
--> ∅ | ∅ | 3
drop table sold;

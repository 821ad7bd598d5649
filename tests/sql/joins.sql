-- # Joins: section 7.2.1

create table a (id int, x text);
create table b (id int, y text);
create table c (a_id int, b_id int, z numeric);
insert into a values (1, 'one'), (2, 'two'), (3, 'three'), (null, 'none');
--> INSERT 0 4
insert into b values (2, 'zwei'), (3, 'drei'), (4, 'vier'), (3, 'noch drei'), (null, 'nichts');
--> INSERT 0 5
insert into c values (1, 2, 1.5), (3, 3, 2.5), (9, 9, null);
--> INSERT 0 3

-- each j: join | inner join | left join | left outer join | right join | full join | full outer join
-- each on: on a.id = b.id | on a.id = b.id and b.y like 'd%' | on a.id = b.id and a.x <> 'two' | on true | on a.id < b.id | on false | on a.id is not distinct from b.id
select a.id, a.x, b.id, b.y from a {j} b {on} order by 1, 2, 3, 4;
--: id integer | x text | id integer | y text
--> join, on a.id = b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei
--> join, on a.id = b.id and b.y like 'd%' => 3 | three | 3 | drei
--> join, on a.id = b.id and a.x <> 'two' => 3 | three | 3 | drei / 3 | three | 3 | noch drei
--> join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> join, on a.id < b.id => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 3 | three | 4 | vier
--> join, on false =>
--> join, on a.id is not distinct from b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | nichts
--> inner join, on a.id = b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei
--> inner join, on a.id = b.id and b.y like 'd%' => 3 | three | 3 | drei
--> inner join, on a.id = b.id and a.x <> 'two' => 3 | three | 3 | drei / 3 | three | 3 | noch drei
--> inner join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> inner join, on a.id < b.id => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 3 | three | 4 | vier
--> inner join, on false =>
--> inner join, on a.id is not distinct from b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | nichts
--> left join, on a.id = b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅
--> left join, on a.id = b.id and b.y like 'd%' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / ∅ | none | ∅ | ∅
--> left join, on a.id = b.id and a.x <> 'two' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅
--> left join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> left join, on a.id < b.id => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 3 | three | 4 | vier / ∅ | none | ∅ | ∅
--> left join, on false => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | ∅ | ∅ / ∅ | none | ∅ | ∅
--> left join, on a.id is not distinct from b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | nichts
--> left outer join, on a.id = b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅
--> left outer join, on a.id = b.id and b.y like 'd%' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / ∅ | none | ∅ | ∅
--> left outer join, on a.id = b.id and a.x <> 'two' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅
--> left outer join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> left outer join, on a.id < b.id => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 3 | three | 4 | vier / ∅ | none | ∅ | ∅
--> left outer join, on false => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | ∅ | ∅ / ∅ | none | ∅ | ∅
--> left outer join, on a.id is not distinct from b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | nichts
--> right join, on a.id = b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> right join, on a.id = b.id and b.y like 'd%' => 3 | three | 3 | drei / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> right join, on a.id = b.id and a.x <> 'two' => 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> right join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> right join, on a.id < b.id => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 3 | three | 4 | vier / ∅ | ∅ | ∅ | nichts
--> right join, on false => ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | drei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> right join, on a.id is not distinct from b.id => 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | nichts / ∅ | ∅ | 4 | vier
--> full join, on a.id = b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full join, on a.id = b.id and b.y like 'd%' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full join, on a.id = b.id and a.x <> 'two' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> full join, on a.id < b.id => ERROR 0A000: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions
--> full join, on false => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | ∅ | ∅ / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | drei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full join, on a.id is not distinct from b.id => ERROR 0A000: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions
--> full outer join, on a.id = b.id => 1 | one | ∅ | ∅ / 2 | two | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full outer join, on a.id = b.id and b.y like 'd%' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full outer join, on a.id = b.id and a.x <> 'two' => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | 3 | drei / 3 | three | 3 | noch drei / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full outer join, on true => 1 | one | 2 | zwei / 1 | one | 3 | drei / 1 | one | 3 | noch drei / 1 | one | 4 | vier / 1 | one | ∅ | nichts / 2 | two | 2 | zwei / 2 | two | 3 | drei / 2 | two | 3 | noch drei / 2 | two | 4 | vier / 2 | two | ∅ | nichts / 3 | three | 2 | zwei / 3 | three | 3 | drei / 3 | three | 3 | noch drei / 3 | three | 4 | vier / 3 | three | ∅ | nichts / ∅ | none | 2 | zwei / ∅ | none | 3 | drei / ∅ | none | 3 | noch drei / ∅ | none | 4 | vier / ∅ | none | ∅ | nichts
--> full outer join, on a.id < b.id => ERROR 0A000: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions
--> full outer join, on false => 1 | one | ∅ | ∅ / 2 | two | ∅ | ∅ / 3 | three | ∅ | ∅ / ∅ | none | ∅ | ∅ / ∅ | ∅ | 2 | zwei / ∅ | ∅ | 3 | drei / ∅ | ∅ | 3 | noch drei / ∅ | ∅ | 4 | vier / ∅ | ∅ | ∅ | nichts
--> full outer join, on a.id is not distinct from b.id => ERROR 0A000: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions
-- each j: join | inner join | left join | left outer join | right join | full join | full outer join
select * from a {j} b using (id) order by 1, 2, 3;
--: id integer | x text | y text
--> join => 2 | two | zwei / 3 | three | drei / 3 | three | noch drei
--> inner join => 2 | two | zwei / 3 | three | drei / 3 | three | noch drei
--> left join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / ∅ | none | ∅
--> left outer join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / ∅ | none | ∅
--> right join => 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / 4 | ∅ | vier / ∅ | ∅ | nichts
--> full join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / 4 | ∅ | vier / ∅ | none | ∅ / ∅ | ∅ | nichts
--> full outer join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / 4 | ∅ | vier / ∅ | none | ∅ / ∅ | ∅ | nichts
select * from a cross join b order by 1, 2, 3, 4;
--: id integer | x text | id integer | y text
--> 1 | one | 2 | zwei
--> 1 | one | 3 | drei
--> 1 | one | 3 | noch drei
--> 1 | one | 4 | vier
--> 1 | one | ∅ | nichts
--> 2 | two | 2 | zwei
--> 2 | two | 3 | drei
--> 2 | two | 3 | noch drei
--> 2 | two | 4 | vier
--> 2 | two | ∅ | nichts
--> 3 | three | 2 | zwei
--> 3 | three | 3 | drei
--> 3 | three | 3 | noch drei
--> 3 | three | 4 | vier
--> 3 | three | ∅ | nichts
--> ∅ | none | 2 | zwei
--> ∅ | none | 3 | drei
--> ∅ | none | 3 | noch drei
--> ∅ | none | 4 | vier
--> ∅ | none | ∅ | nichts
select count(*) from a, b, c;
--: count bigint
--> 60
-- each j: natural join | natural left join | natural right join | natural full join
select * from a {j} b order by 1, 2, 3;
--: id integer | x text | y text
--> natural join => 2 | two | zwei / 3 | three | drei / 3 | three | noch drei
--> natural left join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / ∅ | none | ∅
--> natural right join => 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / 4 | ∅ | vier / ∅ | ∅ | nichts
--> natural full join => 1 | one | ∅ / 2 | two | zwei / 3 | three | drei / 3 | three | noch drei / 4 | ∅ | vier / ∅ | none | ∅ / ∅ | ∅ | nichts
select * from a natural join c;
--: id integer | x text | a_id integer | b_id integer | z numeric
--> 1 | one | 1 | 2 | 1.5
--> 1 | one | 3 | 3 | 2.5
--> 1 | one | 9 | 9 | ∅
--> 2 | two | 1 | 2 | 1.5
--> 2 | two | 3 | 3 | 2.5
--> 2 | two | 9 | 9 | ∅
--> 3 | three | 1 | 2 | 1.5
--> 3 | three | 3 | 3 | 2.5
--> 3 | three | 9 | 9 | ∅
--> ∅ | none | 1 | 2 | 1.5
--> ∅ | none | 3 | 3 | 2.5
--> ∅ | none | 9 | 9 | ∅
select id, a.id, b.id, x, y from a full join b using (id) order by 1, 4, 5;
--: id integer | id integer | id integer | x text | y text
--> 1 | 1 | ∅ | one | ∅
--> 2 | 2 | 2 | two | zwei
--> 3 | 3 | 3 | three | drei
--> 3 | 3 | 3 | three | noch drei
--> 4 | ∅ | 4 | ∅ | vier
--> ∅ | ∅ | ∅ | none | ∅
--> ∅ | ∅ | ∅ | ∅ | nichts
select id from a join b using (id) order by id;
--: id integer
--> 2
--> 3
--> 3
select a.id, b.* from a left join b using (id) order by 1, 3;
--: id integer | id integer | y text
--> 1 | ∅ | ∅
--> 2 | 2 | zwei
--> 3 | 3 | drei
--> 3 | 3 | noch drei
--> ∅ | ∅ | ∅
select j.id, j.x, j.y from (a join b using (id)) as j order by 3;
--: id integer | x text | y text
--> 3 | three | drei
--> 3 | three | noch drei
--> 2 | two | zwei
select * from a join b using (id) as j where j.id = 2;
--: id integer | x text | y text
--> 2 | two | zwei
select j.id, a.x from a join b using (id) as j order by 1;
--: id integer | x text
--> 2 | two
--> 3 | three
--> 3 | three
select j.x from a join b using (id) as j;
--> ERROR 42703: column j.x does not exist [HINT: Perhaps you meant to reference the column "a.x".] [POSITION: 8]
select * from (a left join b on a.id = b.id) as t (i, k, l, m) order by i, m;
--: i integer | k text | l integer | m text
--> 1 | one | ∅ | ∅
--> 2 | two | 2 | zwei
--> 3 | three | 3 | drei
--> 3 | three | 3 | noch drei
--> ∅ | none | ∅ | ∅
select * from a left join (b join c on b.id = c.b_id) on a.id = c.a_id order by a.id, y;
--: id integer | x text | id integer | y text | a_id integer | b_id integer | z numeric
--> 1 | one | 2 | zwei | 1 | 2 | 1.5
--> 2 | two | ∅ | ∅ | ∅ | ∅ | ∅
--> 3 | three | 3 | drei | 3 | 3 | 2.5
--> 3 | three | 3 | noch drei | 3 | 3 | 2.5
--> ∅ | none | ∅ | ∅ | ∅ | ∅ | ∅
select * from a left join b join c on b.id = c.b_id on a.id = c.a_id order by a.id, y;
--: id integer | x text | id integer | y text | a_id integer | b_id integer | z numeric
--> 1 | one | 2 | zwei | 1 | 2 | 1.5
--> 2 | two | ∅ | ∅ | ∅ | ∅ | ∅
--> 3 | three | 3 | drei | 3 | 3 | 2.5
--> 3 | three | 3 | noch drei | 3 | 3 | 2.5
--> ∅ | none | ∅ | ∅ | ∅ | ∅ | ∅
select a.id, c.z, b.y from a join c on c.a_id = a.id left join b on b.id = c.b_id order by 1, 3;
--: id integer | z numeric | y text
--> 1 | 1.5 | zwei
--> 3 | 2.5 | drei
--> 3 | 2.5 | noch drei
select t1.id, t2.id from a t1 join a t2 on t1.id + 1 = t2.id order by 1;
--: id integer | id integer
--> 1 | 2
--> 2 | 3
select * from a as t (k) where k = 1;
--: k integer | x text
--> 1 | one
select * from a t (k, v, w);
--> ERROR 42P10: table "t" has 2 columns available but 3 columns specified
select * from a join b on a.id = b.id where a.x > b.y order by 1;
--: id integer | x text | id integer | y text
--> 3 | three | 3 | drei
--> 3 | three | 3 | noch drei
select a.x from a left join b on a.id = b.id where b.id is null order by 1;
--: x text
--> none
--> one
select a.x from a where exists (select from b where b.id = a.id) order by 1;
--: x text
--> three
--> two
select count(*) from a full join b on a.id = b.id full join c on c.a_id = a.id;
--: count bigint
--> 8
select a.id, count(b.y) from a left join b on a.id = b.id group by a.id order by 1;
--: id integer | count bigint
--> 1 | 0
--> 2 | 1
--> 3 | 2
--> ∅ | 0
select coalesce(a.id, b.id) as id, x, y from a full join b on a.id = b.id where coalesce(a.id, b.id) > 1 order by 1, 3;
--: id integer | x text | y text
--> 2 | two | zwei
--> 3 | three | drei
--> 3 | three | noch drei
--> 4 | ∅ | vier
select * from a left join b on a.id = b.id and a.id = (select max(id) from a) order by 1, 3, 4;
--: id integer | x text | id integer | y text
--> 1 | one | ∅ | ∅
--> 2 | two | ∅ | ∅
--> 3 | three | 3 | drei
--> 3 | three | 3 | noch drei
--> ∅ | none | ∅ | ∅
select * from a full join b on a.id = b.id and a.x = 'three' order by 1, 3, 4;
--: id integer | x text | id integer | y text
--> 1 | one | ∅ | ∅
--> 2 | two | ∅ | ∅
--> 3 | three | 3 | drei
--> 3 | three | 3 | noch drei
--> ∅ | ∅ | 2 | zwei
--> ∅ | ∅ | 4 | vier
--> ∅ | ∅ | ∅ | nichts
--> ∅ | none | ∅ | ∅
select a.id, b.id from a left join b on exists (select 1 from c where c.a_id = a.id and c.b_id = b.id) order by 1, 2;
--: id integer | id integer
--> 1 | 2
--> 2 | ∅
--> 3 | 3
--> 3 | 3
--> ∅ | ∅
select a.id, b.id from a left join b on b.id = (select c.b_id from c where c.a_id = a.id) order by 1, 2;
--: id integer | id integer
--> 1 | 2
--> 2 | ∅
--> 3 | 3
--> 3 | 3
--> ∅ | ∅
select a.id, b.id from a full join b on a.id = b.id and a.id in (select a_id from c) order by 1, 2;
--: id integer | id integer
--> 1 | ∅
--> 2 | ∅
--> 3 | 3
--> 3 | 3
--> ∅ | 2
--> ∅ | 4
--> ∅ | ∅
--> ∅ | ∅
select * from a join b on a.id = b.id join c using (id);
--> ERROR 42702: common column name "id" appears more than once in left table
select * from a left join lateral (select count(*) from b where b.id = a.id) n on true order by 1;
--: id integer | x text | count bigint
--> 1 | one | 0
--> 2 | two | 1
--> 3 | three | 2
--> ∅ | none | 0
select (a.*) is null, a is null, b is not null, a.x from a left join b using (id) order by a.x;
--: ?column? boolean | ?column? boolean | ?column? boolean | x text
--> f | f | f | none
--> f | f | f | one
--> f | f | t | three
--> f | f | t | three
--> f | f | t | two
select a from a where a.id = 2;
--: a user type
--> (2,two)
select a.*, b.y from a, b where a.id = b.id order by b.y;
--: id integer | x text | y text
--> 3 | three | drei
--> 3 | three | noch drei
--> 2 | two | zwei
select a.id from a inner join b on a.id = b.id and 1 = 1 order by 1;
--: id integer
--> 2
--> 3
--> 3
select * from (values (1, 'p'), (2, 'q')) v (id, x) join a using (id, x);
--: id integer | x text
select * from (values (1, 'p'), (2, 'q')) v (id, w) join a using (id) order by 1;
--: id integer | w text | x text
--> 1 | p | one
--> 2 | q | two
select n, x from generate_series(1, 4) n left join a on a.id = n order by n;
--: n integer | x text
--> 1 | one
--> 2 | two
--> 3 | three
--> 4 | ∅
select a.ctid is not null, a.tableoid::regclass from a limit 1;
--: ?column? boolean | tableoid regclass
--> t | a
-- each q: a join b | a join b on id = 2 | a join b using (nosuch) | a join b using (x) | a, a | a join a on true | a join b on a.nosuch = b.id | a join b on x | a natural join nosuch | a left join b | a full join b on a.id + b.id = 3 | a full join b on a.id < b.id | a join b on b.id = c.id join c on true | a, b join c on a.id = c.a_id | a cross join b on true | (a join b using (id)) j, a | a t join b t on true
select * from {q} where false;
--> a join b => ERROR 42601: syntax error at or near "where" [POSITION: 24]
--> a join b on id = 2 => ERROR 42702: column reference "id" is ambiguous [POSITION: 27]
--> a join b using (nosuch) => ERROR 42703: column "nosuch" specified in USING clause does not exist in left table
--> a join b using (x) => ERROR 42703: column "x" specified in USING clause does not exist in right table
--> a, a => ERROR 42712: table name "a" specified more than once
--> a join a on true => ERROR 42712: table name "a" specified more than once
--> a join b on a.nosuch = b.id => ERROR 42703: column a.nosuch does not exist [POSITION: 27]
--> a join b on x => ERROR 42804: argument of JOIN/ON must be type boolean, not type text [POSITION: 27]
--> a natural join nosuch => ERROR 42P01: relation "nosuch" does not exist [POSITION: 30]
--> a left join b => ERROR 42601: syntax error at or near "where" [POSITION: 29]
--: id integer | x text | id integer | y text
--> a full join b on a.id + b.id = 3 =>
--> a full join b on a.id < b.id =>
--> a join b on b.id = c.id join c on true => ERROR 42P01: missing FROM-clause entry for table "c" [POSITION: 34]
--> a, b join c on a.id = c.a_id => ERROR 42P01: invalid reference to FROM-clause entry for table "a" [HINT: There is an entry for table "a", but it cannot be referenced from this part of the query.] [POSITION: 30]
--> a cross join b on true => ERROR 42601: syntax error at or near "on" [POSITION: 30]
--: id integer | x text | y text | id integer | x text
--> (a join b using (id)) j, a =>
--> a t join b t on true => ERROR 42712: table name "t" specified more than once
select id from a, b;
--> ERROR 42702: column reference "id" is ambiguous [POSITION: 8]
select a.id from a t;
--> ERROR 42P01: invalid reference to FROM-clause entry for table "a" [HINT: Perhaps you meant to reference the table alias "t".] [POSITION: 8]
select nosuch.* from a;
--> ERROR 42P01: missing FROM-clause entry for table "nosuch" [POSITION: 8]
select t.nosuch from a t;
--> ERROR 42703: column t.nosuch does not exist [POSITION: 8]
select b.id from a;
--> ERROR 42P01: missing FROM-clause entry for table "b" [POSITION: 8]
-- Each type joins with its relatives.
-- each t: int2 | int8 | numeric | float8
select a.id, v.n from a join (values (2::{t}), (3)) v (n) on v.n = a.id order by 1;
--: id integer | n integer
--> int2 => 2 | 2 / 3 | 3
--: id integer | n bigint
--> int8 => 2 | 2 / 3 | 3
--: id integer | n numeric
--> numeric => 2 | 2 / 3 | 3
--: id integer | n double precision
--> float8 => 2 | 2 / 3 | 3
select a.id from a join (values ('2')) v (n) on v.n = a.id;
--> ERROR 42883: operator does not exist: text = integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 53]
drop table a, b, c;

-- # Window functions: sections 3.5, 4.2.8, 7.2.5 and 9.22

create table pay (name text, team text, salary int, since date);
insert into pay values ('ada', 'dev', 5200, '2020-01-01'), ('bob', 'dev', 4200, '2020-03-01'), ('cyd', 'dev', 4500, '2021-01-01'), ('dan', 'dev', 6000, '2019-05-01'), ('eve', 'dev', 5200, '2022-01-01'), ('fay', 'ops', 3500, '2020-01-01'), ('gus', 'ops', 3900, '2020-02-01'), ('hal', 'hr', 4800, '2021-06-01'), ('ida', 'hr', 5000, '2018-01-01'), ('jim', null, null, '2023-01-01');
--> INSERT 0 10

-- ## Every function, ordered and in partitions

-- each f: row_number() | rank() | dense_rank() | percent_rank() | cume_dist() | ntile(3) | lag(name) | lag(name, 2) | lag(name, 1, 'none') | lead(name) | lead(salary, 2, 0) | first_value(name) | last_value(name) | nth_value(name, 2) | count(*) | sum(salary) | avg(salary) | min(salary) | max(name) | array_agg(name) | string_agg(name, ',') | lag(name, 0) | lag(name, -1) | lag(name, null) | stddev(salary) | bool_and(salary > 4000)
-- each w: order by salary, name | partition by team order by salary desc, name | order by team nulls first, salary desc, name
select name, {f} over ({w}) from pay order by team, salary, name;
--: name text | row_number bigint
--> row_number(), order by salary, name => bob | 3 / cyd | 4 / ada | 7 / eve | 8 / dan | 9 / hal | 5 / ida | 6 / fay | 1 / gus | 2 / jim | 10
--> row_number(), partition by team order by salary desc, name => bob | 5 / cyd | 4 / ada | 2 / eve | 3 / dan | 1 / hal | 2 / ida | 1 / fay | 2 / gus | 1 / jim | 1
--> row_number(), order by team nulls first, salary desc, name => bob | 6 / cyd | 5 / ada | 3 / eve | 4 / dan | 2 / hal | 8 / ida | 7 / fay | 10 / gus | 9 / jim | 1
--: name text | rank bigint
--> rank(), order by salary, name => bob | 3 / cyd | 4 / ada | 7 / eve | 8 / dan | 9 / hal | 5 / ida | 6 / fay | 1 / gus | 2 / jim | 10
--> rank(), partition by team order by salary desc, name => bob | 5 / cyd | 4 / ada | 2 / eve | 3 / dan | 1 / hal | 2 / ida | 1 / fay | 2 / gus | 1 / jim | 1
--> rank(), order by team nulls first, salary desc, name => bob | 6 / cyd | 5 / ada | 3 / eve | 4 / dan | 2 / hal | 8 / ida | 7 / fay | 10 / gus | 9 / jim | 1
--: name text | dense_rank bigint
--> dense_rank(), order by salary, name => bob | 3 / cyd | 4 / ada | 7 / eve | 8 / dan | 9 / hal | 5 / ida | 6 / fay | 1 / gus | 2 / jim | 10
--> dense_rank(), partition by team order by salary desc, name => bob | 5 / cyd | 4 / ada | 2 / eve | 3 / dan | 1 / hal | 2 / ida | 1 / fay | 2 / gus | 1 / jim | 1
--> dense_rank(), order by team nulls first, salary desc, name => bob | 6 / cyd | 5 / ada | 3 / eve | 4 / dan | 2 / hal | 8 / ida | 7 / fay | 10 / gus | 9 / jim | 1
--: name text | percent_rank double precision
--> percent_rank(), order by salary, name => bob | 0.2222222222222222 / cyd | 0.3333333333333333 / ada | 0.6666666666666666 / eve | 0.7777777777777778 / dan | 0.8888888888888888 / hal | 0.4444444444444444 / ida | 0.5555555555555556 / fay | 0 / gus | 0.1111111111111111 / jim | 1
--> percent_rank(), partition by team order by salary desc, name => bob | 1 / cyd | 0.75 / ada | 0.25 / eve | 0.5 / dan | 0 / hal | 1 / ida | 0 / fay | 1 / gus | 0 / jim | 0
--> percent_rank(), order by team nulls first, salary desc, name => bob | 0.5555555555555556 / cyd | 0.4444444444444444 / ada | 0.2222222222222222 / eve | 0.3333333333333333 / dan | 0.1111111111111111 / hal | 0.7777777777777778 / ida | 0.6666666666666666 / fay | 1 / gus | 0.8888888888888888 / jim | 0
--: name text | cume_dist double precision
--> cume_dist(), order by salary, name => bob | 0.3 / cyd | 0.4 / ada | 0.7 / eve | 0.8 / dan | 0.9 / hal | 0.5 / ida | 0.6 / fay | 0.1 / gus | 0.2 / jim | 1
--> cume_dist(), partition by team order by salary desc, name => bob | 1 / cyd | 0.8 / ada | 0.4 / eve | 0.6 / dan | 0.2 / hal | 1 / ida | 0.5 / fay | 1 / gus | 0.5 / jim | 1
--> cume_dist(), order by team nulls first, salary desc, name => bob | 0.6 / cyd | 0.5 / ada | 0.3 / eve | 0.4 / dan | 0.2 / hal | 0.8 / ida | 0.7 / fay | 1 / gus | 0.9 / jim | 0.1
--: name text | ntile integer
--> ntile(3), order by salary, name => bob | 1 / cyd | 1 / ada | 2 / eve | 3 / dan | 3 / hal | 2 / ida | 2 / fay | 1 / gus | 1 / jim | 3
--> ntile(3), partition by team order by salary desc, name => bob | 3 / cyd | 2 / ada | 1 / eve | 2 / dan | 1 / hal | 2 / ida | 1 / fay | 2 / gus | 1 / jim | 1
--> ntile(3), order by team nulls first, salary desc, name => bob | 2 / cyd | 2 / ada | 1 / eve | 1 / dan | 1 / hal | 3 / ida | 2 / fay | 3 / gus | 3 / jim | 1
--: name text | lag text
--> lag(name), order by salary, name => bob | gus / cyd | bob / ada | ida / eve | ada / dan | eve / hal | cyd / ida | hal / fay | ∅ / gus | fay / jim | dan
--> lag(name), partition by team order by salary desc, name => bob | cyd / cyd | eve / ada | dan / eve | ada / dan | ∅ / hal | ida / ida | ∅ / fay | gus / gus | ∅ / jim | ∅
--> lag(name), order by team nulls first, salary desc, name => bob | cyd / cyd | eve / ada | dan / eve | ada / dan | jim / hal | ida / ida | bob / fay | gus / gus | hal / jim | ∅
--> lag(name, 2), order by salary, name => bob | fay / cyd | gus / ada | hal / eve | ida / dan | ada / hal | bob / ida | cyd / fay | ∅ / gus | ∅ / jim | eve
--> lag(name, 2), partition by team order by salary desc, name => bob | eve / cyd | ada / ada | ∅ / eve | dan / dan | ∅ / hal | ∅ / ida | ∅ / fay | ∅ / gus | ∅ / jim | ∅
--> lag(name, 2), order by team nulls first, salary desc, name => bob | eve / cyd | ada / ada | jim / eve | dan / dan | ∅ / hal | bob / ida | cyd / fay | hal / gus | ida / jim | ∅
--> lag(name, 1, 'none'), order by salary, name => bob | gus / cyd | bob / ada | ida / eve | ada / dan | eve / hal | cyd / ida | hal / fay | none / gus | fay / jim | dan
--> lag(name, 1, 'none'), partition by team order by salary desc, name => bob | cyd / cyd | eve / ada | dan / eve | ada / dan | none / hal | ida / ida | none / fay | gus / gus | none / jim | none
--> lag(name, 1, 'none'), order by team nulls first, salary desc, name => bob | cyd / cyd | eve / ada | dan / eve | ada / dan | jim / hal | ida / ida | bob / fay | gus / gus | hal / jim | none
--: name text | lead text
--> lead(name), order by salary, name => bob | cyd / cyd | hal / ada | eve / eve | dan / dan | jim / hal | ida / ida | ada / fay | gus / gus | bob / jim | ∅
--> lead(name), partition by team order by salary desc, name => bob | ∅ / cyd | bob / ada | eve / eve | cyd / dan | ada / hal | ∅ / ida | hal / fay | ∅ / gus | fay / jim | ∅
--> lead(name), order by team nulls first, salary desc, name => bob | ida / cyd | bob / ada | eve / eve | cyd / dan | ada / hal | gus / ida | hal / fay | ∅ / gus | fay / jim | dan
--: name text | lead integer
--> lead(salary, 2, 0), order by salary, name => bob | 4800 / cyd | 5000 / ada | 6000 / eve | ∅ / dan | 0 / hal | 5200 / ida | 5200 / fay | 4200 / gus | 4500 / jim | 0
--> lead(salary, 2, 0), partition by team order by salary desc, name => bob | 0 / cyd | 0 / ada | 4500 / eve | 4200 / dan | 5200 / hal | 0 / ida | 0 / fay | 0 / gus | 0 / jim | 0
--> lead(salary, 2, 0), order by team nulls first, salary desc, name => bob | 4800 / cyd | 5000 / ada | 4500 / eve | 4200 / dan | 5200 / hal | 3500 / ida | 3900 / fay | 0 / gus | 0 / jim | 5200
--: name text | first_value text
--> first_value(name), order by salary, name => bob | fay / cyd | fay / ada | fay / eve | fay / dan | fay / hal | fay / ida | fay / fay | fay / gus | fay / jim | fay
--> first_value(name), partition by team order by salary desc, name => bob | dan / cyd | dan / ada | dan / eve | dan / dan | dan / hal | ida / ida | ida / fay | gus / gus | gus / jim | jim
--> first_value(name), order by team nulls first, salary desc, name => bob | jim / cyd | jim / ada | jim / eve | jim / dan | jim / hal | jim / ida | jim / fay | jim / gus | jim / jim | jim
--: name text | last_value text
--> last_value(name), order by salary, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> last_value(name), partition by team order by salary desc, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> last_value(name), order by team nulls first, salary desc, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--: name text | nth_value text
--> nth_value(name, 2), order by salary, name => bob | gus / cyd | gus / ada | gus / eve | gus / dan | gus / hal | gus / ida | gus / fay | ∅ / gus | gus / jim | gus
--> nth_value(name, 2), partition by team order by salary desc, name => bob | ada / cyd | ada / ada | ada / eve | ada / dan | ∅ / hal | hal / ida | ∅ / fay | fay / gus | ∅ / jim | ∅
--> nth_value(name, 2), order by team nulls first, salary desc, name => bob | dan / cyd | dan / ada | dan / eve | dan / dan | dan / hal | dan / ida | dan / fay | dan / gus | dan / jim | ∅
--: name text | count bigint
--> count(*), order by salary, name => bob | 3 / cyd | 4 / ada | 7 / eve | 8 / dan | 9 / hal | 5 / ida | 6 / fay | 1 / gus | 2 / jim | 10
--> count(*), partition by team order by salary desc, name => bob | 5 / cyd | 4 / ada | 2 / eve | 3 / dan | 1 / hal | 2 / ida | 1 / fay | 2 / gus | 1 / jim | 1
--> count(*), order by team nulls first, salary desc, name => bob | 6 / cyd | 5 / ada | 3 / eve | 4 / dan | 2 / hal | 8 / ida | 7 / fay | 10 / gus | 9 / jim | 1
--: name text | sum bigint
--> sum(salary), order by salary, name => bob | 11600 / cyd | 16100 / ada | 31100 / eve | 36300 / dan | 42300 / hal | 20900 / ida | 25900 / fay | 3500 / gus | 7400 / jim | 42300
--> sum(salary), partition by team order by salary desc, name => bob | 25100 / cyd | 20900 / ada | 11200 / eve | 16400 / dan | 6000 / hal | 9800 / ida | 5000 / fay | 7400 / gus | 3900 / jim | ∅
--> sum(salary), order by team nulls first, salary desc, name => bob | 25100 / cyd | 20900 / ada | 11200 / eve | 16400 / dan | 6000 / hal | 34900 / ida | 30100 / fay | 42300 / gus | 38800 / jim | ∅
--: name text | avg numeric
--> avg(salary), order by salary, name => bob | 3866.6666666666666667 / cyd | 4025.0000000000000000 / ada | 4442.8571428571428571 / eve | 4537.5000000000000000 / dan | 4700.0000000000000000 / hal | 4180.0000000000000000 / ida | 4316.6666666666666667 / fay | 3500.0000000000000000 / gus | 3700.0000000000000000 / jim | 4700.0000000000000000
--> avg(salary), partition by team order by salary desc, name => bob | 5020.0000000000000000 / cyd | 5225.0000000000000000 / ada | 5600.0000000000000000 / eve | 5466.6666666666666667 / dan | 6000.0000000000000000 / hal | 4900.0000000000000000 / ida | 5000.0000000000000000 / fay | 3700.0000000000000000 / gus | 3900.0000000000000000 / jim | ∅
--> avg(salary), order by team nulls first, salary desc, name => bob | 5020.0000000000000000 / cyd | 5225.0000000000000000 / ada | 5600.0000000000000000 / eve | 5466.6666666666666667 / dan | 6000.0000000000000000 / hal | 4985.7142857142857143 / ida | 5016.6666666666666667 / fay | 4700.0000000000000000 / gus | 4850.0000000000000000 / jim | ∅
--: name text | min integer
--> min(salary), order by salary, name => bob | 3500 / cyd | 3500 / ada | 3500 / eve | 3500 / dan | 3500 / hal | 3500 / ida | 3500 / fay | 3500 / gus | 3500 / jim | 3500
--> min(salary), partition by team order by salary desc, name => bob | 4200 / cyd | 4500 / ada | 5200 / eve | 5200 / dan | 6000 / hal | 4800 / ida | 5000 / fay | 3500 / gus | 3900 / jim | ∅
--> min(salary), order by team nulls first, salary desc, name => bob | 4200 / cyd | 4500 / ada | 5200 / eve | 5200 / dan | 6000 / hal | 4200 / ida | 4200 / fay | 3500 / gus | 3900 / jim | ∅
--: name text | max text
--> max(name), order by salary, name => bob | gus / cyd | gus / ada | ida / eve | ida / dan | ida / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> max(name), partition by team order by salary desc, name => bob | eve / cyd | eve / ada | dan / eve | eve / dan | dan / hal | ida / ida | ida / fay | gus / gus | gus / jim | jim
--> max(name), order by team nulls first, salary desc, name => bob | jim / cyd | jim / ada | jim / eve | jim / dan | jim / hal | jim / ida | jim / fay | jim / gus | jim / jim | jim
--: name text | array_agg text[]
--> array_agg(name), order by salary, name => bob | {fay,gus,bob} / cyd | {fay,gus,bob,cyd} / ada | {fay,gus,bob,cyd,hal,ida,ada} / eve | {fay,gus,bob,cyd,hal,ida,ada,eve} / dan | {fay,gus,bob,cyd,hal,ida,ada,eve,dan} / hal | {fay,gus,bob,cyd,hal} / ida | {fay,gus,bob,cyd,hal,ida} / fay | {fay} / gus | {fay,gus} / jim | {fay,gus,bob,cyd,hal,ida,ada,eve,dan,jim}
--> array_agg(name), partition by team order by salary desc, name => bob | {dan,ada,eve,cyd,bob} / cyd | {dan,ada,eve,cyd} / ada | {dan,ada} / eve | {dan,ada,eve} / dan | {dan} / hal | {ida,hal} / ida | {ida} / fay | {gus,fay} / gus | {gus} / jim | {jim}
--> array_agg(name), order by team nulls first, salary desc, name => bob | {jim,dan,ada,eve,cyd,bob} / cyd | {jim,dan,ada,eve,cyd} / ada | {jim,dan,ada} / eve | {jim,dan,ada,eve} / dan | {jim,dan} / hal | {jim,dan,ada,eve,cyd,bob,ida,hal} / ida | {jim,dan,ada,eve,cyd,bob,ida} / fay | {jim,dan,ada,eve,cyd,bob,ida,hal,gus,fay} / gus | {jim,dan,ada,eve,cyd,bob,ida,hal,gus} / jim | {jim}
--: name text | string_agg text
--> string_agg(name, ','), order by salary, name => bob | fay,gus,bob / cyd | fay,gus,bob,cyd / ada | fay,gus,bob,cyd,hal,ida,ada / eve | fay,gus,bob,cyd,hal,ida,ada,eve / dan | fay,gus,bob,cyd,hal,ida,ada,eve,dan / hal | fay,gus,bob,cyd,hal / ida | fay,gus,bob,cyd,hal,ida / fay | fay / gus | fay,gus / jim | fay,gus,bob,cyd,hal,ida,ada,eve,dan,jim
--> string_agg(name, ','), partition by team order by salary desc, name => bob | dan,ada,eve,cyd,bob / cyd | dan,ada,eve,cyd / ada | dan,ada / eve | dan,ada,eve / dan | dan / hal | ida,hal / ida | ida / fay | gus,fay / gus | gus / jim | jim
--> string_agg(name, ','), order by team nulls first, salary desc, name => bob | jim,dan,ada,eve,cyd,bob / cyd | jim,dan,ada,eve,cyd / ada | jim,dan,ada / eve | jim,dan,ada,eve / dan | jim,dan / hal | jim,dan,ada,eve,cyd,bob,ida,hal / ida | jim,dan,ada,eve,cyd,bob,ida / fay | jim,dan,ada,eve,cyd,bob,ida,hal,gus,fay / gus | jim,dan,ada,eve,cyd,bob,ida,hal,gus / jim | jim
--: name text | lag text
--> lag(name, 0), order by salary, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> lag(name, 0), partition by team order by salary desc, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> lag(name, 0), order by team nulls first, salary desc, name => bob | bob / cyd | cyd / ada | ada / eve | eve / dan | dan / hal | hal / ida | ida / fay | fay / gus | gus / jim | jim
--> lag(name, -1), order by salary, name => bob | cyd / cyd | hal / ada | eve / eve | dan / dan | jim / hal | ida / ida | ada / fay | gus / gus | bob / jim | ∅
--> lag(name, -1), partition by team order by salary desc, name => bob | ∅ / cyd | bob / ada | eve / eve | cyd / dan | ada / hal | ∅ / ida | hal / fay | ∅ / gus | fay / jim | ∅
--> lag(name, -1), order by team nulls first, salary desc, name => bob | ida / cyd | bob / ada | eve / eve | cyd / dan | ada / hal | gus / ida | hal / fay | ∅ / gus | fay / jim | dan
--> lag(name, null), order by salary, name => bob | ∅ / cyd | ∅ / ada | ∅ / eve | ∅ / dan | ∅ / hal | ∅ / ida | ∅ / fay | ∅ / gus | ∅ / jim | ∅
--> lag(name, null), partition by team order by salary desc, name => bob | ∅ / cyd | ∅ / ada | ∅ / eve | ∅ / dan | ∅ / hal | ∅ / ida | ∅ / fay | ∅ / gus | ∅ / jim | ∅
--> lag(name, null), order by team nulls first, salary desc, name => bob | ∅ / cyd | ∅ / ada | ∅ / eve | ∅ / dan | ∅ / hal | ∅ / ida | ∅ / fay | ∅ / gus | ∅ / jim | ∅
--: name text | stddev numeric
--> stddev(salary), order by salary, name => bob | 351.188458428425 / cyd | 427.200187265877 / ada | 613.343685212847 / eve | 627.779533639910 / dan | 763.216876123687 / hal | 506.951674225463 / ida | 563.619256827396 / fay | ∅ / gus | 282.842712474619 / jim | 763.216876123687
--> stddev(salary), partition by team order by salary desc, name => bob | 701.427116670007 / cyd | 613.052471924984 / ada | 565.685424949238 / eve | 461.880215351701 / dan | ∅ / hal | 141.421356237310 / ida | ∅ / fay | 282.842712474619 / gus | ∅ / jim | ∅
--> stddev(salary), order by team nulls first, salary desc, name => bob | 701.427116670007 / cyd | 613.052471924984 / ada | 565.685424949238 / eve | 461.880215351701 / dan | ∅ / hal | 578.586125621679 / ida | 627.428614797466 / fay | 763.216876123687 / gus | 659.003576838331 / jim | ∅
--: name text | bool_and boolean
--> bool_and(salary > 4000), order by salary, name => bob | f / cyd | f / ada | f / eve | f / dan | f / hal | f / ida | f / fay | f / gus | f / jim | f
--> bool_and(salary > 4000), partition by team order by salary desc, name => bob | t / cyd | t / ada | t / eve | t / dan | t / hal | t / ida | t / fay | f / gus | f / jim | ∅
--> bool_and(salary > 4000), order by team nulls first, salary desc, name => bob | t / cyd | t / ada | t / eve | t / dan | t / hal | t / ida | t / fay | f / gus | f / jim | ∅

-- each f: rank() | dense_rank() | percent_rank() | cume_dist() | count(*) | sum(salary) | min(name) | max(name)
select name, {f} over (order by salary), {f} over (partition by team order by salary desc) from pay order by salary, name;
--: name text | rank bigint | rank bigint
--> rank() => fay | 1 | 2 / gus | 2 | 1 / bob | 3 | 5 / cyd | 4 | 4 / hal | 5 | 2 / ida | 6 | 1 / ada | 7 | 2 / eve | 7 | 2 / dan | 9 | 1 / jim | 10 | 1
--: name text | dense_rank bigint | dense_rank bigint
--> dense_rank() => fay | 1 | 2 / gus | 2 | 1 / bob | 3 | 4 / cyd | 4 | 3 / hal | 5 | 2 / ida | 6 | 1 / ada | 7 | 2 / eve | 7 | 2 / dan | 8 | 1 / jim | 9 | 1
--: name text | percent_rank double precision | percent_rank double precision
--> percent_rank() => fay | 0 | 1 / gus | 0.1111111111111111 | 0 / bob | 0.2222222222222222 | 1 / cyd | 0.3333333333333333 | 0.75 / hal | 0.4444444444444444 | 1 / ida | 0.5555555555555556 | 0 / ada | 0.6666666666666666 | 0.25 / eve | 0.6666666666666666 | 0.25 / dan | 0.8888888888888888 | 0 / jim | 1 | 0
--: name text | cume_dist double precision | cume_dist double precision
--> cume_dist() => fay | 0.1 | 1 / gus | 0.2 | 0.5 / bob | 0.3 | 1 / cyd | 0.4 | 0.8 / hal | 0.5 | 1 / ida | 0.6 | 0.5 / ada | 0.8 | 0.6 / eve | 0.8 | 0.6 / dan | 0.9 | 0.2 / jim | 1 | 1
--: name text | count bigint | count bigint
--> count(*) => fay | 1 | 2 / gus | 2 | 1 / bob | 3 | 5 / cyd | 4 | 4 / hal | 5 | 2 / ida | 6 | 1 / ada | 8 | 3 / eve | 8 | 3 / dan | 9 | 1 / jim | 10 | 1
--: name text | sum bigint | sum bigint
--> sum(salary) => fay | 3500 | 7400 / gus | 7400 | 3900 / bob | 11600 | 25100 / cyd | 16100 | 20900 / hal | 20900 | 9800 / ida | 25900 | 5000 / ada | 36300 | 16400 / eve | 36300 | 16400 / dan | 42300 | 6000 / jim | 42300 | ∅
--: name text | min text | min text
--> min(name) => fay | fay | fay / gus | fay | gus / bob | bob | ada / cyd | bob | ada / hal | bob | hal / ida | bob | ida / ada | ada | ada / eve | ada | ada / dan | ada | dan / jim | ada | jim
--: name text | max text | max text
--> max(name) => fay | fay | gus / gus | gus | gus / bob | gus | eve / cyd | gus | eve / hal | hal | ida / ida | ida | ida / ada | ida | eve / eve | ida | eve / dan | ida | dan / jim | jim | jim
-- each w:  | partition by team | order by name
select name, sum(salary) over ({w}), count(*) over ({w}), avg(salary) over ({w}) from pay order by name;
--> | partition by team => ERROR 42601: syntax error at or near "|" [POSITION: 32]
--: name text | sum bigint | count bigint | avg numeric
--> order by name => ada | 5200 | 1 | 5200.0000000000000000 / bob | 9400 | 2 | 4700.0000000000000000 / cyd | 13900 | 3 | 4633.3333333333333333 / dan | 19900 | 4 | 4975.0000000000000000 / eve | 25100 | 5 | 5020.0000000000000000 / fay | 28600 | 6 | 4766.6666666666666667 / gus | 32500 | 7 | 4642.8571428571428571 / hal | 37300 | 8 | 4662.5000000000000000 / ida | 42300 | 9 | 4700.0000000000000000 / jim | 42300 | 10 | 4700.0000000000000000

-- ## Frames

-- each m: rows | range | groups
-- each f: unbounded preceding | current row | between unbounded preceding and unbounded following | between current row and unbounded following | between unbounded preceding and current row | between current row and current row
select name, salary, sum(salary) over (order by salary {m} {f}), string_agg(name, '') over (order by salary, name {m} {f}) from pay where team = 'dev' order by salary, name;
--: name text | salary integer | sum bigint | string_agg text
--> rows, unbounded preceding => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 13900 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> rows, current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 5200 | ada / eve | 5200 | 5200 | eve / dan | 6000 | 6000 | dan
--> rows, between unbounded preceding and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 25100 | bobcydadaevedan / ada | 5200 | 25100 | bobcydadaevedan / eve | 5200 | 25100 | bobcydadaevedan / dan | 6000 | 25100 | bobcydadaevedan
--> rows, between current row and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 20900 | cydadaevedan / ada | 5200 | 16400 | adaevedan / eve | 5200 | 11200 | evedan / dan | 6000 | 6000 | dan
--> rows, between unbounded preceding and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 13900 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> rows, between current row and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 5200 | ada / eve | 5200 | 5200 | eve / dan | 6000 | 6000 | dan
--> range, unbounded preceding => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 19100 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> range, current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 10400 | ada / eve | 5200 | 10400 | eve / dan | 6000 | 6000 | dan
--> range, between unbounded preceding and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 25100 | bobcydadaevedan / ada | 5200 | 25100 | bobcydadaevedan / eve | 5200 | 25100 | bobcydadaevedan / dan | 6000 | 25100 | bobcydadaevedan
--> range, between current row and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 20900 | cydadaevedan / ada | 5200 | 16400 | adaevedan / eve | 5200 | 16400 | evedan / dan | 6000 | 6000 | dan
--> range, between unbounded preceding and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 19100 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> range, between current row and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 10400 | ada / eve | 5200 | 10400 | eve / dan | 6000 | 6000 | dan
--> groups, unbounded preceding => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 19100 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> groups, current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 10400 | ada / eve | 5200 | 10400 | eve / dan | 6000 | 6000 | dan
--> groups, between unbounded preceding and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 25100 | bobcydadaevedan / ada | 5200 | 25100 | bobcydadaevedan / eve | 5200 | 25100 | bobcydadaevedan / dan | 6000 | 25100 | bobcydadaevedan
--> groups, between current row and unbounded following => bob | 4200 | 25100 | bobcydadaevedan / cyd | 4500 | 20900 | cydadaevedan / ada | 5200 | 16400 | adaevedan / eve | 5200 | 16400 | evedan / dan | 6000 | 6000 | dan
--> groups, between unbounded preceding and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 8700 | bobcyd / ada | 5200 | 19100 | bobcydada / eve | 5200 | 19100 | bobcydadaeve / dan | 6000 | 25100 | bobcydadaevedan
--> groups, between current row and current row => bob | 4200 | 4200 | bob / cyd | 4500 | 4500 | cyd / ada | 5200 | 10400 | ada / eve | 5200 | 10400 | eve / dan | 6000 | 6000 | dan
-- each m: rows | groups
-- each f: 1 preceding | between 1 preceding and 1 following | between 2 preceding and 1 preceding | between 1 following and 2 following | between unbounded preceding and 1 following | between 1 following and unbounded following | between 0 preceding and 0 following | between 3 following and 1 following
select name, sum(salary) over (order by salary, name {m} {f}), count(*) over (order by salary, name {m} {f}), first_value(name) over (order by salary, name {m} {f}) from pay where team = 'dev' order by salary, name;
--: name text | sum bigint | count bigint | first_value text
--> rows, 1 preceding => bob | 4200 | 1 | bob / cyd | 8700 | 2 | bob / ada | 9700 | 2 | cyd / eve | 10400 | 2 | ada / dan | 11200 | 2 | eve
--> rows, between 1 preceding and 1 following => bob | 8700 | 2 | bob / cyd | 13900 | 3 | bob / ada | 14900 | 3 | cyd / eve | 16400 | 3 | ada / dan | 11200 | 2 | eve
--> rows, between 2 preceding and 1 preceding => bob | ∅ | 0 | ∅ / cyd | 4200 | 1 | bob / ada | 8700 | 2 | bob / eve | 9700 | 2 | cyd / dan | 10400 | 2 | ada
--> rows, between 1 following and 2 following => bob | 9700 | 2 | cyd / cyd | 10400 | 2 | ada / ada | 11200 | 2 | eve / eve | 6000 | 1 | dan / dan | ∅ | 0 | ∅
--> rows, between unbounded preceding and 1 following => bob | 8700 | 2 | bob / cyd | 13900 | 3 | bob / ada | 19100 | 4 | bob / eve | 25100 | 5 | bob / dan | 25100 | 5 | bob
--> rows, between 1 following and unbounded following => bob | 20900 | 4 | cyd / cyd | 16400 | 3 | ada / ada | 11200 | 2 | eve / eve | 6000 | 1 | dan / dan | ∅ | 0 | ∅
--> rows, between 0 preceding and 0 following => bob | 4200 | 1 | bob / cyd | 4500 | 1 | cyd / ada | 5200 | 1 | ada / eve | 5200 | 1 | eve / dan | 6000 | 1 | dan
--> rows, between 3 following and 1 following => bob | ∅ | 0 | ∅ / cyd | ∅ | 0 | ∅ / ada | ∅ | 0 | ∅ / eve | ∅ | 0 | ∅ / dan | ∅ | 0 | ∅
--> groups, 1 preceding => bob | 4200 | 1 | bob / cyd | 8700 | 2 | bob / ada | 9700 | 2 | cyd / eve | 10400 | 2 | ada / dan | 11200 | 2 | eve
--> groups, between 1 preceding and 1 following => bob | 8700 | 2 | bob / cyd | 13900 | 3 | bob / ada | 14900 | 3 | cyd / eve | 16400 | 3 | ada / dan | 11200 | 2 | eve
--> groups, between 2 preceding and 1 preceding => bob | ∅ | 0 | ∅ / cyd | 4200 | 1 | bob / ada | 8700 | 2 | bob / eve | 9700 | 2 | cyd / dan | 10400 | 2 | ada
--> groups, between 1 following and 2 following => bob | 9700 | 2 | cyd / cyd | 10400 | 2 | ada / ada | 11200 | 2 | eve / eve | 6000 | 1 | dan / dan | ∅ | 0 | ∅
--> groups, between unbounded preceding and 1 following => bob | 8700 | 2 | bob / cyd | 13900 | 3 | bob / ada | 19100 | 4 | bob / eve | 25100 | 5 | bob / dan | 25100 | 5 | bob
--> groups, between 1 following and unbounded following => bob | 20900 | 4 | cyd / cyd | 16400 | 3 | ada / ada | 11200 | 2 | eve / eve | 6000 | 1 | dan / dan | ∅ | 0 | ∅
--> groups, between 0 preceding and 0 following => bob | 4200 | 1 | bob / cyd | 4500 | 1 | cyd / ada | 5200 | 1 | ada / eve | 5200 | 1 | eve / dan | 6000 | 1 | dan
--> groups, between 3 following and 1 following => bob | ∅ | 0 | ∅ / cyd | ∅ | 0 | ∅ / ada | ∅ | 0 | ∅ / eve | ∅ | 0 | ∅ / dan | ∅ | 0 | ∅
-- each f: between 500 preceding and 500 following | between 700 preceding and current row | between unbounded preceding and 100 following | between 1000 preceding and 100 preceding
select name, sum(salary) over (order by salary range {f}), count(*) over (order by salary desc range {f}) from pay order by salary, name;
--: name text | sum bigint | count bigint
--> between 500 preceding and 500 following => fay | 7400 | 2 / gus | 11600 | 3 / bob | 12600 | 3 / cyd | 18500 | 4 / hal | 24700 | 5 / ida | 24700 | 5 / ada | 20200 | 4 / eve | 20200 | 4 / dan | 6000 | 1 / jim | ∅ | 1
--> between 700 preceding and current row => fay | 3500 | 3 / gus | 7400 | 3 / bob | 11600 | 3 / cyd | 12600 | 5 / hal | 13500 | 4 / ida | 14300 | 3 / ada | 24700 | 2 / eve | 24700 | 2 / dan | 6000 | 1 / jim | ∅ | 1
--> between unbounded preceding and 100 following => fay | 3500 | 10 / gus | 7400 | 9 / bob | 11600 | 8 / cyd | 16100 | 7 / hal | 20900 | 6 / ida | 25900 | 5 / ada | 36300 | 4 / eve | 36300 | 4 / dan | 42300 | 2 / jim | 42300 | 1
--> between 1000 preceding and 100 preceding => fay | ∅ | 3 / gus | 3500 | 3 / bob | 7400 | 5 / cyd | 11600 | 4 / hal | 12600 | 3 / ida | 13500 | 3 / ada | 18500 | 1 / eve | 18500 | 1 / dan | 15400 | 0 / jim | ∅ | 1
-- each f: between interval '1 year' preceding and current row | between '6 months' preceding and '6 months' following | between unbounded preceding and '1 day' preceding
select name, since, count(*) over (order by since range {f}), sum(salary) over (order by since range {f}) from pay order by since, name;
--: name text | since date | count bigint | sum bigint
--> between interval '1 year' preceding and current row => ida | 2018-01-01 | 1 | 5000 / dan | 2019-05-01 | 1 | 6000 / ada | 2020-01-01 | 3 | 14700 / fay | 2020-01-01 | 3 | 14700 / gus | 2020-02-01 | 4 | 18600 / bob | 2020-03-01 | 5 | 22800 / cyd | 2021-01-01 | 5 | 21300 / hal | 2021-06-01 | 2 | 9300 / eve | 2022-01-01 | 3 | 14500 / jim | 2023-01-01 | 2 | 5200
--> between '6 months' preceding and '6 months' following => ida | 2018-01-01 | 1 | 5000 / dan | 2019-05-01 | 1 | 6000 / ada | 2020-01-01 | 4 | 16800 / fay | 2020-01-01 | 4 | 16800 / gus | 2020-02-01 | 4 | 16800 / bob | 2020-03-01 | 4 | 16800 / cyd | 2021-01-01 | 2 | 9300 / hal | 2021-06-01 | 2 | 9300 / eve | 2022-01-01 | 1 | 5200 / jim | 2023-01-01 | 1 | ∅
--> between unbounded preceding and '1 day' preceding => ida | 2018-01-01 | 0 | ∅ / dan | 2019-05-01 | 1 | 5000 / ada | 2020-01-01 | 2 | 11000 / fay | 2020-01-01 | 2 | 11000 / gus | 2020-02-01 | 4 | 19700 / bob | 2020-03-01 | 5 | 23600 / cyd | 2021-01-01 | 6 | 27800 / hal | 2021-06-01 | 7 | 32300 / eve | 2022-01-01 | 8 | 37100 / jim | 2023-01-01 | 9 | 42300
-- each x: exclude current row | exclude group | exclude ties | exclude no others
-- each m: rows between 1 preceding and 1 following | range between unbounded preceding and unbounded following | groups between 1 preceding and current row | rows between unbounded preceding and current row
select name, sum(salary) over (order by salary {m} {x}), string_agg(name, '') over (order by salary, name {m} {x}), first_value(name) over (order by salary, name {m} {x}), last_value(name) over (order by salary, name {m} {x}), nth_value(name, 2) over (order by salary, name {m} {x}) from pay where team = 'dev' order by salary, name;
--: name text | sum bigint | string_agg text | first_value text | last_value text | nth_value text
--> exclude current row, rows between 1 preceding and 1 following => bob | 4500 | cyd | cyd | cyd | ∅ / cyd | 9400 | bobada | bob | ada | ada / ada | 9700 | cydeve | cyd | eve | eve / eve | 11200 | adadan | ada | dan | dan / dan | 5200 | eve | eve | eve | ∅
--> exclude current row, range between unbounded preceding and unbounded following => bob | 20900 | cydadaevedan | cyd | dan | ada / cyd | 20600 | bobadaevedan | bob | dan | ada / ada | 19900 | bobcydevedan | bob | dan | cyd / eve | 19900 | bobcydadadan | bob | dan | cyd / dan | 19100 | bobcydadaeve | bob | eve | cyd
--> exclude current row, groups between 1 preceding and current row => bob | ∅ | ∅ | ∅ | ∅ | ∅ / cyd | 4200 | bob | bob | bob | ∅ / ada | 9700 | cyd | cyd | cyd | ∅ / eve | 9700 | ada | ada | ada | ∅ / dan | 10400 | eve | eve | eve | ∅
--> exclude current row, rows between unbounded preceding and current row => bob | ∅ | ∅ | ∅ | ∅ | ∅ / cyd | 4200 | bob | bob | bob | ∅ / ada | 8700 | bobcyd | bob | cyd | cyd / eve | 13900 | bobcydada | bob | ada | cyd / dan | 19100 | bobcydadaeve | bob | eve | cyd
--> exclude group, rows between 1 preceding and 1 following => bob | 4500 | cyd | cyd | cyd | ∅ / cyd | 9400 | bobada | bob | ada | ada / ada | 4500 | cydeve | cyd | eve | eve / eve | 6000 | adadan | ada | dan | dan / dan | 5200 | eve | eve | eve | ∅
--> exclude group, range between unbounded preceding and unbounded following => bob | 20900 | cydadaevedan | cyd | dan | ada / cyd | 20600 | bobadaevedan | bob | dan | ada / ada | 14700 | bobcydevedan | bob | dan | cyd / eve | 14700 | bobcydadadan | bob | dan | cyd / dan | 19100 | bobcydadaeve | bob | eve | cyd
--> exclude group, groups between 1 preceding and current row => bob | ∅ | ∅ | ∅ | ∅ | ∅ / cyd | 4200 | bob | bob | bob | ∅ / ada | 4500 | cyd | cyd | cyd | ∅ / eve | 4500 | ada | ada | ada | ∅ / dan | 10400 | eve | eve | eve | ∅
--> exclude group, rows between unbounded preceding and current row => bob | ∅ | ∅ | ∅ | ∅ | ∅ / cyd | 4200 | bob | bob | bob | ∅ / ada | 8700 | bobcyd | bob | cyd | cyd / eve | 8700 | bobcydada | bob | ada | cyd / dan | 19100 | bobcydadaeve | bob | eve | cyd
--> exclude ties, rows between 1 preceding and 1 following => bob | 8700 | bobcyd | bob | cyd | cyd / cyd | 13900 | bobcydada | bob | ada | cyd / ada | 9700 | cydadaeve | cyd | eve | ada / eve | 11200 | adaevedan | ada | dan | eve / dan | 11200 | evedan | eve | dan | dan
--> exclude ties, range between unbounded preceding and unbounded following => bob | 25100 | bobcydadaevedan | bob | dan | cyd / cyd | 25100 | bobcydadaevedan | bob | dan | cyd / ada | 19900 | bobcydadaevedan | bob | dan | cyd / eve | 19900 | bobcydadaevedan | bob | dan | cyd / dan | 25100 | bobcydadaevedan | bob | dan | cyd
--> exclude ties, groups between 1 preceding and current row => bob | 4200 | bob | bob | bob | ∅ / cyd | 8700 | bobcyd | bob | cyd | cyd / ada | 9700 | cydada | cyd | ada | ada / eve | 9700 | adaeve | ada | eve | eve / dan | 16400 | evedan | eve | dan | dan
--> exclude ties, rows between unbounded preceding and current row => bob | 4200 | bob | bob | bob | ∅ / cyd | 8700 | bobcyd | bob | cyd | cyd / ada | 13900 | bobcydada | bob | ada | cyd / eve | 13900 | bobcydadaeve | bob | eve | cyd / dan | 25100 | bobcydadaevedan | bob | dan | cyd
--> exclude no others, rows between 1 preceding and 1 following => bob | 8700 | bobcyd | bob | cyd | cyd / cyd | 13900 | bobcydada | bob | ada | cyd / ada | 14900 | cydadaeve | cyd | eve | ada / eve | 16400 | adaevedan | ada | dan | eve / dan | 11200 | evedan | eve | dan | dan
--> exclude no others, range between unbounded preceding and unbounded following => bob | 25100 | bobcydadaevedan | bob | dan | cyd / cyd | 25100 | bobcydadaevedan | bob | dan | cyd / ada | 25100 | bobcydadaevedan | bob | dan | cyd / eve | 25100 | bobcydadaevedan | bob | dan | cyd / dan | 25100 | bobcydadaevedan | bob | dan | cyd
--> exclude no others, groups between 1 preceding and current row => bob | 4200 | bob | bob | bob | ∅ / cyd | 8700 | bobcyd | bob | cyd | cyd / ada | 14900 | cydada | cyd | ada | ada / eve | 14900 | adaeve | ada | eve | eve / dan | 16400 | evedan | eve | dan | dan
--> exclude no others, rows between unbounded preceding and current row => bob | 4200 | bob | bob | bob | ∅ / cyd | 8700 | bobcyd | bob | cyd | cyd / ada | 13900 | bobcydada | bob | ada | cyd / eve | 19100 | bobcydadaeve | bob | eve | cyd / dan | 25100 | bobcydadaevedan | bob | dan | cyd
-- each f: between unbounded following and current row | between current row and unbounded preceding | between current row and 1 preceding | between 1 following and current row | between 1 following and 1 preceding | unbounded following | 1 following
select sum(salary) over (order by salary rows {f}) from pay;
--> between unbounded following and current row => ERROR 42P20: frame start cannot be UNBOUNDED FOLLOWING [POSITION: 55]
--> between current row and unbounded preceding => ERROR 42P20: frame end cannot be UNBOUNDED PRECEDING [POSITION: 71]
--> between current row and 1 preceding => ERROR 42P20: frame starting from current row cannot have preceding rows [POSITION: 71]
--> between 1 following and current row => ERROR 42P20: frame starting from following row cannot have preceding rows [POSITION: 71]
--> between 1 following and 1 preceding => ERROR 42P20: frame starting from following row cannot have preceding rows [POSITION: 71]
--> unbounded following => ERROR 42P20: frame start cannot be UNBOUNDED FOLLOWING [POSITION: 47]
--> 1 following => ERROR 42P20: frame starting from following row cannot end with current row [POSITION: 47]
select sum(salary) over (order by salary rows -1 preceding) from pay;
--> ERROR 22013: frame starting offset must not be negative
select sum(salary) over (order by salary rows null preceding) from pay;
--> ERROR 22004: frame starting offset must not be null
select sum(salary) over (order by salary rows salary preceding) from pay;
--> ERROR 42P10: argument of ROWS must not contain variables [POSITION: 47]
select sum(salary) over (rows 1.5 preceding) from pay;
--: sum bigint
--> 5200
--> 9400
--> 13900
--> 14700
--> 15700
--> 14700
--> 12600
--> 12200
--> 13700
--> 9800
select sum(salary) over (range 1 preceding) from pay;
--> ERROR 42P20: RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column [POSITION: 25]
select sum(salary) over (order by salary, name range 1 preceding) from pay;
--> ERROR 42P20: RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column [POSITION: 25]
select sum(salary) over (order by name range 'x' preceding) from pay;
--> ERROR 0A000: RANGE with offset PRECEDING/FOLLOWING is not supported for column type text [POSITION: 46]
select sum(salary) over (order by salary range -1 preceding) from pay;
--> ERROR 22013: invalid preceding or following size in window function
select sum(salary) over (groups 1 preceding) from pay;
--> ERROR 42P20: GROUPS mode requires an ORDER BY clause [POSITION: 25]
select sum(x) over (order by x range between 0.5 preceding and 0.5 following) from (values (1.0), (1.5), (2.2)) v (x) order by 1;
--: sum numeric
--> 2.2
--> 2.5
--> 2.5
select sum(x) over (order by x range between 1 preceding and current row) from (values (1::float8), (1.5), (null), (3)) v (x) order by 1;
--: sum double precision
--> 1
--> 2.5
--> 3
--> ∅
select count(*) over (order by t range '1 hour' preceding) from (values (timestamp '2024-01-01 00:00'), ('2024-01-01 00:30'), ('2024-01-01 02:00')) v (t);
--: count bigint
--> 1
--> 2
--> 1
select sum(n) over (order by t range between '10 minutes' preceding and '10 minutes' following) from (values (time '00:00', 1), ('00:05', 2), ('23:55', 4)) v (t, n);
--: sum bigint
--> 3
--> 3
--> 4

-- ## Named windows

select name, rank() over w, sum(salary) over (w rows unbounded preceding) from pay window w as (partition by team order by salary, name) order by team, salary, name;
--: name text | rank bigint | sum bigint
--> bob | 1 | 4200
--> cyd | 2 | 8700
--> ada | 3 | 13900
--> eve | 4 | 19100
--> dan | 5 | 25100
--> hal | 1 | 4800
--> ida | 2 | 9800
--> fay | 1 | 3500
--> gus | 2 | 7400
--> jim | 1 | ∅
select name, sum(salary) over (w order by salary, name) from pay window w as (partition by team) order by team, salary, name;
--: name text | sum bigint
--> bob | 4200
--> cyd | 8700
--> ada | 13900
--> eve | 19100
--> dan | 25100
--> hal | 4800
--> ida | 9800
--> fay | 3500
--> gus | 7400
--> jim | ∅
select sum(salary) over w1, count(*) over w2 from pay window w1 as (order by salary), w2 as (w1) order by 1;
--: sum bigint | count bigint
--> 3500 | 1
--> 7400 | 2
--> 11600 | 3
--> 16100 | 4
--> 20900 | 5
--> 25900 | 6
--> 36300 | 8
--> 36300 | 8
--> 42300 | 9
--> 42300 | 10
select count(*) over w from pay;
--> ERROR 42704: window "w" does not exist [POSITION: 22]
select count(*) over (w partition by team) from pay window w as (order by salary);
--> ERROR 42P20: cannot override PARTITION BY clause of window "w" [POSITION: 22]
select count(*) over (w order by name) from pay window w as (order by salary);
--> ERROR 42P20: cannot override ORDER BY clause of window "w" [POSITION: 22]
select count(*) over (w) from pay window w as (order by salary rows 1 preceding);
--> ERROR 42P20: cannot copy window "w" because it has a frame clause [HINT: Omit the parentheses in this OVER clause.] [POSITION: 22]
select 1 from pay window w as (partition by team), w as (order by name);
--> ERROR 42P20: window "w" is already defined [POSITION: 57]

-- ## In queries

select * from (select name, team, row_number() over (partition by team order by salary desc) as at from pay) t where at <= 2 order by team, at;
--: name text | team text | at bigint
--> dan | dev | 1
--> ada | dev | 2
--> ida | hr | 1
--> hal | hr | 2
--> gus | ops | 1
--> fay | ops | 2
--> jim | ∅ | 1
select team, sum(salary), rank() over (order by sum(salary) desc) from pay group by team order by 3;
--: team text | sum bigint | rank bigint
--> ∅ | ∅ | 1
--> dev | 25100 | 2
--> hr | 9800 | 3
--> ops | 7400 | 4
select team, salary, sum(salary) filter (where name < 'd') over (partition by team) from pay order by name;
--: team text | salary integer | sum bigint
--> dev | 5200 | 13900
--> dev | 4200 | 13900
--> dev | 4500 | 13900
--> dev | 6000 | 13900
--> dev | 5200 | 13900
--> ops | 3500 | ∅
--> ops | 3900 | ∅
--> hr | 4800 | ∅
--> hr | 5000 | ∅
--> ∅ | ∅ | ∅
select distinct team, count(*) over (partition by team) from pay order by 1;
--: team text | count bigint
--> dev | 5
--> hr | 2
--> ops | 2
--> ∅ | 1
select name from pay order by rank() over (order by salary), name limit 3;
--: name text
--> fay
--> gus
--> bob
select name, salary - lag(salary) over w as step, salary = max(salary) over (partition by team) from pay window w as (order by since, name) order by since, name;
--: name text | step integer | ?column? boolean
--> ida | ∅ | t
--> dan | 1000 | t
--> ada | -800 | f
--> fay | -1700 | f
--> gus | 400 | t
--> bob | 300 | f
--> cyd | 300 | f
--> hal | 300 | f
--> eve | 400 | f
--> jim | ∅ | ∅
select name, count(*) over (partition by (select 1)), sum(salary) over (order by salary + 0, name) from pay order by name limit 3;
--: name text | count bigint | sum bigint
--> ada | 10 | 31100
--> bob | 10 | 11600
--> cyd | 10 | 16100
select row_number() over (), * from (values ('a'), ('b')) v;
--: row_number bigint | column1 text
--> 1 | a
--> 2 | b
select first_value(salary) over (order by salary nulls first), last_value(salary) over (order by salary rows between unbounded preceding and unbounded following), nth_value(salary, 100) over () from pay limit 2;
--: first_value integer | last_value integer | nth_value integer
--> ∅ | ∅ | ∅
--> ∅ | ∅ | ∅
select ntile(n) over () from (values (1), (2)) v (n);
--: ntile integer
--> 1
--> 1
select sum(sum(salary)) over (order by team) from pay group by team order by 1;
--: sum numeric
--> 25100
--> 34900
--> 42300
--> 42300
select count(distinct team) over () from pay;
--> ERROR 0A000: DISTINCT is not implemented for window functions [POSITION: 8]
select count(*) over (order by salary) filter (where true) from pay;
--> ERROR 42601: syntax error at or near "filter" [POSITION: 40]
select row_number() from pay;
--> ERROR 42809: window function row_number requires an OVER clause [POSITION: 8]
select upper('a') over ();
--> ERROR 42809: OVER specified, but upper is not a window function nor an aggregate function [POSITION: 8]
select * from pay where row_number() over () = 1;
--> ERROR 42P20: window functions are not allowed in WHERE [POSITION: 25]
select team from pay group by rank() over ();
--> ERROR 42P20: window functions are not allowed in GROUP BY [POSITION: 31]
select sum(rank() over ()) from pay;
--> ERROR 42803: aggregate function calls cannot contain window function calls [POSITION: 12]
select rank() over (order by rank() over ()) from pay;
--> ERROR 42P20: window functions are not allowed in window definitions [POSITION: 30]
select ntile(0) over () from pay;
--> ERROR 22014: argument of ntile must be greater than zero
select nth_value(name, 0) over () from pay;
--> ERROR 22016: argument of nth_value must be greater than zero
select lag(name, 1, 5) over () from pay;
--> ERROR 42883: function lag(text, integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select rank(1) over () from pay;
--> ERROR 42809: WITHIN GROUP is required for ordered-set aggregate rank [POSITION: 8]
select generate_series(1, 2), row_number() over (order by 1);
--: generate_series integer | row_number bigint
--> 1 | 1
--> 2 | 1
select count(*) over (partition by team order by salary desc nulls last rows between unbounded preceding and 1 preceding) from pay order by 1;
--: count bigint
--> 0
--> 0
--> 0
--> 0
--> 1
--> 1
--> 1
--> 2
--> 3
--> 4
select first_value(name) ignore nulls over () from pay;
--> ERROR 42601: syntax error at or near "nulls" [POSITION: 33]
drop table pay;

-- # Aggregates: sections 4.2.7 and 9.21

create table sale (id int primary key, shop text, item text, qty int, price numeric(8,2), at date, paid boolean, note text);
insert into sale values
    (1, 'north', 'apple', 3, 1.20, '2024-01-05', true, 'a'), (2, 'north', 'pear', 1, 2.50, '2024-01-06', false, null),
    (3, 'south', 'apple', 10, 1.10, '2024-01-06', true, 'c'), (4, 'south', 'fig', null, null, '2024-02-01', null, 'd'),
    (5, 'east', 'pear', 2, 2.40, '2024-02-02', true, 'a'), (6, 'north', 'apple', 5, 1.30, '2024-03-01', true, ''),
    (7, null, 'plum', 4, 0.50, '2024-03-02', false, 'g'), (8, 'east', null, 7, 3.00, null, true, 'h');
--> INSERT 0 8

-- ## Every aggregate over every type it takes, over all rows, some, none and NULLs

-- each f: count | sum | avg | min | max | stddev | stddev_pop | stddev_samp | variance | var_pop | var_samp
-- each x: qty | price | qty::int2 | qty::int8 | qty::float4 | qty::float8 | null::int
select {f}({x}) from sale;
--: count bigint
--> count, qty => 7
--> count, price => 7
--> count, qty::int2 => 7
--> count, qty::int8 => 7
--> count, qty::float4 => 7
--> count, qty::float8 => 7
--> count, null::int => 0
--: sum bigint
--> sum, qty => 32
--: sum numeric
--> sum, price => 12.00
--: sum bigint
--> sum, qty::int2 => 32
--: sum numeric
--> sum, qty::int8 => 32
--: sum real
--> sum, qty::float4 => 32
--: sum double precision
--> sum, qty::float8 => 32
--: sum bigint
--> sum, null::int => ∅
--: avg numeric
--> avg, qty => 4.5714285714285714
--> avg, price => 1.7142857142857143
--> avg, qty::int2 => 4.5714285714285714
--> avg, qty::int8 => 4.5714285714285714
--: avg double precision
--> avg, qty::float4 => 4.571428571428571
--> avg, qty::float8 => 4.571428571428571
--: avg numeric
--> avg, null::int => ∅
--: min integer
--> min, qty => 1
--: min numeric
--> min, price => 0.50
--: min smallint
--> min, qty::int2 => 1
--: min bigint
--> min, qty::int8 => 1
--: min real
--> min, qty::float4 => 1
--: min double precision
--> min, qty::float8 => 1
--: min integer
--> min, null::int => ∅
--: max integer
--> max, qty => 10
--: max numeric
--> max, price => 3.00
--: max smallint
--> max, qty::int2 => 10
--: max bigint
--> max, qty::int8 => 10
--: max real
--> max, qty::float4 => 10
--: max double precision
--> max, qty::float8 => 10
--: max integer
--> max, null::int => ∅
--: stddev numeric
--> stddev, qty => 3.1014589500826251
--> stddev, price => 0.91547541643412691655
--> stddev, qty::int2 => 3.1014589500826251
--> stddev, qty::int8 => 3.1014589500826251
--: stddev double precision
--> stddev, qty::float4 => 3.101458950082625
--> stddev, qty::float8 => 3.101458950082625
--: stddev numeric
--> stddev, null::int => ∅
--: stddev_pop numeric
--> stddev_pop, qty => 2.8713930346059687
--> stddev_pop, price => 0.84756554138236147985
--> stddev_pop, qty::int2 => 2.8713930346059687
--> stddev_pop, qty::int8 => 2.8713930346059687
--: stddev_pop double precision
--> stddev_pop, qty::float4 => 2.8713930346059686
--> stddev_pop, qty::float8 => 2.8713930346059686
--: stddev_pop numeric
--> stddev_pop, null::int => ∅
--: stddev_samp numeric
--> stddev_samp, qty => 3.1014589500826251
--> stddev_samp, price => 0.91547541643412691655
--> stddev_samp, qty::int2 => 3.1014589500826251
--> stddev_samp, qty::int8 => 3.1014589500826251
--: stddev_samp double precision
--> stddev_samp, qty::float4 => 3.101458950082625
--> stddev_samp, qty::float8 => 3.101458950082625
--: stddev_samp numeric
--> stddev_samp, null::int => ∅
--: variance numeric
--> variance, qty => 9.6190476190476190
--> variance, price => 0.83809523809523809524
--> variance, qty::int2 => 9.6190476190476190
--> variance, qty::int8 => 9.6190476190476190
--: variance double precision
--> variance, qty::float4 => 9.619047619047619
--> variance, qty::float8 => 9.619047619047619
--: variance numeric
--> variance, null::int => ∅
--: var_pop numeric
--> var_pop, qty => 8.2448979591836735
--> var_pop, price => 0.71836734693877551020
--> var_pop, qty::int2 => 8.2448979591836735
--> var_pop, qty::int8 => 8.2448979591836735
--: var_pop double precision
--> var_pop, qty::float4 => 8.244897959183673
--> var_pop, qty::float8 => 8.244897959183673
--: var_pop numeric
--> var_pop, null::int => ∅
--: var_samp numeric
--> var_samp, qty => 9.6190476190476190
--> var_samp, price => 0.83809523809523809524
--> var_samp, qty::int2 => 9.6190476190476190
--> var_samp, qty::int8 => 9.6190476190476190
--: var_samp double precision
--> var_samp, qty::float4 => 9.619047619047619
--> var_samp, qty::float8 => 9.619047619047619
--: var_samp numeric
--> var_samp, null::int => ∅
-- each f: count | sum | avg | min | max | variance | bool_and | array_agg | string_agg | bit_or
-- each where: true | shop = 'north' | false | qty is null
select {f}(case '{f}' when 'x' then 0 else qty end) from sale where {where};
--: count bigint
--> count, true => 7
--> count, shop = 'north' => 3
--> count, false => 0
--> count, qty is null => 0
--: sum bigint
--> sum, true => 32
--> sum, shop = 'north' => 9
--> sum, false => ∅
--> sum, qty is null => ∅
--: avg numeric
--> avg, true => 4.5714285714285714
--> avg, shop = 'north' => 3.0000000000000000
--> avg, false => ∅
--> avg, qty is null => ∅
--: min integer
--> min, true => 1
--> min, shop = 'north' => 1
--> min, false => ∅
--> min, qty is null => ∅
--: max integer
--> max, true => 10
--> max, shop = 'north' => 5
--> max, false => ∅
--> max, qty is null => ∅
--: variance numeric
--> variance, true => 9.6190476190476190
--> variance, shop = 'north' => 4.0000000000000000
--> variance, false => ∅
--> variance, qty is null => ∅
--> bool_and, true => ERROR 42883: function bool_and(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bool_and, shop = 'north' => ERROR 42883: function bool_and(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bool_and, false => ERROR 42883: function bool_and(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bool_and, qty is null => ERROR 42883: function bool_and(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: array_agg integer[]
--> array_agg, true => {3,1,10,NULL,2,5,4,7}
--> array_agg, shop = 'north' => {3,1,5}
--> array_agg, false => ∅
--> array_agg, qty is null => {NULL}
--> string_agg, true => ERROR 42883: function string_agg(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, shop = 'north' => ERROR 42883: function string_agg(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, false => ERROR 42883: function string_agg(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, qty is null => ERROR 42883: function string_agg(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: bit_or integer
--> bit_or, true => 15
--> bit_or, shop = 'north' => 7
--> bit_or, false => ∅
--> bit_or, qty is null => ∅
-- each f: min | max | count | array_agg
-- each x: shop | at | paid::text | at::timestamp | note::varchar | (qty || ' days')::interval | array[qty] | shop::name
select {f}({x}) from sale;
--: min text
--> min, shop => east
--: min date
--> min, at => 2024-01-05
--: min text
--> min, paid::text => false
--: min timestamp without time zone
--> min, at::timestamp => 2024-01-05 00:00:00
--: min text
--> min, note::varchar => ""
--: min interval
--> min, (qty || ' days')::interval => 1 day
--: min integer[]
--> min, array[qty] => {1}
--: min text
--> min, shop::name => east
--: max text
--> max, shop => south
--: max date
--> max, at => 2024-03-02
--: max text
--> max, paid::text => true
--: max timestamp without time zone
--> max, at::timestamp => 2024-03-02 00:00:00
--: max text
--> max, note::varchar => h
--: max interval
--> max, (qty || ' days')::interval => 10 days
--: max integer[]
--> max, array[qty] => {NULL}
--: max text
--> max, shop::name => south
--: count bigint
--> count, shop => 7
--> count, at => 7
--> count, paid::text => 7
--> count, at::timestamp => 7
--> count, note::varchar => 7
--> count, (qty || ' days')::interval => 7
--> count, array[qty] => 8
--> count, shop::name => 7
--: array_agg text[]
--> array_agg, shop => {north,north,south,south,east,north,NULL,east}
--: array_agg date[]
--> array_agg, at => {2024-01-05,2024-01-06,2024-01-06,2024-02-01,2024-02-02,2024-03-01,2024-03-02,NULL}
--: array_agg text[]
--> array_agg, paid::text => {true,false,true,NULL,true,true,false,true}
--: array_agg timestamp without time zone[]
--> array_agg, at::timestamp => {"2024-01-05 00:00:00","2024-01-06 00:00:00","2024-01-06 00:00:00","2024-02-01 00:00:00","2024-02-02 00:00:00","2024-03-01 00:00:00","2024-03-02 00:00:00",NULL}
--: array_agg character varying[]
--> array_agg, note::varchar => {a,NULL,c,d,a,"",g,h}
--: array_agg interval[]
--> array_agg, (qty || ' days')::interval => {"3 days","1 day","10 days",NULL,"2 days","5 days","4 days","7 days"}
--: array_agg integer[]
--> array_agg, array[qty] => {{3},{1},{10},{NULL},{2},{5},{4},{7}}
--: array_agg name[]
--> array_agg, shop::name => {north,north,south,south,east,north,NULL,east}
-- each f: bool_and | bool_or | every
-- each where: true | paid | not paid | paid is null | false
select {f}(paid) from sale where {where};
--: bool_and boolean
--> bool_and, true => f
--> bool_and, paid => t
--> bool_and, not paid => f
--> bool_and, paid is null => ∅
--> bool_and, false => ∅
--: bool_or boolean
--> bool_or, true => t
--> bool_or, paid => t
--> bool_or, not paid => f
--> bool_or, paid is null => ∅
--> bool_or, false => ∅
--: every boolean
--> every, true => f
--> every, paid => t
--> every, not paid => f
--> every, paid is null => ∅
--> every, false => ∅
-- each f: bit_and | bit_or | bit_xor
-- each x: qty | qty::int2 | qty::int8
select {f}({x}) from sale;
--: bit_and integer
--> bit_and, qty => 0
--: bit_and smallint
--> bit_and, qty::int2 => 0
--: bit_and bigint
--> bit_and, qty::int8 => 0
--: bit_or integer
--> bit_or, qty => 15
--: bit_or smallint
--> bit_or, qty::int2 => 15
--: bit_or bigint
--> bit_or, qty::int8 => 15
--: bit_xor integer
--> bit_xor, qty => 12
--: bit_xor smallint
--> bit_xor, qty::int2 => 12
--: bit_xor bigint
--> bit_xor, qty::int8 => 12
-- each f: sum | avg | bool_and | bit_and | max | stddev | string_agg
-- each x: 'a'::text | true | row(1,2)
select {f}({x});
--> sum, 'a'::text => ERROR 42883: function sum(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> sum, true => ERROR 42883: function sum(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> sum, row(1,2) => ERROR 42883: function sum(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> avg, 'a'::text => ERROR 42883: function avg(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> avg, true => ERROR 42883: function avg(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> avg, row(1,2) => ERROR 42883: function avg(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bool_and, 'a'::text => ERROR 42883: function bool_and(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: bool_and boolean
--> bool_and, true => t
--> bool_and, row(1,2) => ERROR 42883: function bool_and(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bit_and, 'a'::text => ERROR 42883: function bit_and(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bit_and, true => ERROR 42883: function bit_and(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> bit_and, row(1,2) => ERROR 42883: function bit_and(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--: max text
--> max, 'a'::text => a
--> max, true => ERROR 42883: function max(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> max, row(1,2) => ERROR 42883: function max(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> stddev, 'a'::text => ERROR 42883: function stddev(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> stddev, true => ERROR 42883: function stddev(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> stddev, row(1,2) => ERROR 42883: function stddev(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, 'a'::text => ERROR 42883: function string_agg(text) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, true => ERROR 42883: function string_agg(boolean) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> string_agg, row(1,2) => ERROR 42883: function string_agg(record) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select count(*), count(qty), count(distinct shop), count((shop, item)), count(distinct (shop, item)), count(null) from sale;
--: count bigint | count bigint | count bigint | count bigint | count bigint | count bigint
--> 8 | 7 | 3 | 8 | 7 | 0
select count(*) from sale where false;
--: count bigint
--> 0
select count();
--> ERROR 42809: count(*) must be used to call a parameterless aggregate function [POSITION: 8]
select count(distinct *) from sale;
--> ERROR 42601: syntax error at or near "*" [POSITION: 23]
select sum();
--> ERROR 42883: function sum() does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select sum(1, 2);
--> ERROR 42883: function sum(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select any_value(1);
--> ERROR 42883: function any_value(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]

-- ## DISTINCT, ORDER BY, FILTER

select string_agg(item, ',' order by item), string_agg(distinct item, ',' order by item desc), string_agg(item, ',' order by qty desc nulls last, id), string_agg(note, '') from sale;
--: string_agg text | string_agg text | string_agg text | string_agg text
--> apple,apple,apple,fig,pear,pear,plum | plum,pear,fig,apple | apple,apple,plum,apple,pear,pear,fig | acdagh
select string_agg(item, shop order by id), string_agg(item::bytea, '\x2c' order by id) from sale;
--: string_agg text | string_agg bytea
--> applenorthpearsouthapplesouthfigeastpearnorthappleplum | \x6170706c652c706561722c6170706c652c6669672c706561722c6170706c652c706c756d
select array_agg(qty order by qty desc), array_agg(distinct qty), array_agg(distinct qty order by qty desc nulls last), array_agg(item order by id) filter (where paid) from sale;
--: array_agg integer[] | array_agg integer[] | array_agg integer[] | array_agg text[]
--> {NULL,10,7,5,4,3,2,1} | {1,2,3,4,5,7,10,NULL} | {10,7,5,4,3,2,1,NULL} | {apple,apple,pear,apple,NULL}
select sum(distinct qty % 3), avg(distinct price), count(distinct paid) filter (where qty > 1) from sale;
--: sum bigint | avg numeric | count bigint
--> 3 | 1.7142857142857143 | 2
select string_agg(distinct item, ',' order by qty) from sale;
--> ERROR 42P10: in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list [POSITION: 47]
select sum(qty) filter (where shop = 'north'), count(*) filter (where paid is not true), max(price) filter (where false) from sale;
--: sum bigint | count bigint | max numeric
--> 9 | 3 | ∅
select sum(qty) filter (where sum(qty) > 1) from sale;
--> ERROR 42803: aggregate functions are not allowed in FILTER [POSITION: 31]
select upper('a') filter (where true);
--> ERROR 42809: FILTER specified, but upper is not an aggregate function [POSITION: 8]
select sum(qty order by id), min(qty order by price desc), count(* ) from sale;
--: sum bigint | min integer | count bigint
--> 32 | 1 | 8
select upper(distinct 'a');
--> ERROR 42809: DISTINCT specified, but upper is not an aggregate function [POSITION: 8]
select upper('a' order by 1);
--> ERROR 42809: ORDER BY specified, but upper is not an aggregate function [POSITION: 8]

-- ## Statistics of pairs

-- each f: corr | covar_pop | covar_samp | regr_avgx | regr_avgy | regr_count | regr_intercept | regr_r2 | regr_slope | regr_sxx | regr_sxy | regr_syy
-- each where: true | shop = 'north' | id = 1 | false
select round({f}(price, qty)::numeric, 10) from sale where {where};
--: round numeric
--> corr, true => -0.2029333159
--> corr, shop = 'north' => -0.8293962197
--> corr, id = 1 => ∅
--> corr, false => ∅
--> covar_pop, true => -0.4938775510
--> covar_pop, shop = 'north' => -0.8000000000
--> covar_pop, id = 1 => 0.0000000000
--> covar_pop, false => ∅
--> covar_samp, true => -0.5761904762
--> covar_samp, shop = 'north' => -1.2000000000
--> covar_samp, id = 1 => ∅
--> covar_samp, false => ∅
--> regr_avgx, true => 4.5714285714
--> regr_avgx, shop = 'north' => 3.0000000000
--> regr_avgx, id = 1 => 3.0000000000
--> regr_avgx, false => ∅
--> regr_avgy, true => 1.7142857143
--> regr_avgy, shop = 'north' => 1.6666666667
--> regr_avgy, id = 1 => 1.2000000000
--> regr_avgy, false => ∅
--> regr_count, true => 7.0000000000
--> regr_count, shop = 'north' => 3.0000000000
--> regr_count, id = 1 => 1.0000000000
--> regr_count, false => 0.0000000000
--> regr_intercept, true => 1.9881188119
--> regr_intercept, shop = 'north' => 2.5666666667
--> regr_intercept, id = 1 => ∅
--> regr_intercept, false => ∅
--> regr_r2, true => 0.0411819307
--> regr_r2, shop = 'north' => 0.6878980892
--> regr_r2, id = 1 => ∅
--> regr_r2, false => ∅
--> regr_slope, true => -0.0599009901
--> regr_slope, shop = 'north' => -0.3000000000
--> regr_slope, id = 1 => ∅
--> regr_slope, false => ∅
--> regr_sxx, true => 57.7142857143
--> regr_sxx, shop = 'north' => 8.0000000000
--> regr_sxx, id = 1 => 0.0000000000
--> regr_sxx, false => ∅
--> regr_sxy, true => -3.4571428571
--> regr_sxy, shop = 'north' => -2.4000000000
--> regr_sxy, id = 1 => 0.0000000000
--> regr_sxy, false => ∅
--> regr_syy, true => 5.0285714286
--> regr_syy, shop = 'north' => 1.0466666667
--> regr_syy, id = 1 => 0.0000000000
--> regr_syy, false => ∅

-- ## Ordered sets

-- each f: percentile_cont(0.5) | percentile_disc(0.5) | percentile_cont(0.25) | percentile_disc(0) | percentile_disc(1) | percentile_cont(array[0.25, 0.5, 0.75]) | percentile_disc(array[0, 0.5, 1, null]) | mode() | percentile_cont(null)
select {f} within group (order by qty), {f} within group (order by qty desc) from sale;
--: percentile_cont double precision | percentile_cont double precision
--> percentile_cont(0.5) => 4 | 4
--: percentile_disc integer | percentile_disc integer
--> percentile_disc(0.5) => 4 | 4
--: percentile_cont double precision | percentile_cont double precision
--> percentile_cont(0.25) => 2.5 | 6
--: percentile_disc integer | percentile_disc integer
--> percentile_disc(0) => 1 | 10
--> percentile_disc(1) => 10 | 1
--: percentile_cont double precision[] | percentile_cont double precision[]
--> percentile_cont(array[0.25, 0.5, 0.75]) => {2.5,4,6} | {6,4,2.5}
--: percentile_disc integer[] | percentile_disc integer[]
--> percentile_disc(array[0, 0.5, 1, null]) => {1,4,10,NULL} | {10,4,1,NULL}
--: mode integer | mode integer
--> mode() => 1 | 10
--: percentile_cont double precision | percentile_cont double precision
--> percentile_cont(null) => ∅ | ∅
select percentile_cont(0.5) within group (order by price), percentile_disc(0.5) within group (order by item), percentile_cont(0.5) within group (order by (qty || ' days')::interval), mode() within group (order by shop) from sale;
--: percentile_cont double precision | percentile_disc text | percentile_cont interval | mode text
--> 1.3 | fig | 4 days | north
select shop, percentile_cont(0.5) within group (order by qty) filter (where paid) from sale group by shop order by shop;
--: shop text | percentile_cont double precision
--> east | 4.5
--> north | 4
--> south | 10
--> ∅ | ∅
select percentile_cont(1.5) within group (order by qty) from sale;
--> ERROR 22003: percentile value 1.5 is not between 0 and 1
select percentile_cont(0.5) from sale;
--> ERROR 42883: function percentile_cont(numeric) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select sum(qty) within group (order by qty) from sale;
--> ERROR 42883: function sum(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select percentile_cont(qty) within group (order by qty) from sale;
--> ERROR 42803: column "sale.qty" must appear in the GROUP BY clause or be used in an aggregate function [DETAIL: Direct arguments of an ordered-set aggregate must use only grouped columns.] [POSITION: 24]
-- each f: rank | dense_rank | percent_rank | cume_dist
-- each x: 3 | 0 | 100 | null
select {f}({x}) within group (order by qty), {f}({x}) within group (order by qty desc nulls last) from sale;
--: rank bigint | rank bigint
--> rank, 3 => 3 | 5
--> rank, 0 => 1 | 8
--> rank, 100 => 8 | 1
--> rank, null => 8 | 8
--: dense_rank bigint | dense_rank bigint
--> dense_rank, 3 => 3 | 5
--> dense_rank, 0 => 1 | 8
--> dense_rank, 100 => 8 | 1
--> dense_rank, null => 8 | 8
--: percent_rank double precision | percent_rank double precision
--> percent_rank, 3 => 0.25 | 0.5
--> percent_rank, 0 => 0 | 0.875
--> percent_rank, 100 => 0.875 | 0
--> percent_rank, null => 0.875 | 0.875
--: cume_dist double precision | cume_dist double precision
--> cume_dist, 3 => 0.4444444444444444 | 0.6666666666666666
--> cume_dist, 0 => 0.1111111111111111 | 0.8888888888888888
--> cume_dist, 100 => 0.8888888888888888 | 0.1111111111111111
--> cume_dist, null => 1 | 1
select rank(3, 'x') within group (order by qty, item) from sale;
--: rank bigint
--> 4
select rank(3) within group (order by qty, item) from sale;
--> ERROR 42883: function rank(integer, integer, text) does not exist [HINT: To use the hypothetical-set aggregate rank, the number of hypothetical direct arguments (here 1) must match the number of ordering columns (here 2).] [POSITION: 8]

-- ## GROUP BY and HAVING

select shop, count(*), sum(qty), avg(price), min(at), max(item) from sale group by shop order by shop;
--: shop text | count bigint | sum bigint | avg numeric | min date | max text
--> east | 2 | 9 | 2.7000000000000000 | 2024-02-02 | pear
--> north | 3 | 9 | 1.6666666666666667 | 2024-01-05 | pear
--> south | 2 | 10 | 1.10000000000000000000 | 2024-01-06 | fig
--> ∅ | 1 | 4 | 0.50000000000000000000 | 2024-03-02 | plum
select shop, item, sum(qty * price) as total from sale group by shop, item having sum(qty * price) > 2 order by total desc;
--: shop text | item text | total numeric
--> east | ∅ | 21.00
--> south | apple | 11.00
--> north | apple | 10.10
--> east | pear | 4.80
--> north | pear | 2.50
select shop as place, count(*) from sale group by place order by 2 desc, 1;
--: place text | count bigint
--> north | 3
--> east | 2
--> south | 2
--> ∅ | 1
select shop, count(*) from sale group by 1 having count(*) > 1 order by 1;
--: shop text | count bigint
--> east | 2
--> north | 3
--> south | 2
select upper(shop), count(*) from sale group by upper(shop) order by 1;
--: upper text | count bigint
--> EAST | 2
--> NORTH | 3
--> SOUTH | 2
--> ∅ | 1
select date_trunc('month', at)::date, count(*) from sale group by 1 order by 1;
--: date_trunc date | count bigint
--> 2024-01-01 | 3
--> 2024-02-01 | 2
--> 2024-03-01 | 2
--> ∅ | 1
select paid, paid is null, count(*) from sale group by paid, paid is null order by 1;
--: paid boolean | ?column? boolean | count bigint
--> f | f | 2
--> t | f | 5
--> ∅ | t | 1
select s.*, count(*) from sale s group by s.id order by id limit 2;
--: id integer | shop text | item text | qty integer | price numeric(524294) | at date | paid boolean | note text | count bigint
--> 1 | north | apple | 3 | 1.20 | 2024-01-05 | t | a | 1
--> 2 | north | pear | 1 | 2.50 | 2024-01-06 | f | ∅ | 1
select qty > 3 as many, array_agg(id order by id) from sale group by many order by many;
--: many boolean | array_agg integer[]
--> f | {1,2,5}
--> t | {3,6,7,8}
--> ∅ | {4}
select count(*) from sale having count(*) > 100;
--: count bigint
select 1 from sale having true;
--: ?column? integer
--> 1
select max(qty) - min(qty) as spread from sale group by shop having min(qty) is not null order by spread;
--: spread integer
--> 0
--> 0
--> 4
--> 5
select sum(count(*)) over (), shop from sale group by shop order by shop;
--: sum numeric | shop text
--> 8 | east
--> 8 | north
--> 8 | south
--> 8 | ∅
select shop from sale group by shop having shop like 'n%';
--: shop text
--> north
select count(*) from (select 1 from sale group by shop, paid) t;
--: count bigint
--> 6
select case when shop is null then 'none' else shop end as s, sum(qty) from sale group by s order by s;
--: s text | sum bigint
--> east | 9
--> none | 4
--> north | 9
--> south | 10
select shop, (select max(s2.qty) from sale s2 where s2.shop = s.shop) from sale s group by shop order by shop;
--: shop text | max integer
--> east | 7
--> north | 5
--> south | 10
--> ∅ | ∅
select sum(qty) + (select 1), (select sum(qty)) from sale;
--: ?column? bigint | sum bigint
--> 33 | 32
select (select sum(s.qty) from (values (1)) v) from sale s;
--: sum bigint
--> 32
select (select count(*) from sale b where b.qty > avg(a.qty)) from sale a group by a.shop order by 1;
--: count bigint
--> 0
--> 3
--> 3
--> 4

-- ## Mistakes

select shop, count(*) from sale;
--> ERROR 42803: column "sale.shop" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select shop, sum(qty) from sale group by item;
--> ERROR 42803: column "sale.shop" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select sum(sum(qty)) from sale;
--> ERROR 42803: aggregate function calls cannot be nested [POSITION: 12]
select count(*) from sale where count(*) > 1;
--> ERROR 42803: aggregate functions are not allowed in WHERE [POSITION: 33]
select count(*) from sale group by count(*);
--> ERROR 42803: aggregate functions are not allowed in GROUP BY [POSITION: 36]
select id from sale group by shop;
--> ERROR 42803: column "sale.id" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select shop from sale having count(*) > 1;
--> ERROR 42803: column "sale.shop" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select shop from sale group by 3;
--> ERROR 42P10: GROUP BY position 3 is not in select list [POSITION: 32]
select shop from sale group by 'x';
--> ERROR 42601: non-integer constant in GROUP BY [POSITION: 32]
select shop from sale group by 1.5;
--> ERROR 42601: non-integer constant in GROUP BY [POSITION: 32]
select shop from sale order by count(*);
--> ERROR 42803: column "sale.shop" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select count(*) as c from sale having c > 1;
--> ERROR 42703: column "c" does not exist [POSITION: 39]
select * from sale group by shop;
--> ERROR 42803: column "sale.id" must appear in the GROUP BY clause or be used in an aggregate function [POSITION: 8]
select s.shop from sale group by shop;
--> ERROR 42P01: missing FROM-clause entry for table "s" [POSITION: 8]
update sale set qty = sum(qty);
--> ERROR 42803: aggregate functions are not allowed in UPDATE [POSITION: 23]
insert into sale (id) values (count(*));
--> ERROR 42803: aggregate functions are not allowed in VALUES [POSITION: 31]
select 1 from sale a join sale b on count(*) = 1;
--> ERROR 42803: aggregate functions are not allowed in JOIN conditions [POSITION: 37]
select generate_series(1, 2), sum(qty) from sale;
--: generate_series integer | sum bigint
--> 1 | 32
--> 2 | 32
select sum(generate_series(1, 2));
--> ERROR 0A000: aggregate function calls cannot contain set-returning function calls [HINT: You might be able to move the set-returning function into a LATERAL FROM item.] [POSITION: 12]

-- ## JSON and others

select json_agg(item order by id), jsonb_object_agg(id, qty), json_object_agg(id, item order by id desc) from sale where id < 4;
--: json_agg json | jsonb_object_agg jsonb | json_object_agg json
--> ["apple", "pear", "apple"] | {"1": 3, "2": 1, "3": 10} | { "3" : "apple", "2" : "pear", "1" : "apple" }
select max(x), min(x), sum(x), avg(x) from (values ('NaN'::float8), (1), ('Infinity')) v (x);
--: max double precision | min double precision | sum double precision | avg double precision
--> NaN | 1 | NaN | NaN
select sum(x), avg(x) from (values (9223372036854775807), (1)) v (x);
--: sum numeric | avg numeric
--> 9223372036854775808 | 4611686018427387904
select sum(x::int8), avg(x) from (values (2147483647), (2147483647)) v (x);
--: sum numeric | avg numeric
--> 4294967294 | 2147483647.00000000
select sum(x) from (values (1e308::float8), (1e308)) v (x);
--> ERROR 22003: value out of range: overflow
select avg(x), sum(x), stddev(x) from (values (1.0000000001), (1.0000000002)) v (x);
--: avg numeric | sum numeric | stddev numeric
--> 1.00000000015000000000 | 2.0000000003 | 0.0000000000707106781186547524400844362105
select variance(x), stddev_pop(x) from (values (1e10::float8), (1e10 + 1)) v (x);
--: variance double precision | stddev_pop double precision
--> 0.5 | 0.5
select range_agg(1);
--> ERROR 42883: function range_agg(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select xmlagg('a');
--: xmlagg xml
--> a
select shop, grouping(shop) from sale group by shop order by 1;
--: shop text | grouping integer
--> east | 0
--> north | 0
--> south | 0
--> ∅ | 0
drop table sale;

-- # Intervals: sections 8.5.4, 8.5.5 and 9.9

-- ## Reading

-- each x: '1-2' | '3 4:05:06' | '1 year 2 months 3 days 4 hours 5 minutes 6 seconds' | 'P1Y2M3DT4H5M6S' | 'P0001-02-03T04:05:06' | '1.5 months' | '1.5 years' | '1.5 weeks' | '1.5 days' | '2.5 hours' | '-1 day +2 hours' | '1 day ago' | '1 year -2 days ago' | '90 minutes' | '100 hours' | '36:00' | '00:00:00.0000004' | '@ 1 minute' | '1 mon' | '2 decades' | '1 century' | '1 millennium' | '5' | '5.5' | '-5' | '1w' | '3d4h' | '1 day 1 day' | '' | 'abc' | '1 foo' | 'P1.5Y' | 'PT1.5S' | '-P1Y' | 'P-1Y' | 'infinity' | '1:2:3.4' | '1 12:00' | '-1-2 +3 -4:05:06' | '12:30:' | '999999999999 years' | '1 second 2000000 microseconds' | '1 h 1 min 1 sec 1 ms 1 us'
select {x}::interval;
--: interval interval
--> '1-2' => 1 year 2 mons
--> '3 4:05:06' => 3 days 04:05:06
--> '1 year 2 months 3 days 4 hours 5 minutes 6 seconds' => 1 year 2 mons 3 days 04:05:06
--> 'P1Y2M3DT4H5M6S' => 1 year 2 mons 3 days 04:05:06
--> 'P0001-02-03T04:05:06' => 1 year 2 mons 3 days 04:05:06
--> '1.5 months' => 1 mon 15 days
--> '1.5 years' => 1 year 6 mons
--> '1.5 weeks' => 10 days 12:00:00
--> '1.5 days' => 1 day 12:00:00
--> '2.5 hours' => 02:30:00
--> '-1 day +2 hours' => -1 days +02:00:00
--> '1 day ago' => -1 days
--> '1 year -2 days ago' => -1 years +2 days
--> '90 minutes' => 01:30:00
--> '100 hours' => 100:00:00
--> '36:00' => 36:00:00
--> '00:00:00.0000004' => 00:00:00
--> '@ 1 minute' => 00:01:00
--> '1 mon' => 1 mon
--> '2 decades' => 20 years
--> '1 century' => 100 years
--> '1 millennium' => 1000 years
--> '5' => 00:00:05
--> '5.5' => 00:00:05.5
--> '-5' => -00:00:05
--> '1w' => 7 days
--> '3d4h' => 3 days 04:00:00
--> '1 day 1 day' => ERROR 22007: invalid input syntax for type interval: "1 day 1 day" [POSITION: 8]
--> '' => ERROR 22007: invalid input syntax for type interval: "" [POSITION: 8]
--> 'abc' => ERROR 22007: invalid input syntax for type interval: "abc" [POSITION: 8]
--> '1 foo' => ERROR 22007: invalid input syntax for type interval: "1 foo" [POSITION: 8]
--> 'P1.5Y' => 1 year 6 mons
--> 'PT1.5S' => 00:00:01.5
--> '-P1Y' => ERROR 22007: invalid input syntax for type interval: "-P1Y" [POSITION: 8]
--> 'P-1Y' => -1 years
--> 'infinity' => ERROR 22007: invalid input syntax for type interval: "infinity" [POSITION: 8]
--> '1:2:3.4' => 01:02:03.4
--> '1 12:00' => 1 day 12:00:00
--> '-1-2 +3 -4:05:06' => -1 years -2 mons +3 days -04:05:06
--> '12:30:' => 12:30:00
--> '999999999999 years' => ERROR 22015: interval field value out of range: "999999999999 years" [POSITION: 8]
--> '1 second 2000000 microseconds' => 00:00:03
--> '1 h 1 min 1 sec 1 ms 1 us' => 01:01:01.001001

-- each q: year | month | day | hour | minute | second | year to month | day to hour | day to minute | day to second | hour to minute | hour to second | minute to second | second(2)
-- each x: '5' | '1-2' | '3 4:05:06.789'
select interval {x} {q};
--: interval interval(327679)
--> year, '5' => 5 years
--> year, '1-2' => 1 year
--> year, '3 4:05:06.789' => 00:00:00
--: interval interval(196607)
--> month, '5' => 5 mons
--> month, '1-2' => 1 year 2 mons
--> month, '3 4:05:06.789' => 00:00:00
--: interval interval(589823)
--> day, '5' => 5 days
--> day, '1-2' => 1 year 2 mons
--> day, '3 4:05:06.789' => 3 days
--: interval interval(67174399)
--> hour, '5' => 05:00:00
--> hour, '1-2' => 1 year 2 mons
--> hour, '3 4:05:06.789' => 3 days 04:00:00
--: interval interval(134283263)
--> minute, '5' => 00:05:00
--> minute, '1-2' => 1 year 2 mons
--> minute, '3 4:05:06.789' => 3 days 04:05:00
--: interval interval(268500991)
--> second, '5' => 00:00:05
--> second, '1-2' => 1 year 2 mons
--> second, '3 4:05:06.789' => 3 days 04:05:06.789
--: interval interval(458751)
--> year to month, '5' => 5 mons
--> year to month, '1-2' => 1 year 2 mons
--> year to month, '3 4:05:06.789' => 00:00:00
--: interval interval(67698687)
--> day to hour, '5' => 05:00:00
--> day to hour, '1-2' => 1 year 2 mons
--> day to hour, '3 4:05:06.789' => 3 days 04:00:00
--: interval interval(201916415)
--> day to minute, '5' => 00:05:00
--> day to minute, '1-2' => 1 year 2 mons
--> day to minute, '3 4:05:06.789' => 3 days 04:05:00
--: interval interval(470351871)
--> day to second, '5' => 00:00:05
--> day to second, '1-2' => 1 year 2 mons
--> day to second, '3 4:05:06.789' => 3 days 04:05:06.789
--: interval interval(201392127)
--> hour to minute, '5' => 00:05:00
--> hour to minute, '1-2' => 1 year 2 mons
--> hour to minute, '3 4:05:06.789' => 3 days 04:05:00
--: interval interval(469827583)
--> hour to second, '5' => 00:00:05
--> hour to second, '1-2' => 1 year 2 mons
--> hour to second, '3 4:05:06.789' => 3 days 04:05:06.789
--: interval interval(402718719)
--> minute to second, '5' => 00:00:05
--> minute to second, '1-2' => 1 year 2 mons
--> minute to second, '3 4:05:06.789' => 3 days 04:05:06.789
--: interval interval(268435458)
--> second(2), '5' => 00:00:05
--> second(2), '1-2' => 1 year 2 mons
--> second(2), '3 4:05:06.789' => 3 days 04:05:06.79
-- each p: 0 | 2 | 6
select interval({p}) '1 day 00:00:01.23456789', '00:00:01.999999'::interval({p});
--: interval interval(2147418112) | interval interval(2147418112)
--> 0 => 1 day 00:00:01 | 00:00:02
--: interval interval(2147418114) | interval interval(2147418114)
--> 2 => 1 day 00:00:01.23 | 00:00:02
--: interval interval(2147418118) | interval interval(2147418118)
--> 6 => 1 day 00:00:01.234568 | 00:00:01.999999

-- ## Showing

-- each style: 'postgres' | 'postgres_verbose' | 'sql_standard' | 'iso_8601'
set intervalstyle = {style};
--> 'postgres' =>
--> 'postgres_verbose' =>
--> 'sql_standard' =>
--> 'iso_8601' =>
-- each style: postgres | postgres_verbose | sql_standard | iso_8601
-- each x: '0' | '1 year 2 months' | '-1 year -2 months' | '1 day' | '2 days 03:04:05.006' | '-2 days -03:04:05' | '1 year -2 days +03:04:05' | '00:00:00.5' | '-00:00:00.5' | '1 year 2 months 3 days 04:05:06' | '100:00:00' | '-1 days'
set intervalstyle = {style}; select interval {x};
--: interval interval
--> postgres, '0' => 00:00:00
--> postgres, '1 year 2 months' => 1 year 2 mons
--> postgres, '-1 year -2 months' => -1 years -2 mons
--> postgres, '1 day' => 1 day
--> postgres, '2 days 03:04:05.006' => 2 days 03:04:05.006
--> postgres, '-2 days -03:04:05' => -2 days -03:04:05
--> postgres, '1 year -2 days +03:04:05' => 1 year -2 days +03:04:05
--> postgres, '00:00:00.5' => 00:00:00.5
--> postgres, '-00:00:00.5' => -00:00:00.5
--> postgres, '1 year 2 months 3 days 04:05:06' => 1 year 2 mons 3 days 04:05:06
--> postgres, '100:00:00' => 100:00:00
--> postgres, '-1 days' => -1 days
--> postgres_verbose, '0' => @ 0
--> postgres_verbose, '1 year 2 months' => @ 1 year 2 mons
--> postgres_verbose, '-1 year -2 months' => @ 1 year 2 mons ago
--> postgres_verbose, '1 day' => @ 1 day
--> postgres_verbose, '2 days 03:04:05.006' => @ 2 days 3 hours 4 mins 5.006 secs
--> postgres_verbose, '-2 days -03:04:05' => @ 2 days 3 hours 4 mins 5 secs ago
--> postgres_verbose, '1 year -2 days +03:04:05' => @ 1 year -2 days 3 hours 4 mins 5 secs
--> postgres_verbose, '00:00:00.5' => @ 0.5 secs
--> postgres_verbose, '-00:00:00.5' => @ 0.5 secs ago
--> postgres_verbose, '1 year 2 months 3 days 04:05:06' => @ 1 year 2 mons 3 days 4 hours 5 mins 6 secs
--> postgres_verbose, '100:00:00' => @ 100 hours
--> postgres_verbose, '-1 days' => @ 1 day ago
--> sql_standard, '0' => 0
--> sql_standard, '1 year 2 months' => 1-2
--> sql_standard, '-1 year -2 months' => -1-2
--> sql_standard, '1 day' => 1 0:00:00
--> sql_standard, '2 days 03:04:05.006' => 2 3:04:05.006
--> sql_standard, '-2 days -03:04:05' => -2 3:04:05
--> sql_standard, '1 year -2 days +03:04:05' => +1-0 -2 +3:04:05
--> sql_standard, '00:00:00.5' => 0:00:00.5
--> sql_standard, '-00:00:00.5' => -0:00:00.5
--> sql_standard, '1 year 2 months 3 days 04:05:06' => +1-2 +3 +4:05:06
--> sql_standard, '100:00:00' => 100:00:00
--> sql_standard, '-1 days' => -1 0:00:00
--> iso_8601, '0' => PT0S
--> iso_8601, '1 year 2 months' => P1Y2M
--> iso_8601, '-1 year -2 months' => P-1Y-2M
--> iso_8601, '1 day' => P1D
--> iso_8601, '2 days 03:04:05.006' => P2DT3H4M5.006S
--> iso_8601, '-2 days -03:04:05' => P-2DT-3H-4M-5S
--> iso_8601, '1 year -2 days +03:04:05' => P1Y-2DT3H4M5S
--> iso_8601, '00:00:00.5' => PT0.5S
--> iso_8601, '-00:00:00.5' => PT-0.5S
--> iso_8601, '1 year 2 months 3 days 04:05:06' => P1Y2M3DT4H5M6S
--> iso_8601, '100:00:00' => PT100H
--> iso_8601, '-1 days' => P-1D
set intervalstyle = postgres;

-- ## Comparing: a month counts 30 days, a day 24 hours

-- each a: '1 month' | '30 days' | '24 hours' | '-1 day' | '1 year' | '365 days'
-- each b: '30 days' | '1 day' | '720 hours' | '12 months'
select interval {a} = {b}, interval {a} < {b}, interval {a} > {b}, interval {a} <> {b};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> '1 month', '30 days' => t | f | f | f
--> '1 month', '1 day' => f | f | t | t
--> '1 month', '720 hours' => t | f | f | f
--> '1 month', '12 months' => f | t | f | t
--> '30 days', '30 days' => t | f | f | f
--> '30 days', '1 day' => f | f | t | t
--> '30 days', '720 hours' => t | f | f | f
--> '30 days', '12 months' => f | t | f | t
--> '24 hours', '30 days' => f | t | f | t
--> '24 hours', '1 day' => t | f | f | f
--> '24 hours', '720 hours' => f | t | f | t
--> '24 hours', '12 months' => f | t | f | t
--> '-1 day', '30 days' => f | t | f | t
--> '-1 day', '1 day' => f | t | f | t
--> '-1 day', '720 hours' => f | t | f | t
--> '-1 day', '12 months' => f | t | f | t
--> '1 year', '30 days' => f | f | t | t
--> '1 year', '1 day' => f | f | t | t
--> '1 year', '720 hours' => f | f | t | t
--> '1 year', '12 months' => t | f | f | f
--> '365 days', '30 days' => f | f | t | t
--> '365 days', '1 day' => f | f | t | t
--> '365 days', '720 hours' => f | f | t | t
--> '365 days', '12 months' => f | f | t | t

-- ## Arithmetic

-- each x: '1 month 15 days' | '2 days 03:00' | '-1 day' | '1 year' | '00:00:01'
-- each n: 2 | 0.5 | -1.5 | 3.3333 | 0.1
select interval {x} * {n}, {n} * interval {x}, interval {x} / {n};
--: ?column? interval | ?column? interval | ?column? interval
--> '1 month 15 days', 2 => 2 mons 30 days | 2 mons 30 days | 22 days 12:00:00
--> '1 month 15 days', 0.5 => 22 days 12:00:00 | 22 days 12:00:00 | 2 mons 30 days
--> '1 month 15 days', -1.5 => -1 mons -37 days -12:00:00 | -1 mons -37 days -12:00:00 | -30 days
--> '1 month 15 days', 3.3333 => 3 mons 59 days 23:57:50.4 | 3 mons 59 days 23:57:50.4 | 13 days 12:00:11.664039
--> '1 month 15 days', 0.1 => 4 days 12:00:00 | 4 days 12:00:00 | 10 mons 150 days
--> '2 days 03:00', 2 => 4 days 06:00:00 | 4 days 06:00:00 | 1 day 01:30:00
--> '2 days 03:00', 0.5 => 1 day 01:30:00 | 1 day 01:30:00 | 4 days 06:00:00
--> '2 days 03:00', -1.5 => -3 days -04:30:00 | -3 days -04:30:00 | -1 days -10:00:00
--> '2 days 03:00', 3.3333 => 6 days 25:59:53.88 | 6 days 25:59:53.88 | 15:18:00.550805
--> '2 days 03:00', 0.1 => 05:06:00 | 05:06:00 | 20 days 30:00:00
--> '-1 day', 2 => -2 days | -2 days | -12:00:00
--> '-1 day', 0.5 => -12:00:00 | -12:00:00 | -2 days
--> '-1 day', -1.5 => 1 day 12:00:00 | 1 day 12:00:00 | 16:00:00
--> '-1 day', 3.3333 => -3 days -07:59:57.12 | -3 days -07:59:57.12 | -07:12:00.259203
--> '-1 day', 0.1 => -02:24:00 | -02:24:00 | -10 days
--> '1 year', 2 => 2 years | 2 years | 6 mons
--> '1 year', 0.5 => 6 mons | 6 mons | 2 years
--> '1 year', -1.5 => -1 years -6 mons | -1 years -6 mons | -8 mons
--> '1 year', 3.3333 => 3 years 3 mons 29 days 23:42:43.2 | 3 years 3 mons 29 days 23:42:43.2 | 3 mons 18 days 00:01:33.312
--> '1 year', 0.1 => 1 mon 6 days | 1 mon 6 days | 10 years
--> '00:00:01', 2 => 00:00:02 | 00:00:02 | 00:00:00.5
--> '00:00:01', 0.5 => 00:00:00.5 | 00:00:00.5 | 00:00:02
--> '00:00:01', -1.5 => -00:00:01.5 | -00:00:01.5 | -00:00:00.666667
--> '00:00:01', 3.3333 => 00:00:03.3333 | 00:00:03.3333 | 00:00:00.300003
--> '00:00:01', 0.1 => 00:00:00.1 | 00:00:00.1 | 00:00:10
-- each a ~ b: '1 month' ~ '1 day' | '3 days' ~ '-25 hours' | '1 year 1 month' ~ '13 months'
select interval {a} + interval {b}, interval {a} - interval {b}, - interval {a}, greatest(interval {a}, {b}), least(interval {a}, {b});
--: ?column? interval | ?column? interval | ?column? interval | greatest interval | least interval
--> '1 month', '1 day' => 1 mon 1 day | 1 mon -1 days | -1 mons | 1 mon | 1 day
--> '3 days', '-25 hours' => 3 days -25:00:00 | 3 days 25:00:00 | -3 days | 3 days | -25:00:00
--> '1 year 1 month', '13 months' => 2 years 2 mons | 00:00:00 | -1 years -1 mons | 1 year 1 mon | 1 year 1 mon

-- each x: '65 days' | '35 days 27 hours' | '-35 days' | '1 month -1 hour' | '5 days 30:00' | '30 days -1 hour' | '1 month -30 days'
select justify_days(interval {x}), justify_hours(interval {x}), justify_interval(interval {x});
--: justify_days interval | justify_hours interval | justify_interval interval
--> '65 days' => 2 mons 5 days | 65 days | 2 mons 5 days
--> '35 days 27 hours' => 1 mon 5 days 27:00:00 | 36 days 03:00:00 | 1 mon 6 days 03:00:00
--> '-35 days' => -1 mons -5 days | -35 days | -1 mons -5 days
--> '1 month -1 hour' => 1 mon -01:00:00 | 1 mon -01:00:00 | 29 days 23:00:00
--> '5 days 30:00' => 5 days 30:00:00 | 6 days 06:00:00 | 6 days 06:00:00
--> '30 days -1 hour' => 1 mon -01:00:00 | 29 days 23:00:00 | 29 days 23:00:00
--> '1 month -30 days' => 00:00:00 | 1 mon -30 days | 00:00:00

select make_interval(), make_interval(1), make_interval(1, 2, 3, 4, 5, 6, 7.5), make_interval(days => 10), make_interval(secs => -1.25), make_interval(weeks => 2, hours => 3);
--: make_interval interval | make_interval interval | make_interval interval | make_interval interval | make_interval interval | make_interval interval
--> 00:00:00 | 1 year | 1 year 2 mons 25 days 05:06:07.5 | 10 days | -00:00:01.25 | 14 days 03:00:00
select sum(x), avg(x), min(x), max(x), count(x) from (values (interval '1 day'), ('2 hours'), (null), ('1 month')) v (x);
--: sum interval | avg interval | min interval | max interval | count bigint
--> 1 mon 1 day 02:00:00 | 10 days 08:40:00 | 02:00:00 | 1 mon | 3
select sum(x) over (order by n), avg(x) over (order by n rows 1 preceding) from (values (1, interval '1 day'), (2, '2 hours'), (3, '1 month')) v (n, x);
--: sum interval | avg interval
--> 1 day | 1 day
--> 1 day 02:00:00 | 13:00:00
--> 1 mon 1 day 02:00:00 | 15 days 01:00:00
select x from (values (interval '1 day'), ('25 hours'), ('1 month'), ('29 days'), ('-1 hour')) v (x) order by x;
--: x interval
--> -01:00:00
--> 1 day
--> 25:00:00
--> 29 days
--> 1 mon
select distinct x from (values (interval '1 day'), ('24 hours'), ('1 month'), ('30 days')) v (x) order by 1;
--: x interval
--> 1 day
--> 1 mon
select extract(epoch from interval '1 year 2 months 3 days 04:05:06.789'), extract(epoch from interval '-1 month'), to_char(interval '15h 2m 12s', 'HH24:MI:SS'), interval '1 day'::time, '1 day 02:00'::interval::time, time '01:02'::interval;
--: extract numeric | extract numeric | to_char text | time time without time zone | time time without time zone | interval interval
--> 37015506.789000 | -2592000.000000 | 15:02:12 | 00:00:00 | 02:00:00 | 01:02:00
select interval '1 day' + null, null * interval '1 day';
--: ?column? interval | ?column? interval
--> ∅ | ∅
select interval '1 day' * interval '1 day';
--> ERROR 42883: operator does not exist: interval * interval [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 25]
select interval '1 day' + 1;
--> ERROR 42883: operator does not exist: interval + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 25]

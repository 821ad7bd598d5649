-- # Arrays: sections 4.2.12, 8.15 and 9.19

-- ## Reading and writing

-- each x: '{1,2,3}' | '{}' | '{{1,2},{3,4}}' | '{NULL,1}' | '{null}' | '[0:2]={1,2,3}' | '[-1:0][2:3]={{1,2},{3,4}}' | ' { 1 , 2 } ' | '{1,2' | '1,2}' | '{{1,2},{3}}' | '{1,,2}' | '{a}' | '{{}}' | '[1:3]={1,2}' | '{1}x' | '' | '{{1},2}' | '{99999999999}' | '[2:1]={}'
select {x}::int[];
--: int4 integer[]
--> '{1,2,3}' => {1,2,3}
--> '{}' => {}
--> '{{1,2},{3,4}}' => {{1,2},{3,4}}
--> '{NULL,1}' => {NULL,1}
--> '{null}' => {NULL}
--> '[0:2]={1,2,3}' => [0:2]={1,2,3}
--> '[-1:0][2:3]={{1,2},{3,4}}' => [-1:0][2:3]={{1,2},{3,4}}
--> ' { 1 , 2 } ' => {1,2}
--> '{1,2' => ERROR 22P02: malformed array literal: "{1,2" [DETAIL: Unexpected end of input.] [POSITION: 8]
--> '1,2}' => ERROR 22P02: malformed array literal: "1,2}" [DETAIL: Array value must start with "{" or dimension information.] [POSITION: 8]
--> '{{1,2},{3}}' => ERROR 22P02: malformed array literal: "{{1,2},{3}}" [DETAIL: Multidimensional arrays must have sub-arrays with matching dimensions.] [POSITION: 8]
--> '{1,,2}' => ERROR 22P02: malformed array literal: "{1,,2}" [DETAIL: Unexpected "," character.] [POSITION: 8]
--> '{a}' => ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 8]
--> '{{}}' => ERROR 22P02: malformed array literal: "{{}}" [DETAIL: Unexpected "}" character.] [POSITION: 8]
--> '[1:3]={1,2}' => ERROR 22P02: malformed array literal: "[1:3]={1,2}" [DETAIL: Specified array dimensions do not match array contents.] [POSITION: 8]
--> '{1}x' => ERROR 22P02: malformed array literal: "{1}x" [DETAIL: Junk after closing right brace.] [POSITION: 8]
--> '' => ERROR 22P02: malformed array literal: "" [DETAIL: Array value must start with "{" or dimension information.] [POSITION: 8]
--> '{{1},2}' => ERROR 22P02: malformed array literal: "{{1},2}" [DETAIL: Unexpected array element.] [POSITION: 8]
--> '{99999999999}' => ERROR 22003: value "99999999999" is out of range for type integer [POSITION: 8]
--> '[2:1]={}' => ERROR 2202E: upper bound cannot be less than lower bound [POSITION: 8]
-- each x: '{a,b}' | '{"a b","c,d"}' | '{"a\"b"}' | '{a\,b}' | '{NULL,"NULL",null}' | '{""}' | '{ a , b c }' | '{"{}"}' | '{a"b"}' | E'{"a\\\\b"}' | '{"a' | '{é,日本}'
select {x}::text[];
--: text text[]
--> '{a,b}' => {a,b}
--> '{"a b","c,d"}' => {"a b","c,d"}
--> '{"a\"b"}' => {"a\"b"}
--> '{a\,b}' => {"a,b"}
--> '{NULL,"NULL",null}' => {NULL,"NULL",NULL}
--> '{""}' => {""}
--> '{ a , b c }' => {a,"b c"}
--> '{"{}"}' => {"{}"}
--> '{a"b"}' => ERROR 22P02: malformed array literal: "{a"b"}" [DETAIL: Unexpected array element.] [POSITION: 8]
--> E'{"a\\\\b"}' => {"a\\b"}
--> '{"a' => ERROR 22P02: malformed array literal: "{"a" [DETAIL: Unexpected end of input.] [POSITION: 8]
--> '{é,日本}' => {é,日本}
-- each x: array[1,2,3] | array['a','b c','','NULL',null,'a"b','c\d','{x}','a,b'] | array[1.5, 2] | array[true, false, null] | array[[1,2],[3,4]] | array[array[1], array[2]] | array[]::int[] | array[date '2024-01-01'] | array[1, 2.5, 3::int8] | array['a'::varchar, 'b'::text] | array[null] | array[1, null]::text[] | array[row(1,'a')] | array['{1}'::int[], '{2}'] | array[1::"char"] | array[interval '1 day', '2 hours']
select {x}, pg_typeof({x});
--: array integer[] | pg_typeof regtype
--> array[1,2,3] => {1,2,3} | integer[]
--: array text[] | pg_typeof regtype
--> array['a','b c','','NULL',null,'a"b','c\d','{x}','a,b'] => {a,"b c","","NULL",NULL,"a\"b","c\\d","{x}","a,b"} | text[]
--: array numeric[] | pg_typeof regtype
--> array[1.5, 2] => {1.5,2} | numeric[]
--: array boolean[] | pg_typeof regtype
--> array[true, false, null] => {t,f,NULL} | boolean[]
--: array integer[] | pg_typeof regtype
--> array[[1,2],[3,4]] => {{1,2},{3,4}} | integer[]
--> array[array[1], array[2]] => {{1},{2}} | integer[]
--> array[]::int[] => {} | integer[]
--: array date[] | pg_typeof regtype
--> array[date '2024-01-01'] => {2024-01-01} | date[]
--: array numeric[] | pg_typeof regtype
--> array[1, 2.5, 3::int8] => {1,2.5,3} | numeric[]
--: array character varying[] | pg_typeof regtype
--> array['a'::varchar, 'b'::text] => {a,b} | character varying[]
--: array text[] | pg_typeof regtype
--> array[null] => {NULL} | text[]
--> array[1, null]::text[] => {1,NULL} | text[]
--: array record[] | pg_typeof regtype
--> array[row(1,'a')] => {"(1,a)"} | record[]
--: array integer[] | pg_typeof regtype
--> array['{1}'::int[], '{2}'] => {{1},{2}} | integer[]
--: array "char"[] | pg_typeof regtype
--> array[1::"char"] => {} | "char"[]
--: array interval[] | pg_typeof regtype
--> array[interval '1 day', '2 hours'] => {"1 day",02:00:00} | interval[]
select array[];
--> ERROR 42P18: cannot determine type of empty array [HINT: Explicitly cast to the desired type, for example ARRAY[]::integer[].] [POSITION: 8]
select array[1, 'a'];
--> ERROR 22P02: invalid input syntax for type integer: "a" [POSITION: 17]
select array[[1,2],[3]];
--> ERROR 2202E: multidimensional arrays must have array expressions with matching dimensions
select array[1, true];
--> ERROR 42804: ARRAY types integer and boolean cannot be matched [POSITION: 17]
select array(select n from generate_series(1, 4) n where n > 1), array(select null::text), array(select 1 where false), array(select array[n, n * 2] from generate_series(1, 2) n);
--: array integer[] | array text[] | array integer[] | array integer[]
--> {2,3,4} | {NULL} | {} | {{1,2},{2,4}}
select array(select 1, 2);
--> ERROR 42601: subquery must return only one column [POSITION: 8]
-- each t: text[] | int8[] | numeric[] | varchar(1)[] | bool[] | int
select array[1,2,30]::{t};
--: array text[]
--> text[] => {1,2,30}
--: array bigint[]
--> int8[] => {1,2,30}
--: array numeric[]
--> numeric[] => {1,2,30}
--: array character varying[](5)
--> varchar(1)[] => {1,2,3}
--: array boolean[]
--> bool[] => {t,t,t}
--> int => ERROR 42846: cannot cast type integer[] to integer [POSITION: 21]
select '{1,2}'::int[]::text, array['1','2']::int[], array['x']::int[];
--> ERROR 22P02: invalid input syntax for type integer: "x" [POSITION: 59]

-- ## Subscripts and slices

-- each a: array[10,20,30] | '[0:2]={10,20,30}'::int[] | '{}'::int[] | null::int[]
-- each i: 1 | 0 | 4 | -1 | null
select ({a})[{i}];
--: array integer
--> array[10,20,30], 1 => 10
--> array[10,20,30], 0 => ∅
--> array[10,20,30], 4 => ∅
--> array[10,20,30], -1 => ∅
--> array[10,20,30], null => ∅
--: int4 integer
--> '[0:2]={10,20,30}'::int[], 1 => 20
--> '[0:2]={10,20,30}'::int[], 0 => 10
--> '[0:2]={10,20,30}'::int[], 4 => ∅
--> '[0:2]={10,20,30}'::int[], -1 => ∅
--> '[0:2]={10,20,30}'::int[], null => ∅
--> '{}'::int[], 1 => ∅
--> '{}'::int[], 0 => ∅
--> '{}'::int[], 4 => ∅
--> '{}'::int[], -1 => ∅
--> '{}'::int[], null => ∅
--> null::int[], 1 => ∅
--> null::int[], 0 => ∅
--> null::int[], 4 => ∅
--> null::int[], -1 => ∅
--> null::int[], null => ∅
-- each i: [1:2] | [2:] | [:2] | [:] | [0:9] | [3:2] | [5:6] | [null:2] | [2:2]
select (array[10,20,30]){i}, ('[0:2]={10,20,30}'::int[]){i};
--: array integer[] | int4 integer[]
--> [1:2] => {10,20} | {20,30}
--> [2:] => {20,30} | {30}
--> [:2] => {10,20} | {10,20,30}
--> [:] => {10,20,30} | {10,20,30}
--> [0:9] => {10,20,30} | {10,20,30}
--> [3:2] => {} | {}
--> [5:6] => {} | {}
--> [null:2] => ∅ | ∅
--> [2:2] => {20} | {30}
-- each i: [1][2] | [1] | [1:1][1:2] | [2:2] | [1:2][2:2] | [2][1:1] | [3][1] | [1][1][1] | [:][2:]
select (array[[1,2],[3,4]]){i};
--: array integer
--> [1][2] => 2
--> [1] => ∅
--: array integer[]
--> [1:1][1:2] => {{1,2}}
--> [2:2] => {{3,4}}
--> [1:2][2:2] => {{2},{4}}
--> [2][1:1] => {{1},{3}}
--: array integer
--> [3][1] => ∅
--> [1][1][1] => ∅
--: array integer[]
--> [:][2:] => {{2},{4}}
select (array['a','b'])[1 + 1], (array[1,2,3])['2'], (array[1,2,3])[1.6];
--: array text | array integer | array integer
--> b | 2 | 2
select (1)[1];
--> ERROR 42804: cannot subscript type integer because it does not support subscripting [POSITION: 9]

-- ## Operators

-- each a: array[1,2,3] | array[1,2] | '{}'::int[] | array[1,null] | null::int[] | array[[1,2],[3,4]]
-- each b: array[1,2,3] | array[3,1] | array[2] | '{}'::int[] | array[1,null]
select {a} = {b}, {a} <> {b}, {a} < {b}, {a} <= {b}, {a} > {b}, {a} >= {b}, {a} @> {b}, {a} <@ {b}, {a} && {b};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> array[1,2,3], array[1,2,3] => t | f | f | t | f | t | t | t | t
--> array[1,2,3], array[3,1] => f | t | t | t | f | f | t | f | t
--> array[1,2,3], array[2] => f | t | t | t | f | f | t | f | t
--> array[1,2,3], '{}'::int[] => f | t | f | f | t | t | t | f | f
--> array[1,2,3], array[1,null] => f | t | t | t | f | f | f | f | t
--> array[1,2], array[1,2,3] => f | t | t | t | f | f | f | t | t
--> array[1,2], array[3,1] => f | t | t | t | f | f | f | f | t
--> array[1,2], array[2] => f | t | t | t | f | f | t | f | t
--> array[1,2], '{}'::int[] => f | t | f | f | t | t | t | f | f
--> array[1,2], array[1,null] => f | t | t | t | f | f | f | f | t
--> '{}'::int[], array[1,2,3] => f | t | t | t | f | f | f | t | f
--> '{}'::int[], array[3,1] => f | t | t | t | f | f | f | t | f
--> '{}'::int[], array[2] => f | t | t | t | f | f | f | t | f
--> '{}'::int[], '{}'::int[] => t | f | f | t | f | t | t | t | f
--> '{}'::int[], array[1,null] => f | t | t | t | f | f | f | t | f
--> array[1,null], array[1,2,3] => f | t | f | f | t | t | f | f | t
--> array[1,null], array[3,1] => f | t | t | t | f | f | f | f | t
--> array[1,null], array[2] => f | t | t | t | f | f | f | f | f
--> array[1,null], '{}'::int[] => f | t | f | f | t | t | t | f | f
--> array[1,null], array[1,null] => t | f | f | t | f | t | f | f | t
--> null::int[], array[1,2,3] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null::int[], array[3,1] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null::int[], array[2] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null::int[], '{}'::int[] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null::int[], array[1,null] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> array[[1,2],[3,4]], array[1,2,3] => f | t | f | f | t | t | t | f | t
--> array[[1,2],[3,4]], array[3,1] => f | t | t | t | f | f | t | f | t
--> array[[1,2],[3,4]], array[2] => f | t | t | t | f | f | t | f | t
--> array[[1,2],[3,4]], '{}'::int[] => f | t | f | f | t | t | t | f | f
--> array[[1,2],[3,4]], array[1,null] => f | t | t | t | f | f | f | f | t
-- each a ~ b: array[1,2] ~ array[3,4] | array[1,2] ~ 3 | 3 ~ array[1,2] | array[1,2] ~ array[[3,4]] | array[[1,2]] ~ array[[3,4]] | '{}'::int[] ~ array[1] | array[1] ~ null::int[] | array[1] ~ null | array['a'] ~ 'b'::text | array[1,2] ~ array[2.5] | array['a'] ~ '{b}' | array[[1,2]] ~ array[[[1]]]
select {a} || {b};
--: ?column? integer[]
--> array[1,2], array[3,4] => {1,2,3,4}
--> array[1,2], 3 => {1,2,3}
--> 3, array[1,2] => {3,1,2}
--> array[1,2], array[[3,4]] => {{1,2},{3,4}}
--> array[[1,2]], array[[3,4]] => {{1,2},{3,4}}
--> '{}'::int[], array[1] => {1}
--> array[1], null::int[] => {1}
--> array[1], null => {1}
--: ?column? text[]
--> array['a'], 'b'::text => {a,b}
--: ?column? numeric[]
--> array[1,2], array[2.5] => {1,2,2.5}
--: ?column? text[]
--> array['a'], '{b}' => {a,b}
--> array[[1,2]], array[[[1]]] => ERROR 2202E: cannot concatenate incompatible arrays [DETAIL: Arrays with differing dimensions are not compatible for concatenation.]
select array[1] || 'x';
--> ERROR 22P02: malformed array literal: "x" [DETAIL: Array value must start with "{" or dimension information.] [POSITION: 20]
select array[1,2] = array['a'];
--> ERROR 42883: operator does not exist: integer[] = text[] [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 19]
select array[1,2] @> array[1.5];
--> ERROR 42883: operator does not exist: integer[] @> numeric[] [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 19]

-- ## Functions

-- each a: array[1,2,3] | array[[1,2,3],[4,5,6]] | '{}'::int[] | '[2:4]={1,2,3}'::int[] | null::int[]
select array_ndims({a}), array_dims({a}), array_length({a}, 1), array_length({a}, 2), array_length({a}, 0), array_lower({a}, 1), array_upper({a}, 1), cardinality({a});
--: array_ndims integer | array_dims text | array_length integer | array_length integer | array_length integer | array_lower integer | array_upper integer | cardinality integer
--> array[1,2,3] => 1 | [1:3] | 3 | ∅ | ∅ | 1 | 3 | 3
--> array[[1,2,3],[4,5,6]] => 2 | [1:2][1:3] | 2 | 3 | ∅ | 1 | 2 | 6
--> '{}'::int[] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | 0
--> '[2:4]={1,2,3}'::int[] => 1 | [2:4] | 3 | ∅ | ∅ | 2 | 4 | 3
--> null::int[] => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
-- each a: array[1,2,3] | '{}'::int[] | null::int[] | array[[1,2],[3,4]]
select array_append({a}, 9), array_prepend(9, {a}), array_cat({a}, array[7,8]), array_append({a}, null), array_to_string({a}, ','), array_to_json({a});
--: array_append integer[] | array_prepend integer[] | array_cat integer[] | array_append integer[] | array_to_string text | array_to_json json
--> array[1,2,3] => {1,2,3,9} | {9,1,2,3} | {1,2,3,7,8} | {1,2,3,NULL} | 1,2,3 | [1,2,3]
--> '{}'::int[] => {9} | {9} | {7,8} | {NULL} | "" | []
--> null::int[] => {9} | {9} | {7,8} | {NULL} | ∅ | ∅
--> array[[1,2],[3,4]] => ERROR 22000: argument must be empty or one-dimensional array
select array_append(array[[1,2]], 3);
--> ERROR 22000: argument must be empty or one-dimensional array
-- each x: 2 | 9 | null
select array_remove(array[1,2,null,2], {x}), array_replace(array[1,2,null,2], {x}, 0), array_position(array[1,2,null,2], {x}), array_positions(array[1,2,null,2], {x}), array_position(array[1,2,null,2], {x}, 3);
--: array_remove integer[] | array_replace integer[] | array_position integer | array_positions integer[] | array_position integer
--> 2 => {1,NULL} | {1,0,NULL,0} | 2 | {2,4} | 4
--> 9 => {1,2,NULL,2} | {1,2,NULL,2} | ∅ | {} | ∅
--> null => {1,2,2} | {1,2,0,2} | 3 | {3} | 3
select array_remove(array[[1,2]], 1);
--> ERROR 0A000: removing elements from multidimensional arrays is not supported
select array_position(array[[1,2]], 1);
--> ERROR 0A000: searching for elements in multidimensional arrays is not supported
select array_position(array['sun','mon','tue'], 'mon'), array_position('[0:2]={a,b,c}'::text[], 'c'), array_positions(array['A','A','B','A'], 'A');
--: array_position integer | array_position integer | array_positions integer[]
--> 2 | 2 | {1,2,4}
-- each a: 7, array[3] | 7, array[3,2] | 'x'::text, array[2], array[4] | 1, '{}'::int[] | null::int, array[2] | 7, null
select array_fill({a});
--: array_fill integer[]
--> 7, array[3] => {7,7,7}
--> 7, array[3,2] => {{7,7},{7,7},{7,7}}
--: array_fill text[]
--> 'x'::text, array[2], array[4] => [4:5]={x,x}
--: array_fill integer[]
--> 1, '{}'::int[] => {}
--> null::int, array[2] => {NULL,NULL}
--> 7, null => ERROR 22004: dimension array or low bound array cannot be null
select array_fill(1, array[-1]);
--> ERROR 54000: array size exceeds the maximum allowed (134217727)
-- each n: 0 | 1 | 2 | 3 | 4 | -1 | null
select trim_array(array[1,2,3], {n});
--: trim_array integer[]
--> 0 => {1,2,3}
--> 1 => {1,2}
--> 2 => {1}
--> 3 => {}
--> 4 => ERROR 2202E: number of elements to trim must be between 0 and 3
--> -1 => ERROR 2202E: number of elements to trim must be between 0 and 3
--> null => ∅
-- each s ~ n: ',' ~ '*' | ', ' ~ null | null ~ 'x' | '' ~ ''
select array_to_string(array[1,2,null,5], {s}, {n}), array_to_string(array['a',null,''], {s}), array_to_string(array[[1,2],[3,null]], {s}, {n});
--: array_to_string text | array_to_string text | array_to_string text
--> ',', '*' => 1,2,*,5 | a, | 1,2,3,*
--> ', ', null => 1, 2, 5 | "a, " | 1, 2, 3
--> null, 'x' => ∅ | ∅ | ∅
--> '', '' => 125 | a | 123
select unnest(array[1,2]), unnest(array['a','b','c']);
--: unnest integer | unnest text
--> 1 | a
--> 2 | b
--> ∅ | c
select * from unnest(array[1,2], array['x','y','z'], array[true]) as t (n, s, b);
--: n integer | s text | b boolean
--> 1 | x | t
--> 2 | y | ∅
--> ∅ | z | ∅
select * from unnest(array[[1,2],[3,4]]) with ordinality as u (v, at);
--: v integer | at bigint
--> 1 | 1
--> 2 | 2
--> 3 | 3
--> 4 | 4
select * from unnest('{}'::int[]);
--: unnest integer
select unnest(null::int[]);
--: unnest integer
select generate_subscripts(array[[1,2],[3,4]], 1), generate_subscripts('[3:5]={1,2,3}'::int[], 1), generate_subscripts(array[1,2], 1, true);
--: generate_subscripts integer | generate_subscripts integer | generate_subscripts integer
--> 1 | 3 | 2
--> 2 | 4 | 1
--> ∅ | 5 | ∅
select n, (array['a','b','c'])[n] from generate_subscripts(array['a','b','c'], 1) n;
--: n integer | array text
--> 1 | a
--> 2 | b
--> 3 | c
-- each f: array_length(1, 1) | array_append(1, 2) | unnest(1) | cardinality('{}')| array_dims('{1}') | array_cat(array[1], array['a'])
select {f};
--> array_length(1, 1) => ERROR 42883: function array_length(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> array_append(1, 2) => ERROR 42883: function array_append(integer, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> unnest(1) => ERROR 42883: function unnest(integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> cardinality('{}')| array_dims('{1}') => ERROR 42804: could not determine polymorphic type because input has type unknown
--> array_cat(array[1], array['a']) => ERROR 42883: function array_cat(integer[], text[]) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
select array_agg(x), array_agg(x order by x desc), array_agg(distinct x), array_agg(x) filter (where x > 1) from (values (2), (1), (null), (2)) v (x);
--: array_agg integer[] | array_agg integer[] | array_agg integer[] | array_agg integer[]
--> {2,1,NULL,2} | {NULL,2,2,1} | {1,2,NULL} | {2,2}
select array_agg(a) from (values (array[1,2]), (array[3,4])) v (a);
--: array_agg integer[]
--> {{1,2},{3,4}}
select array_agg(a) from (values (array[1,2]), (array[3])) v (a);
--> ERROR 2202E: cannot accumulate arrays of different dimensionality
select array_agg(x) from (values (1)) v (x) where false;
--: array_agg integer[]
--> ∅
select array_larger(array[1], array[2]), max(a), min(a) from (values (array[1,2]), (array[1,3]), (array[0])) v (a);
--: array_larger integer[] | max integer[] | min integer[]
--> {2} | {1,3} | {0}

-- ## Comparing with ANY, SOME, ALL

-- each op: = | < | <> | >=
-- each a: array[1,2,3] | '{}'::int[] | array[1,null] | null::int[] | '{2}'
select 2 {op} any ({a}), 2 {op} some ({a}), 2 {op} all ({a}), null {op} any ({a});
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> =, array[1,2,3] => t | t | f | ∅
--> =, '{}'::int[] => f | f | t | f
--> =, array[1,null] => ∅ | ∅ | f | ∅
--> =, null::int[] => ∅ | ∅ | ∅ | ∅
--> =, '{2}' => t | t | t | ∅
--> <, array[1,2,3] => t | t | f | ∅
--> <, '{}'::int[] => f | f | t | f
--> <, array[1,null] => ∅ | ∅ | f | ∅
--> <, null::int[] => ∅ | ∅ | ∅ | ∅
--> <, '{2}' => f | f | f | ∅
--> <>, array[1,2,3] => t | t | f | ∅
--> <>, '{}'::int[] => f | f | t | f
--> <>, array[1,null] => t | t | ∅ | ∅
--> <>, null::int[] => ∅ | ∅ | ∅ | ∅
--> <>, '{2}' => f | f | f | ∅
--> >=, array[1,2,3] => t | t | f | ∅
--> >=, '{}'::int[] => f | f | t | f
--> >=, array[1,null] => t | t | ∅ | ∅
--> >=, null::int[] => ∅ | ∅ | ∅ | ∅
--> >=, '{2}' => t | t | t | ∅
select 'abc' like any (array['a%','z%']), 'abc' not like all (array['x%','z%']), 'abc' ~ any (array['^b','c$']), 1.5 > all (array[1,1.2]), 'b' = any ('{a,b}');
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> t | t | t | t | t
select 1 = any (1);
--> ERROR 42809: op ANY/ALL (array) requires array on right side [POSITION: 10]
select 1 = any (array['a']);
--> ERROR 42883: operator does not exist: integer = text [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 10]
select 1 + any (array[1]);
--> ERROR 42809: op ANY/ALL (array) requires operator to yield boolean [POSITION: 10]

-- ## In tables

create table board (id int primary key, row1 int[] default '{}', names text[3], grid int[][], check (cardinality(row1) < 5));
insert into board values (1, '{1,2,3}', '{a,b,c,d}', '{{1,2},{3,4}}'), (2, array[4], null, null);
--> INSERT 0 2
insert into board (id) values (3) returning *;
--: id integer | row1 integer[] | names text[] | grid integer[]
--> 3 | {} | ∅ | ∅
--> INSERT 0 1
update board set row1[2] = 20 where id = 1 returning row1;
--: row1 integer[]
--> {1,20,3}
--> UPDATE 1
update board set row1[6] = 60 where id = 2 returning row1;
--> ERROR 23514: new row for relation "board" violates check constraint "board_row1_check" [DETAIL: Failing row contains (2, {4,NULL,NULL,NULL,NULL,60}, null, null).]
update board set row1[3] = 9 where id = 2 returning row1;
--: row1 integer[]
--> {4,NULL,9}
--> UPDATE 1
update board set row1[2:3] = '{7,8}', names[1] = 'z' where id = 1 returning row1, names;
--: row1 integer[] | names text[]
--> {1,7,8} | {z,b,c,d}
--> UPDATE 1
update board set names[2] = 'first', grid[1][1] = 5 where id = 2 returning names, grid;
--: names text[] | grid integer[]
--> [2:2]={first} | {{5}}
--> UPDATE 1
update board set grid[1][2] = 50, grid[2][1] = 60 where id = 1 returning grid;
--: grid integer[]
--> {{1,50},{60,4}}
--> UPDATE 1
update board set row1[1:2] = '{1}' where id = 1;
--> ERROR 2202E: source array too small
insert into board (id, row1[2], row1[3]) values (4, 5, 6) returning row1;
--: row1 integer[]
--> [2:3]={5,6}
--> INSERT 0 1
insert into board (id, row1) values (5, '{1,2,3,4,5}');
--> ERROR 23514: new row for relation "board" violates check constraint "board_row1_check" [DETAIL: Failing row contains (5, {1,2,3,4,5}, null, null).]
select id, row1 from board order by row1 desc, id;
--: id integer | row1 integer[]
--> 4 | [2:3]={5,6}
--> 2 | {4,NULL,9}
--> 1 | {1,7,8}
--> 3 | {}
select row1, count(*) from board group by row1 order by 1;
--: row1 integer[] | count bigint
--> {} | 1
--> {1,7,8} | 1
--> {4,NULL,9} | 1
--> [2:3]={5,6} | 1
select id from board where row1 @> '{9}' or 6 = any (row1) order by id;
--: id integer
--> 2
--> 4
select b.id, v from board b, unnest(b.row1) v order by 1, 2;
--: id integer | v integer
--> 1 | 1
--> 1 | 7
--> 1 | 8
--> 2 | 4
--> 2 | 9
--> 2 | ∅
--> 4 | 5
--> 4 | 6
select id, (select sum(v) from unnest(row1) v) as total from board order by id;
--: id integer | total bigint
--> 1 | 16
--> 2 | 13
--> 3 | ∅
--> 4 | 11
create index on board (row1);
select id from board where row1 = '{4,NULL,9}';
--: id integer
--> 2
drop table board;
select '{1,2}' :: int[] = '{1,2}', row(array[1]) = row(array[1]), array[1,2] in ('{1,2}', '{3}'), array[1] is distinct from null;
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> t | t | t | t

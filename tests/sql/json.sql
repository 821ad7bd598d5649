-- # JSON: sections 8.14 and 9.16

-- ## Reading

-- each t: json | jsonb
-- each x: '5' | '"text"' | 'null' | 'true' | '[1, 2, "foo", null]' | '{"bar": "baz", "balance": 7.77, "active":false}' | '{"a": 1, "a": 2}' | ' { "b" : 1 , "aa" : [ ] } ' | '1.230e-5' | '1E400' | '-0' | '"\u00e9\n\t\\"' | '"\ud83d\ude04"' | '{}' | '[]'
--  | '' | '{' | '[1,]' | '{"a"}' | '{a:1}' | 'tru' | '"unclosed' | '01' | '1.' | '"\x"' | '"\ud83d"' | '"\u0000"' | '[1] x' | '{"a":1,}' | E'"line\nbreak"' | '{1:2}' | 'NaN' | '"\u12"' | '[1 2]' | '{"a" 1}' | ']'
select {x}::{t};
--: json json
--> json, '5' => 5
--> json, '"text"' => "\"text\""
--> json, 'null' => null
--> json, 'true' => true
--> json, '[1, 2, "foo", null]' => [1, 2, "foo", null]
--> json, '{"bar": "baz", "balance": 7.77, "active":false}' => {"bar": "baz", "balance": 7.77, "active":false}
--> json, '{"a": 1, "a": 2}' => {"a": 1, "a": 2}
--> json, ' { "b" : 1 , "aa" : [ ] } ' => " { \"b\" : 1 , \"aa\" : [ ] } "
--> json, '1.230e-5' => 1.230e-5
--> json, '1E400' => 1E400
--> json, '-0' => -0
--> json, '"\u00e9\n\t\\"' => "\"\\u00e9\\n\\t\\\\\""
--> json, '"\ud83d\ude04"' => "\"\\ud83d\\ude04\""
--> json, '{}' => {}
--> json, '[]' => []
--> json, '' => ERROR 22P02: invalid input syntax for type json [DETAIL: The input string ended unexpectedly.] [POSITION: 8]
--> json, '{' => ERROR 22P02: invalid input syntax for type json [DETAIL: The input string ended unexpectedly.] [POSITION: 8]
--> json, '[1,]' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected JSON value, but found "]".] [POSITION: 8]
--> json, '{"a"}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected ":", but found "}".] [POSITION: 8]
--> json, '{a:1}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "a" is invalid.] [POSITION: 8]
--> json, 'tru' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "tru" is invalid.] [POSITION: 8]
--> json, '"unclosed' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token ""unclosed" is invalid.] [POSITION: 8]
--> json, '01' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "01" is invalid.] [POSITION: 8]
--> json, '1.' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "1." is invalid.] [POSITION: 8]
--> json, '"\x"' => ERROR 22P02: invalid input syntax for type json [DETAIL: Escape sequence "\x" is invalid.] [POSITION: 8]
--> json, '"\ud83d"' => "\"\\ud83d\""
--> json, '"\u0000"' => "\"\\u0000\""
--> json, '[1] x' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "x" is invalid.] [POSITION: 8]
--> json, '{"a":1,}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected string, but found "}".] [POSITION: 8]
--> json, E'"line\nbreak"' => ERROR 22P02: invalid input syntax for type json [DETAIL: Character with value 0x0a must be escaped.] [POSITION: 8]
--> json, '{1:2}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected string or "}", but found "1".] [POSITION: 8]
--> json, 'NaN' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "NaN" is invalid.] [POSITION: 8]
--> json, '"\u12"' => ERROR 22P02: invalid input syntax for type json [DETAIL: "\u" must be followed by four hexadecimal digits.] [POSITION: 8]
--> json, '[1 2]' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected "," or "]", but found "2".] [POSITION: 8]
--> json, '{"a" 1}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected ":", but found "1".] [POSITION: 8]
--> json, ']' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected JSON value, but found "]".] [POSITION: 8]
--: jsonb jsonb
--> jsonb, '5' => 5
--> jsonb, '"text"' => "\"text\""
--> jsonb, 'null' => null
--> jsonb, 'true' => true
--> jsonb, '[1, 2, "foo", null]' => [1, 2, "foo", null]
--> jsonb, '{"bar": "baz", "balance": 7.77, "active":false}' => {"bar": "baz", "active": false, "balance": 7.77}
--> jsonb, '{"a": 1, "a": 2}' => {"a": 2}
--> jsonb, ' { "b" : 1 , "aa" : [ ] } ' => {"b": 1, "aa": []}
--> jsonb, '1.230e-5' => 0.00001230
--> jsonb, '1E400' => 10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
--> jsonb, '-0' => 0
--> jsonb, '"\u00e9\n\t\\"' => "\"é\\n\\t\\\\\""
--> jsonb, '"\ud83d\ude04"' => "\"😄\""
--> jsonb, '{}' => {}
--> jsonb, '[]' => []
--> jsonb, '' => ERROR 22P02: invalid input syntax for type json [DETAIL: The input string ended unexpectedly.] [POSITION: 8]
--> jsonb, '{' => ERROR 22P02: invalid input syntax for type json [DETAIL: The input string ended unexpectedly.] [POSITION: 8]
--> jsonb, '[1,]' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected JSON value, but found "]".] [POSITION: 8]
--> jsonb, '{"a"}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected ":", but found "}".] [POSITION: 8]
--> jsonb, '{a:1}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "a" is invalid.] [POSITION: 8]
--> jsonb, 'tru' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "tru" is invalid.] [POSITION: 8]
--> jsonb, '"unclosed' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token ""unclosed" is invalid.] [POSITION: 8]
--> jsonb, '01' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "01" is invalid.] [POSITION: 8]
--> jsonb, '1.' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "1." is invalid.] [POSITION: 8]
--> jsonb, '"\x"' => ERROR 22P02: invalid input syntax for type json [DETAIL: Escape sequence "\x" is invalid.] [POSITION: 8]
--> jsonb, '"\ud83d"' => ERROR 22P02: invalid input syntax for type json [DETAIL: Unicode low surrogate must follow a high surrogate.] [POSITION: 8]
--> jsonb, '"\u0000"' => ERROR 22P05: unsupported Unicode escape sequence [DETAIL: \u0000 cannot be converted to text.] [POSITION: 8]
--> jsonb, '[1] x' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "x" is invalid.] [POSITION: 8]
--> jsonb, '{"a":1,}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected string, but found "}".] [POSITION: 8]
--> jsonb, E'"line\nbreak"' => ERROR 22P02: invalid input syntax for type json [DETAIL: Character with value 0x0a must be escaped.] [POSITION: 8]
--> jsonb, '{1:2}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected string or "}", but found "1".] [POSITION: 8]
--> jsonb, 'NaN' => ERROR 22P02: invalid input syntax for type json [DETAIL: Token "NaN" is invalid.] [POSITION: 8]
--> jsonb, '"\u12"' => ERROR 22P02: invalid input syntax for type json [DETAIL: "\u" must be followed by four hexadecimal digits.] [POSITION: 8]
--> jsonb, '[1 2]' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected "," or "]", but found "2".] [POSITION: 8]
--> jsonb, '{"a" 1}' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected ":", but found "1".] [POSITION: 8]
--> jsonb, ']' => ERROR 22P02: invalid input syntax for type json [DETAIL: Expected JSON value, but found "]".] [POSITION: 8]

-- ## Operators

-- each x: '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]' | '{"a": {"b":"foo"}, "n": null, "k": [1,"two",3.50]}' | '"scalar"' | '[]'
-- each t: json | jsonb
select {x}::{t} -> 2, {x}::{t} -> -1, {x}::{t} -> 'a', {x}::{t} ->> 0, {x}::{t} ->> 'n', {x}::{t} #> '{a,b}', {x}::{t} #>> '{k,1}', {x}::{t} #>> '{}', {x}::{t} -> 'a' -> 'b', {x}::{t} #> '{0,a}';
--: ?column? json | ?column? json | ?column? json | ?column? text | ?column? text | ?column? json | ?column? text | ?column? text | ?column? json | ?column? json
--> '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]', json => {"c":"baz"} | {"c":"baz"} | ∅ | {"a":"foo"} | ∅ | ∅ | ∅ | [{"a":"foo"},{"b":"bar"},{"c":"baz"}] | ∅ | "\"foo\""
--: ?column? jsonb | ?column? jsonb | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? jsonb
--> '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]', jsonb => {"c": "baz"} | {"c": "baz"} | ∅ | {"a": "foo"} | ∅ | ∅ | ∅ | [{"a": "foo"}, {"b": "bar"}, {"c": "baz"}] | ∅ | "\"foo\""
--: ?column? json | ?column? json | ?column? json | ?column? text | ?column? text | ?column? json | ?column? text | ?column? text | ?column? json | ?column? json
--> '{"a": {"b":"foo"}, "n": null, "k": [1,"two",3.50]}', json => ∅ | ∅ | {"b":"foo"} | ∅ | ∅ | "\"foo\"" | two | {"a": {"b":"foo"}, "n": null, "k": [1,"two",3.50]} | "\"foo\"" | ∅
--: ?column? jsonb | ?column? jsonb | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? jsonb
--> '{"a": {"b":"foo"}, "n": null, "k": [1,"two",3.50]}', jsonb => ∅ | ∅ | {"b": "foo"} | ∅ | ∅ | "\"foo\"" | two | {"a": {"b": "foo"}, "k": [1, "two", 3.50], "n": null} | "\"foo\"" | ∅
--: ?column? json | ?column? json | ?column? json | ?column? text | ?column? text | ?column? json | ?column? text | ?column? text | ?column? json | ?column? json
--> '"scalar"', json => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | scalar | ∅ | ∅
--: ?column? jsonb | ?column? jsonb | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? jsonb
--> '"scalar"', jsonb => ∅ | "\"scalar\"" | ∅ | scalar | ∅ | ∅ | ∅ | scalar | ∅ | ∅
--: ?column? json | ?column? json | ?column? json | ?column? text | ?column? text | ?column? json | ?column? text | ?column? text | ?column? json | ?column? json
--> '[]', json => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | [] | ∅ | ∅
--: ?column? jsonb | ?column? jsonb | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? text | ?column? text | ?column? jsonb | ?column? jsonb
--> '[]', jsonb => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | [] | ∅ | ∅
-- each a: '{"a":1, "b":2}' | '[1,2,3]' | '"a"' | '{"a":{"x":[1,2]}}' | '[]' | '{}' | '1' | '["a","b"]'
-- each b: '{"b":2}' | '[2]' | '"a"' | '{"a":{"x":[2]}}' | '{}' | '[]' | '1'
select jsonb {a} @> {b}, jsonb {a} <@ {b}, jsonb {a} || {b}, jsonb {a} = {b}, jsonb {a} < {b}, jsonb {a} > {b};
--: ?column? boolean | ?column? boolean | ?column? jsonb | ?column? boolean | ?column? boolean | ?column? boolean
--> '{"a":1, "b":2}', '{"b":2}' => t | f | {"a": 1, "b": 2} | f | f | t
--> '{"a":1, "b":2}', '[2]' => f | f | [{"a": 1, "b": 2}, 2] | f | f | t
--> '{"a":1, "b":2}', '"a"' => f | f | [{"a": 1, "b": 2}, "a"] | f | f | t
--> '{"a":1, "b":2}', '{"a":{"x":[2]}}' => f | f | {"a": {"x": [2]}, "b": 2} | f | f | t
--> '{"a":1, "b":2}', '{}' => t | f | {"a": 1, "b": 2} | f | f | t
--> '{"a":1, "b":2}', '[]' => f | f | [{"a": 1, "b": 2}] | f | f | t
--> '{"a":1, "b":2}', '1' => f | f | [{"a": 1, "b": 2}, 1] | f | f | t
--> '[1,2,3]', '{"b":2}' => f | f | [1, 2, 3, {"b": 2}] | f | t | f
--> '[1,2,3]', '[2]' => t | f | [1, 2, 3, 2] | f | f | t
--> '[1,2,3]', '"a"' => f | f | [1, 2, 3, "a"] | f | f | t
--> '[1,2,3]', '{"a":{"x":[2]}}' => f | f | [1, 2, 3, {"a": {"x": [2]}}] | f | t | f
--> '[1,2,3]', '{}' => f | f | [1, 2, 3, {}] | f | t | f
--> '[1,2,3]', '[]' => t | f | [1, 2, 3] | f | f | t
--> '[1,2,3]', '1' => t | f | [1, 2, 3, 1] | f | f | t
--> '"a"', '{"b":2}' => f | f | ["a", {"b": 2}] | f | t | f
--> '"a"', '[2]' => f | f | ["a", 2] | f | t | f
--> '"a"', '"a"' => t | t | ["a", "a"] | t | f | f
--> '"a"', '{"a":{"x":[2]}}' => f | f | ["a", {"a": {"x": [2]}}] | f | t | f
--> '"a"', '{}' => f | f | ["a", {}] | f | t | f
--> '"a"', '[]' => f | f | ["a"] | f | f | t
--> '"a"', '1' => f | f | ["a", 1] | f | t | f
--> '{"a":{"x":[1,2]}}', '{"b":2}' => f | f | {"a": {"x": [1, 2]}, "b": 2} | f | t | f
--> '{"a":{"x":[1,2]}}', '[2]' => f | f | [{"a": {"x": [1, 2]}}, 2] | f | f | t
--> '{"a":{"x":[1,2]}}', '"a"' => f | f | [{"a": {"x": [1, 2]}}, "a"] | f | f | t
--> '{"a":{"x":[1,2]}}', '{"a":{"x":[2]}}' => t | f | {"a": {"x": [2]}} | f | f | t
--> '{"a":{"x":[1,2]}}', '{}' => t | f | {"a": {"x": [1, 2]}} | f | f | t
--> '{"a":{"x":[1,2]}}', '[]' => f | f | [{"a": {"x": [1, 2]}}] | f | f | t
--> '{"a":{"x":[1,2]}}', '1' => f | f | [{"a": {"x": [1, 2]}}, 1] | f | f | t
--> '[]', '{"b":2}' => f | f | [{"b": 2}] | f | t | f
--> '[]', '[2]' => f | t | [2] | f | t | f
--> '[]', '"a"' => f | f | ["a"] | f | t | f
--> '[]', '{"a":{"x":[2]}}' => f | f | [{"a": {"x": [2]}}] | f | t | f
--> '[]', '{}' => f | f | [{}] | f | t | f
--> '[]', '[]' => t | t | [] | t | f | f
--> '[]', '1' => f | f | [1] | f | t | f
--> '{}', '{"b":2}' => f | t | {"b": 2} | f | t | f
--> '{}', '[2]' => f | f | [{}, 2] | f | f | t
--> '{}', '"a"' => f | f | [{}, "a"] | f | f | t
--> '{}', '{"a":{"x":[2]}}' => f | t | {"a": {"x": [2]}} | f | t | f
--> '{}', '{}' => t | t | {} | t | f | f
--> '{}', '[]' => f | f | [{}] | f | f | t
--> '{}', '1' => f | f | [{}, 1] | f | f | t
--> '1', '{"b":2}' => f | f | [1, {"b": 2}] | f | t | f
--> '1', '[2]' => f | f | [1, 2] | f | t | f
--> '1', '"a"' => f | f | [1, "a"] | f | f | t
--> '1', '{"a":{"x":[2]}}' => f | f | [1, {"a": {"x": [2]}}] | f | t | f
--> '1', '{}' => f | f | [1, {}] | f | t | f
--> '1', '[]' => f | f | [1] | f | f | t
--> '1', '1' => t | t | [1, 1] | t | f | f
--> '["a","b"]', '{"b":2}' => f | f | ["a", "b", {"b": 2}] | f | t | f
--> '["a","b"]', '[2]' => f | f | ["a", "b", 2] | f | f | t
--> '["a","b"]', '"a"' => t | f | ["a", "b", "a"] | f | f | t
--> '["a","b"]', '{"a":{"x":[2]}}' => f | f | ["a", "b", {"a": {"x": [2]}}] | f | t | f
--> '["a","b"]', '{}' => f | f | ["a", "b", {}] | f | t | f
--> '["a","b"]', '[]' => t | f | ["a", "b"] | f | f | t
--> '["a","b"]', '1' => f | f | ["a", "b", 1] | f | f | t
-- each a: '{"a":1, "b":2}' | '["a", "c"]' | '"a"' | '1'
select jsonb {a} ? 'a', jsonb {a} ? 'b', jsonb {a} ?| array['b','c'], jsonb {a} ?& array['a','c'], jsonb {a} ?& '{}', jsonb {a} ?| '{}';
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> '{"a":1, "b":2}' => t | t | t | f | t | f
--> '["a", "c"]' => t | f | t | t | t | f
--> '"a"' => t | f | f | f | t | f
--> '1' => f | f | f | f | t | f
-- each x: '{"a":"b", "c":"d"}' | '["a","b","c","a"]' | '[["x"],{"a":[1,2]}]'
-- each k: 'a' | 1 | -1 | 9 | '{a,c}'::text[] | 'zz'
select jsonb {x} - {k};
--: ?column? jsonb
--> '{"a":"b", "c":"d"}', 'a' => {"c": "d"}
--> '{"a":"b", "c":"d"}', 1 => ERROR 22023: cannot delete from object using integer index
--> '{"a":"b", "c":"d"}', -1 => ERROR 22023: cannot delete from object using integer index
--> '{"a":"b", "c":"d"}', 9 => ERROR 22023: cannot delete from object using integer index
--> '{"a":"b", "c":"d"}', '{a,c}'::text[] => {}
--> '{"a":"b", "c":"d"}', 'zz' => {"a": "b", "c": "d"}
--> '["a","b","c","a"]', 'a' => ["b", "c"]
--> '["a","b","c","a"]', 1 => ["a", "c", "a"]
--> '["a","b","c","a"]', -1 => ["a", "b", "c"]
--> '["a","b","c","a"]', 9 => ["a", "b", "c", "a"]
--> '["a","b","c","a"]', '{a,c}'::text[] => ["b"]
--> '["a","b","c","a"]', 'zz' => ["a", "b", "c", "a"]
--> '[["x"],{"a":[1,2]}]', 'a' => [["x"], {"a": [1, 2]}]
--> '[["x"],{"a":[1,2]}]', 1 => [["x"]]
--> '[["x"],{"a":[1,2]}]', -1 => [["x"]]
--> '[["x"],{"a":[1,2]}]', 9 => [["x"], {"a": [1, 2]}]
--> '[["x"],{"a":[1,2]}]', '{a,c}'::text[] => [["x"], {"a": [1, 2]}]
--> '[["x"],{"a":[1,2]}]', 'zz' => [["x"], {"a": [1, 2]}]
select jsonb '{"a":1}' - 0;
--> ERROR 22023: cannot delete from object using integer index
select jsonb '"x"' - 'a';
--> ERROR 22023: cannot delete from scalar
-- each x: '["a", {"b":1}]' | '{"a":{"b":[1,2]}}' | '[]'
-- each p: '{1,b}' | '{a,b,0}' | '{a}' | '{}' | '{-1}' | '{x}'
select jsonb {x} #- {p};
--: ?column? jsonb
--> '["a", {"b":1}]', '{1,b}' => ["a", {}]
--> '["a", {"b":1}]', '{a,b,0}' => ERROR 22P02: path element at position 1 is not an integer: "a"
--> '["a", {"b":1}]', '{a}' => ERROR 22P02: path element at position 1 is not an integer: "a"
--> '["a", {"b":1}]', '{}' => ["a", {"b": 1}]
--> '["a", {"b":1}]', '{-1}' => ["a"]
--> '["a", {"b":1}]', '{x}' => ERROR 22P02: path element at position 1 is not an integer: "x"
--> '{"a":{"b":[1,2]}}', '{1,b}' => {"a": {"b": [1, 2]}}
--> '{"a":{"b":[1,2]}}', '{a,b,0}' => {"a": {"b": [2]}}
--> '{"a":{"b":[1,2]}}', '{a}' => {}
--> '{"a":{"b":[1,2]}}', '{}' => {"a": {"b": [1, 2]}}
--> '{"a":{"b":[1,2]}}', '{-1}' => {"a": {"b": [1, 2]}}
--> '{"a":{"b":[1,2]}}', '{x}' => {"a": {"b": [1, 2]}}
--> '[]', '{1,b}' => []
--> '[]', '{a,b,0}' => []
--> '[]', '{a}' => []
--> '[]', '{}' => []
--> '[]', '{-1}' => []
--> '[]', '{x}' => []
select json '{}' = json '{}';
--> ERROR 42883: operator does not exist: json = json [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 18]
select jsonb '1' + 1;
--> ERROR 42883: operator does not exist: jsonb + integer [HINT: No operator matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 18]
select ('{"a":[1,{"b":2}]}'::jsonb)['a'][1]['b'], ('[1,2]'::jsonb)[-1], ('{"a":1}'::jsonb)['zz'], ('"x"'::jsonb)['a'];
--: jsonb jsonb | jsonb jsonb | jsonb jsonb | jsonb jsonb
--> 2 | 2 | ∅ | ∅

-- ## Making

-- each x: 'Fred said "Hi."'::text | 5 | 1.50 | true | null::int | array[1,2,null] | array[['a','b']] | row(42, 'foo') | date '2024-02-29' | timestamp '2024-02-29 12:00:00.5' | timestamptz '2024-02-29 12:00+00' | interval '1 day' | '{"a": 1}'::json | '{"a": 1}'::jsonb | 'NaN'::float8 | 1e20::float8 | '\x01ff'::bytea | E'a\nb\t\x01"\\/é'::text | ''::text
select to_json({x}), to_jsonb({x}), json_build_array({x}), jsonb_build_object('k', {x});
--: to_json json | to_jsonb jsonb | json_build_array json | jsonb_build_object jsonb
--> 'Fred said "Hi."'::text => "\"Fred said \\\"Hi.\\\"\"" | "\"Fred said \\\"Hi.\\\"\"" | ["Fred said \"Hi.\""] | {"k": "Fred said \"Hi.\""}
--> 5 => 5 | 5 | [5] | {"k": 5}
--> 1.50 => 1.50 | 1.50 | [1.50] | {"k": 1.50}
--> true => true | true | [true] | {"k": true}
--> null::int => ∅ | ∅ | [null] | {"k": null}
--> array[1,2,null] => [1,2,null] | [1, 2, null] | [[1,2,null]] | {"k": [1, 2, null]}
--> array[['a','b']] => [["a","b"]] | [["a", "b"]] | [[["a","b"]]] | {"k": [["a", "b"]]}
--> row(42, 'foo') => {"f1":42,"f2":"foo"} | {"f1": 42, "f2": "foo"} | [{"f1":42,"f2":"foo"}] | {"k": {"f1": 42, "f2": "foo"}}
--> date '2024-02-29' => "\"2024-02-29\"" | "\"2024-02-29\"" | ["2024-02-29"] | {"k": "2024-02-29"}
--> timestamp '2024-02-29 12:00:00.5' => "\"2024-02-29T12:00:00.5\"" | "\"2024-02-29T12:00:00.5\"" | ["2024-02-29T12:00:00.5"] | {"k": "2024-02-29T12:00:00.5"}
--> timestamptz '2024-02-29 12:00+00' => "\"2024-02-29T12:00:00+00:00\"" | "\"2024-02-29T12:00:00+00:00\"" | ["2024-02-29T12:00:00+00:00"] | {"k": "2024-02-29T12:00:00+00:00"}
--> interval '1 day' => "\"1 day\"" | "\"1 day\"" | ["1 day"] | {"k": "1 day"}
--> '{"a": 1}'::json => {"a": 1} | {"a": 1} | [{"a": 1}] | {"k": {"a": 1}}
--> '{"a": 1}'::jsonb => {"a": 1} | {"a": 1} | [{"a": 1}] | {"k": {"a": 1}}
--> 'NaN'::float8 => "\"NaN\"" | "\"NaN\"" | ["NaN"] | {"k": "NaN"}
--> 1e20::float8 => 1e+20 | 100000000000000000000 | [1e+20] | {"k": 100000000000000000000}
--> '\x01ff'::bytea => "\"\\\\x01ff\"" | "\"\\\\x01ff\"" | ["\\x01ff"] | {"k": "\\x01ff"}
--> E'a\nb\t\x01"\\/é'::text => "\"a\\nb\\t\\u0001\\\"\\\\/é\"" | "\"a\\nb\\t\\u0001\\\"\\\\/é\"" | ["a\nb\t\u0001\"\\/é"] | {"k": "a\nb\t\u0001\"\\/é"}
--> ''::text => "\"\"" | "\"\"" | [""] | {"k": ""}
select array_to_json('{{1,5},{99,100}}'::int[]), array_to_json(array[1,2,3], true), row_to_json(row(1, 'foo', null)), row_to_json(row(1, array[2]), true);
--: array_to_json json | array_to_json json | row_to_json json | row_to_json json
--> [[1,5],[99,100]] | "[1,\n 2,\n 3]" | {"f1":1,"f2":"foo","f3":null} | "{\"f1\":1,\n \"f2\":[2]}"
select json_build_array(1, 2, 'foo', 4, 5), json_build_object('foo', 1, 2, row(3, 'bar')), json_build_array(), json_build_object(), jsonb_build_object('b', 1, 'a', 2, 'b', 3);
--: json_build_array json | json_build_object json | json_build_array json | json_build_object json | jsonb_build_object jsonb
--> [1, 2, "foo", 4, 5] | {"foo" : 1, "2" : {"f1":3,"f2":"bar"}} | [] | {} | {"a": 2, "b": 3}
select json_build_object('a');
--> ERROR 22023: argument list must have even number of elements [HINT: The arguments of json_build_object() must consist of alternating keys and values.]
select json_build_object(null, 1);
--> ERROR 22023: argument 1 cannot be null [HINT: Object keys should be text.]
select jsonb_build_object(array[1], 1);
--> ERROR 22023: key value must be scalar, not array, composite, or json
select json_object('{a, 1, b, "def", c, 3.5}'), json_object('{{a, 1}, {b, "def"}}'), json_object('{a,b}', '{1,2}'), jsonb_object('{a,b}', '{1,null}'), json_object('{}');
--: json_object json | json_object json | json_object json | jsonb_object jsonb | json_object json
--> {"a" : "1", "b" : "def", "c" : "3.5"} | {"a" : "1", "b" : "def"} | {"a" : "1", "b" : "2"} | {"a": "1", "b": null} | {}
select json_object('{a}');
--> ERROR 2202E: array must have even number of elements
select json_object('{{a,b,c}}');
--> ERROR 2202E: array must have two columns
select json_object('{a,b}', '{1}');
--> ERROR 2202E: mismatched array dimensions
select json_object('{null,b}', '{1,2}');
--> ERROR 22004: null value not allowed for object key
select json_build_array(variadic array[1,2]), jsonb_build_object(variadic array['a','b']);
--: json_build_array json | jsonb_build_object jsonb
--> [1, 2] | {"a": "b"}

-- ## Processing

-- each t: json | jsonb
-- each x: '[1,true, [1,[2,3]], null, {"f1":1}, "s"]' | '[]' | '{"a":1}' | '"x"'
select {t}_array_elements({x});
--: json_array_elements json
--> json, '[1,true, [1,[2,3]], null, {"f1":1}, "s"]' => 1 / true / [1,[2,3]] / null / {"f1":1} / "\"s\""
--> json, '[]' =>
--> json, '{"a":1}' => ERROR 22023: cannot call json_array_elements on a non-array
--> json, '"x"' => ERROR 22023: cannot call json_array_elements on a scalar
--: jsonb_array_elements jsonb
--> jsonb, '[1,true, [1,[2,3]], null, {"f1":1}, "s"]' => 1 / true / [1, [2, 3]] / null / {"f1": 1} / "\"s\""
--> jsonb, '[]' =>
--> jsonb, '{"a":1}' => ERROR 22023: cannot extract elements from an object
--> jsonb, '"x"' => ERROR 22023: cannot extract elements from a scalar
-- each t: json | jsonb
-- each x: '[1,"foo",null,{"a":"b"}]' | '7'
select {t}_array_elements_text({x}), {t}_array_length({x});
--: json_array_elements_text text | json_array_length integer
--> json, '[1,"foo",null,{"a":"b"}]' => 1 | 4 / foo | 4 / ∅ | 4 / {"a":"b"} | 4
--> json, '7' => ERROR 22023: cannot get array length of a scalar
--: jsonb_array_elements_text text | jsonb_array_length integer
--> jsonb, '[1,"foo",null,{"a":"b"}]' => 1 | 4 / foo | 4 / ∅ | 4 / {"a": "b"} | 4
--> jsonb, '7' => ERROR 22023: cannot get array length of a scalar
-- each t: json | jsonb
-- each x: '{"b":"foo", "a":null, "aa":[1, 2]}' | '{}' | '[1]'
select {t}_each({x}), {t}_object_keys({x});
--: json_each record | json_object_keys text
--> json, '{"b":"foo", "a":null, "aa":[1, 2]}' => (b,"""foo""") | b / (a,null) | a / (aa,"[1, 2]") | aa
--> json, '{}' =>
--> json, '[1]' => ERROR 22023: cannot deconstruct an array as an object
--: jsonb_each record | jsonb_object_keys text
--> jsonb, '{"b":"foo", "a":null, "aa":[1, 2]}' => (a,null) | a / (b,"""foo""") | b / (aa,"[1, 2]") | aa
--> jsonb, '{}' =>
--> jsonb, '[1]' => ERROR 22023: cannot call jsonb_each on a non-object
-- each t: json | jsonb
select * from {t}_each_text('{"a":"foo", "b":null, "c":{"d": 1}}') with ordinality;
--: key text | value text | ordinality bigint
--> json => a | foo | 1 / b | ∅ | 2 / c | {"d": 1} | 3
--> jsonb => a | foo | 1 / b | ∅ | 2 / c | {"d": 1} | 3
-- each x: '-123.4' | '"s"' | 'null' | 'true' | '[]' | '{}'
select json_typeof({x}), jsonb_typeof({x});
--: json_typeof text | jsonb_typeof text
--> '-123.4' => number | number
--> '"s"' => string | string
--> 'null' => null | null
--> 'true' => boolean | boolean
--> '[]' => array | array
--> '{}' => object | object
-- each p: {f2,f3} | {f1} | {zz} | {f4,0,f6} | {}
select json_extract_path('{"f2":{"f3":1},"f1":"x","f4":[{"f6":"y"}]}', variadic '{p}'), jsonb_extract_path_text('{"f2":{"f3":1},"f1":"x","f4":[{"f6":"y"}]}', variadic '{p}');
--: json_extract_path json | jsonb_extract_path_text text
--> {f2,f3} => 1 | 1
--> {f1} => "\"x\"" | x
--> {zz} => ∅ | ∅
--> {f4,0,f6} => "\"y\"" | y
--> {} => {"f2":{"f3":1},"f1":"x","f4":[{"f6":"y"}]} | {"f1": "x", "f2": {"f3": 1}, "f4": [{"f6": "y"}]}
select json_extract_path('{"f2":{"f3":1}}', 'f2', 'f3'), jsonb_extract_path_text('{"f2":{"f3":1}}', 'f2');
--: json_extract_path json | jsonb_extract_path_text text
--> 1 | {"f3": 1}
select * from json_to_record('{"a":1,"b":[1,2,3],"c":[1,2,3],"e":"bar","r": {"a": 123, "b": "a b c"}}') as x (a int, b text, c int[], d text);
--: a integer | b text | c integer[] | d text
--> 1 | [1,2,3] | {1,2,3} | ∅
select * from jsonb_to_recordset('[{"a":1,"b":"foo"}, {"a":"2","c":"bar"}]') as x (a int, b text);
--: a integer | b text
--> 1 | foo
--> 2 | ∅
select * from json_to_record('{"a":"x"}') as x (a int);
--> ERROR 22P02: invalid input syntax for type integer: "x"
select * from json_to_record('[1]') as x (a int);
--> ERROR 22023: cannot call populate_composite on an array
select * from jsonb_to_record('{"a":1}');
--> ERROR 42601: a column definition list is required for functions returning "record" [POSITION: 15]
create type pair as (a int, b text);
select * from json_populate_record(null::pair, '{"a":1,"b":"x","c":2}');
--: a integer | b text
--> 1 | x
select * from jsonb_populate_record(row(7, 'seven')::pair, '{"b":null}');
--: a integer | b text
--> 7 | ∅
select * from json_populate_recordset(null::pair, '[{"a":1,"b":2},{"a":3,"b":4}]');
--: a integer | b text
--> 1 | 2
--> 3 | 4
drop type pair;
-- each p ~ v: {0,f1} ~ '[2,3,4]' | {2} ~ '"x"' | {-1} ~ '"x"' | {0,new} ~ '1' | {9} ~ '1' | {} ~ '1' | {0,f1,x} ~ '1'
select jsonb_set('[{"f1":1,"f2":null},2,null,3]', '{p}', {v}), jsonb_set('[{"f1":1,"f2":null},2,null,3]', '{p}', {v}, false);
--: jsonb_set jsonb | jsonb_set jsonb
--> {0,f1}, '[2,3,4]' => [{"f1": [2, 3, 4], "f2": null}, 2, null, 3] | [{"f1": [2, 3, 4], "f2": null}, 2, null, 3]
--> {2}, '"x"' => [{"f1": 1, "f2": null}, 2, "x", 3] | [{"f1": 1, "f2": null}, 2, "x", 3]
--> {-1}, '"x"' => [{"f1": 1, "f2": null}, 2, null, "x"] | [{"f1": 1, "f2": null}, 2, null, "x"]
--> {0,new}, '1' => [{"f1": 1, "f2": null, "new": 1}, 2, null, 3] | [{"f1": 1, "f2": null}, 2, null, 3]
--> {9}, '1' => [{"f1": 1, "f2": null}, 2, null, 3, 1] | [{"f1": 1, "f2": null}, 2, null, 3]
--> {}, '1' => [{"f1": 1, "f2": null}, 2, null, 3] | [{"f1": 1, "f2": null}, 2, null, 3]
--> {0,f1,x}, '1' => [{"f1": 1, "f2": null}, 2, null, 3] | [{"f1": 1, "f2": null}, 2, null, 3]
select jsonb_set('{"a":1}', '{a}', null), jsonb_set('1', '{a}', '2');
--> ERROR 22023: cannot set path in scalar
-- each p: {a,1} | {a,-1} | {a,9} | {b} | {a,0}
select jsonb_insert('{"a": [0,1,2]}', '{p}', '"new"'), jsonb_insert('{"a": [0,1,2]}', '{p}', '"new"', true);
--: jsonb_insert jsonb | jsonb_insert jsonb
--> {a,1} => {"a": [0, "new", 1, 2]} | {"a": [0, 1, "new", 2]}
--> {a,-1} => {"a": [0, 1, "new", 2]} | {"a": [0, 1, 2, "new"]}
--> {a,9} => {"a": [0, 1, 2, "new"]} | {"a": [0, 1, 2, "new"]}
--> {b} => {"a": [0, 1, 2], "b": "new"} | {"a": [0, 1, 2], "b": "new"}
--> {a,0} => {"a": ["new", 0, 1, 2]} | {"a": [0, "new", 1, 2]}
select jsonb_insert('{"a": 1}', '{a}', '2');
--> ERROR 22023: cannot replace existing key [HINT: Try using the function jsonb_set to replace key value.]
-- each h: 'raise_exception' | 'use_json_null' | 'delete_key' | 'return_target' | 'nonsense'
select jsonb_set_lax('{"a":1,"b":2}', '{a}', null, true, {h});
--> 'raise_exception' => ERROR 22004: JSON value must not be null [DETAIL: Exception was raised because null_value_treatment is "raise_exception".] [HINT: To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.]
--: jsonb_set_lax jsonb
--> 'use_json_null' => {"a": null, "b": 2}
--> 'delete_key' => {"b": 2}
--> 'return_target' => {"a": 1, "b": 2}
--> 'nonsense' => ERROR 22023: null_value_treatment must be "delete_key", "return_target", "use_json_null", or "raise_exception"
select jsonb_set_lax('{"a":1,"b":2}', '{a}', null), jsonb_set_lax('{"a":1}', '{b}', '3');
--: jsonb_set_lax jsonb | jsonb_set_lax jsonb
--> {"a": null, "b": 2} | {"a": 1, "b": 3}
-- each x: '[{"f1":1, "f2":null}, 2, null, 3]' | 'null' | '{"a":null,"b":{"c":null}}'
select json_strip_nulls({x}), jsonb_strip_nulls({x});
--: json_strip_nulls json | jsonb_strip_nulls jsonb
--> '[{"f1":1, "f2":null}, 2, null, 3]' => [{"f1":1},2,null,3] | [{"f1": 1}, 2, null, 3]
--> 'null' => null | null
--> '{"a":null,"b":{"c":null}}' => {"b":{}} | {"b": {}}
-- each x: '[{"f1":1,"f2":null}, 2, []]' | '{}' | '{"a":{"b":{}}}' | '"x"'
select jsonb_pretty({x});
--: jsonb_pretty text
--> '[{"f1":1,"f2":null}, 2, []]' => "[\n    {\n        \"f1\": 1,\n        \"f2\": null\n    },\n    2,\n    [\n    ]\n]"
--> '{}' => "{\n}"
--> '{"a":{"b":{}}}' => "{\n    \"a\": {\n        \"b\": {\n        }\n    }\n}"
--> '"x"' => "\"x\""

-- ## Casts

-- each x: '1' | '1.7' | '"12"' | 'true' | 'null' | '[1]' | '1e400'
-- each t: int | int8 | int2 | numeric | float8 | float4 | bool | text
select (jsonb {x})::{t};
--: int4 integer
--> '1', int => 1
--: int8 bigint
--> '1', int8 => 1
--: int2 smallint
--> '1', int2 => 1
--: numeric numeric
--> '1', numeric => 1
--: float8 double precision
--> '1', float8 => 1
--: float4 real
--> '1', float4 => 1
--> '1', bool => ERROR 22023: cannot cast jsonb numeric to type boolean
--: text text
--> '1', text => 1
--: int4 integer
--> '1.7', int => 2
--: int8 bigint
--> '1.7', int8 => 2
--: int2 smallint
--> '1.7', int2 => 2
--: numeric numeric
--> '1.7', numeric => 1.7
--: float8 double precision
--> '1.7', float8 => 1.7
--: float4 real
--> '1.7', float4 => 1.7
--> '1.7', bool => ERROR 22023: cannot cast jsonb numeric to type boolean
--: text text
--> '1.7', text => 1.7
--> '"12"', int => ERROR 22023: cannot cast jsonb string to type integer
--> '"12"', int8 => ERROR 22023: cannot cast jsonb string to type bigint
--> '"12"', int2 => ERROR 22023: cannot cast jsonb string to type smallint
--> '"12"', numeric => ERROR 22023: cannot cast jsonb string to type numeric
--> '"12"', float8 => ERROR 22023: cannot cast jsonb string to type double precision
--> '"12"', float4 => ERROR 22023: cannot cast jsonb string to type real
--> '"12"', bool => ERROR 22023: cannot cast jsonb string to type boolean
--> '"12"', text => "\"12\""
--> 'true', int => ERROR 22023: cannot cast jsonb boolean to type integer
--> 'true', int8 => ERROR 22023: cannot cast jsonb boolean to type bigint
--> 'true', int2 => ERROR 22023: cannot cast jsonb boolean to type smallint
--> 'true', numeric => ERROR 22023: cannot cast jsonb boolean to type numeric
--> 'true', float8 => ERROR 22023: cannot cast jsonb boolean to type double precision
--> 'true', float4 => ERROR 22023: cannot cast jsonb boolean to type real
--: bool boolean
--> 'true', bool => t
--: text text
--> 'true', text => true
--> 'null', int => ERROR 22023: cannot cast jsonb null to type integer
--> 'null', int8 => ERROR 22023: cannot cast jsonb null to type bigint
--> 'null', int2 => ERROR 22023: cannot cast jsonb null to type smallint
--> 'null', numeric => ERROR 22023: cannot cast jsonb null to type numeric
--> 'null', float8 => ERROR 22023: cannot cast jsonb null to type double precision
--> 'null', float4 => ERROR 22023: cannot cast jsonb null to type real
--> 'null', bool => ERROR 22023: cannot cast jsonb null to type boolean
--> 'null', text => null
--> '[1]', int => ERROR 22023: cannot cast jsonb array to type integer
--> '[1]', int8 => ERROR 22023: cannot cast jsonb array to type bigint
--> '[1]', int2 => ERROR 22023: cannot cast jsonb array to type smallint
--> '[1]', numeric => ERROR 22023: cannot cast jsonb array to type numeric
--> '[1]', float8 => ERROR 22023: cannot cast jsonb array to type double precision
--> '[1]', float4 => ERROR 22023: cannot cast jsonb array to type real
--> '[1]', bool => ERROR 22023: cannot cast jsonb array to type boolean
--> '[1]', text => [1]
--> '1e400', int => ERROR 22003: integer out of range
--> '1e400', int8 => ERROR 22003: bigint out of range
--> '1e400', int2 => ERROR 22003: smallint out of range
--: numeric numeric
--> '1e400', numeric => 10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
--> '1e400', float8 => ERROR 22003: "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" is out of range for type double precision
--> '1e400', float4 => ERROR 22003: "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" is out of range for type real
--> '1e400', bool => ERROR 22023: cannot cast jsonb numeric to type boolean
--: text text
--> '1e400', text => 10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
select '{"a":1}'::json::jsonb, '{"b":1,"a":2}'::jsonb::json, '{"a": 1}'::jsonb::text, '5'::text::jsonb;
--: jsonb jsonb | json json | text text | jsonb jsonb
--> {"a": 1} | {"a": 2, "b": 1} | {"a": 1} | 5
select 5::jsonb;
--> ERROR 42846: cannot cast type integer to jsonb [POSITION: 9]

-- ## Order: objects above arrays above booleans above numbers above strings above null

select x from (values (jsonb '{}'), ('[]'), ('true'), ('false'), ('2'), ('10'), ('"b"'), ('"a"'), ('null'), ('[1]'), ('[1,2]'), ('[2]'), ('{"a":1}'), ('{"a":1,"b":2}'), ('{"b":1}')) v (x) order by x;
--: x jsonb
--> []
--> null
--> "\"a\""
--> "\"b\""
--> 2
--> 10
--> false
--> true
--> [1]
--> [2]
--> [1, 2]
--> {}
--> {"a": 1}
--> {"b": 1}
--> {"a": 1, "b": 2}
select distinct x from (values (jsonb '1.0'), ('1'), ('1.00'), ('"1"')) v (x) order by 1;
--: x jsonb
--> "\"1\""
--> 1.0
select x, count(*) from (values (jsonb '{"a":1,"b":2}'), ('{"b":2,"a":1}'), ('[1]')) v (x) group by x order by 1;
--: x jsonb | count bigint
--> [1] | 1
--> {"a": 1, "b": 2} | 2

-- ## Aggregates

create table reading (at int, name text, value numeric);
insert into reading values (1, 'x', 1.5), (2, 'y', null), (3, null, 3), (1, 'x', 2);
--> INSERT 0 4
-- each t: json | jsonb
select {t}_agg(value order by at, value), {t}_agg(r order by at, value), {t}_agg(distinct at) from reading r;
--: json_agg json | json_agg json | json_agg json
--> json => [1.5, 2, null, 3] | "[{\"at\":1,\"name\":\"x\",\"value\":1.5}, \n {\"at\":1,\"name\":\"x\",\"value\":2}, \n {\"at\":2,\"name\":\"y\",\"value\":null}, \n {\"at\":3,\"name\":null,\"value\":3}]" | [1, 2, 3]
--: jsonb_agg jsonb | jsonb_agg jsonb | jsonb_agg jsonb
--> jsonb => [1.5, 2, null, 3] | [{"at": 1, "name": "x", "value": 1.5}, {"at": 1, "name": "x", "value": 2}, {"at": 2, "name": "y", "value": null}, {"at": 3, "name": null, "value": 3}] | [1, 2, 3]
-- each t: json | jsonb
select {t}_object_agg(coalesce(name, 'none'), value order by at, value) from reading;
--: json_object_agg json
--> json => { "x" : 1.5, "x" : 2, "y" : null, "none" : 3 }
--: jsonb_object_agg jsonb
--> jsonb => {"x": 2, "y": null, "none": 3}
-- each t: json | jsonb
select {t}_object_agg(name, value) from reading;
--> json => ERROR 22023: field name must not be null
--> jsonb => ERROR 22023: field name must not be null
select json_agg(x) from (select 1 as x where false) t;
--: json_agg json
--> ∅
select row_to_json(r) from reading r order by at, value;
--: row_to_json json
--> {"at":1,"name":"x","value":1.5}
--> {"at":1,"name":"x","value":2}
--> {"at":2,"name":"y","value":null}
--> {"at":3,"name":null,"value":3}
select jsonb_agg(jsonb_build_object('n', name) order by at) filter (where value > 1) from reading;
--: jsonb_agg jsonb
--> [{"n": "x"}, {"n": "x"}, {"n": null}]
select to_jsonb(r) - 'at' from reading r where name = 'y';
--: ?column? jsonb
--> {"name": "y", "value": null}
drop table reading;

-- ## In tables

create table doc (id int primary key, body jsonb not null default '{}');
insert into doc values (1, '{"tags":["a","b"],"size":{"w":1,"h":2}}'), (2, '{"tags":[],"size":null}'), (3, default);
--> INSERT 0 3
update doc set body['size']['w'] = '10' where id = 1 returning body;
--: body jsonb
--> {"size": {"h": 2, "w": 10}, "tags": ["a", "b"]}
--> UPDATE 1
update doc set body['new'][2] = '"third"' where id = 3 returning body;
--: body jsonb
--> {"new": [null, null, "third"]}
--> UPDATE 1
update doc set body['tags'] = '"scalar"' where id = 2 returning body;
--: body jsonb
--> {"size": null, "tags": "scalar"}
--> UPDATE 1
update doc set body['tags'][0] = '1' where id = 2;
--> ERROR 22023: cannot replace existing key [DETAIL: The path assumes key is a composite object, but it is a scalar value.]
update doc set body = body || '{"n": 1}' - 'tags' where body ? 'tags' returning id, body;
--> ERROR 42725: operator is not unique: unknown - unknown [HINT: Could not choose a best candidate operator. You might need to add explicit type casts.] [POSITION: 42]
select id, t from doc, jsonb_array_elements_text(body -> 'new') t order by 1;
--: id integer | t text
--> 3 | ∅
--> 3 | ∅
--> 3 | third
select id from doc where body @> '{"n":1}' order by id;
--: id integer
select id, k, v from doc, jsonb_each(body) as e (k, v) order by id, k;
--: id integer | k text | v jsonb
--> 1 | size | {"h": 2, "w": 10}
--> 1 | tags | ["a", "b"]
--> 2 | size | null
--> 2 | tags | "\"scalar\""
--> 3 | new | [null, null, "third"]
select id from doc where body ->> 'n' = '1' order by (body -> 'size' ->> 'w')::int nulls first;
--: id integer
drop table doc;

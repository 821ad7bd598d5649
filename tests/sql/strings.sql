-- # Strings: section 9.4 of PostgreSQL's manual
--
-- The functions and operators of text, varchar and char. Arguments that are NULL make the result NULL unless said otherwise.

-- ## Concatenation

select 'Post' || 'greSQL', 'Value: ' || 42, 1.5 || ' of', null || 'x', 'a' || 'b' || 'c';
--: ?column? text | ?column? text | ?column? text | ?column? text | ?column? text
--> PostgreSQL | Value: 42 | 1.5 of | ∅ | abc

-- each x: 'abc' | '' | null | 42 | 1.50 | true | date '2024-02-29' | array[1,2] | 'é'::char(3) | 'v'::varchar
select concat({x}, '-', {x}), concat_ws('/', {x}, null, 'end'), pg_typeof({x});
--: concat text | concat_ws text | pg_typeof regtype
--> 'abc' => abc-abc | abc/end | unknown
--> '' => - | /end | unknown
--> null => - | end | unknown
--> 42 => 42-42 | 42/end | integer
--> 1.50 => 1.50-1.50 | 1.50/end | numeric
--> true => t-t | t/end | boolean
--> date '2024-02-29' => 2024-02-29-2024-02-29 | 2024-02-29/end | date
--> array[1,2] => {1,2}-{1,2} | {1,2}/end | integer[]
--> 'é'::char(3) => "é  -é  " | é  /end | character
--> 'v'::varchar => v-v | v/end | character varying

-- each x: 'a'::char(5) | 'a'::varchar(5) | 'a '::text | 'abcdefgh'::char(3) | 'abcdefgh'::varchar(3) | ''::char(2)
select {x} || '|', length({x}), octet_length({x}), {x} = 'a', {x}::text || '.';
--: ?column? text | length integer | octet_length integer | ?column? boolean | ?column? text
--> 'a'::char(5) => "a|" | 1 | 5 | t | a.
--> 'a'::varchar(5) => "a|" | 1 | 1 | t | a.
--> 'a '::text => "a |" | 2 | 2 | f | a .
--> 'abcdefgh'::char(3) => "abc|" | 3 | 3 | f | abc.
--> 'abcdefgh'::varchar(3) => "abc|" | 3 | 3 | f | abc.
--> ''::char(2) => "|" | 0 | 2 | f | .

-- ## Length

-- each x: 'jose' | '' | 'Grüße' | '日本語' | '🦀' | null | ' a ' | 'ab '::char(6)
select length({x}), char_length({x}), character_length({x}), octet_length({x}), bit_length({x});
--: length integer | char_length integer | character_length integer | octet_length integer | bit_length integer
--> 'jose' => 4 | 4 | 4 | 4 | 32
--> '' => 0 | 0 | 0 | 0 | 0
--> 'Grüße' => 5 | 5 | 5 | 7 | 56
--> '日本語' => 3 | 3 | 3 | 9 | 72
--> '🦀' => 1 | 1 | 1 | 4 | 32
--> null => ∅ | ∅ | ∅ | ∅ | ∅
--> ' a ' => 3 | 3 | 3 | 3 | 24
--> 'ab '::char(6) => 2 | 2 | 2 | 6 | 16

-- ## Case

-- each x: 'Tide LOCK' | 'ÄÖÜ straße' | '' | null | 'hello-world foo_bar 12ab' | 'O''NEIL' | '123'
select lower({x}), upper({x}), initcap({x});
--: lower text | upper text | initcap text
--> 'Tide LOCK' => tide lock | TIDE LOCK | Tide Lock
--> 'ÄÖÜ straße' => äöü straße | ÄÖÜ STRAßE | Äöü Straße
--> '' => "" | "" | ""
--> null => ∅ | ∅ | ∅
--> 'hello-world foo_bar 12ab' => hello-world foo_bar 12ab | HELLO-WORLD FOO_BAR 12AB | Hello-World Foo_Bar 12ab
--> 'O''NEIL' => o'neil | O'NEIL | O'Neil
--> '123' => 123 | 123 | 123

-- ## Parts

-- each x: 'PostgreSQL' | 'Grüße' | '' | null
-- each n: 0 | 1 | 2 | 4 | 100 | -1 | -3 | -100 | null
select left({x}, {n}), right({x}, {n});
--: left text | right text
--> 'PostgreSQL', 0 => "" | ""
--> 'PostgreSQL', 1 => P | L
--> 'PostgreSQL', 2 => Po | QL
--> 'PostgreSQL', 4 => Post | eSQL
--> 'PostgreSQL', 100 => PostgreSQL | PostgreSQL
--> 'PostgreSQL', -1 => PostgreSQ | ostgreSQL
--> 'PostgreSQL', -3 => Postgre | tgreSQL
--> 'PostgreSQL', -100 => "" | ""
--> 'PostgreSQL', null => ∅ | ∅
--> 'Grüße', 0 => "" | ""
--> 'Grüße', 1 => G | e
--> 'Grüße', 2 => Gr | ße
--> 'Grüße', 4 => Grüß | rüße
--> 'Grüße', 100 => Grüße | Grüße
--> 'Grüße', -1 => Grüß | rüße
--> 'Grüße', -3 => Gr | ße
--> 'Grüße', -100 => "" | ""
--> 'Grüße', null => ∅ | ∅
--> '', 0 => "" | ""
--> '', 1 => "" | ""
--> '', 2 => "" | ""
--> '', 4 => "" | ""
--> '', 100 => "" | ""
--> '', -1 => "" | ""
--> '', -3 => "" | ""
--> '', -100 => "" | ""
--> '', null => ∅ | ∅
--> null, 0 => ∅ | ∅
--> null, 1 => ∅ | ∅
--> null, 2 => ∅ | ∅
--> null, 4 => ∅ | ∅
--> null, 100 => ∅ | ∅
--> null, -1 => ∅ | ∅
--> null, -3 => ∅ | ∅
--> null, -100 => ∅ | ∅
--> null, null => ∅ | ∅

-- each x: 'Thomas' | 'Grüße' | ''
-- each from: 1 | 2 | 0 | -2 | 7 | null
select substring({x} from {from}), substr({x}, {from});
--: substring text | substr text
--> 'Thomas', 1 => Thomas | Thomas
--> 'Thomas', 2 => homas | homas
--> 'Thomas', 0 => Thomas | Thomas
--> 'Thomas', -2 => Thomas | Thomas
--> 'Thomas', 7 => "" | ""
--> 'Thomas', null => ∅ | ∅
--> 'Grüße', 1 => Grüße | Grüße
--> 'Grüße', 2 => rüße | rüße
--> 'Grüße', 0 => Grüße | Grüße
--> 'Grüße', -2 => Grüße | Grüße
--> 'Grüße', 7 => "" | ""
--> 'Grüße', null => ∅ | ∅
--> '', 1 => "" | ""
--> '', 2 => "" | ""
--> '', 0 => "" | ""
--> '', -2 => "" | ""
--> '', 7 => "" | ""
--> '', null => ∅ | ∅

-- each x: 'Thomas' | 'Grüße'
-- each from ~ for: 1 ~ 2 | 2 ~ 3 | 0 ~ 2 | -1 ~ 3 | 3 ~ 100 | 5 ~ 0 | 2 ~ null | 7 ~ 1
select substring({x} from {from} for {for}), substring({x}, {from}, {for}), substr({x}, {from}, {for});
--: substring text | substring text | substr text
--> 'Thomas', 1, 2 => Th | Th | Th
--> 'Thomas', 2, 3 => hom | hom | hom
--> 'Thomas', 0, 2 => T | T | T
--> 'Thomas', -1, 3 => T | T | T
--> 'Thomas', 3, 100 => omas | omas | omas
--> 'Thomas', 5, 0 => "" | "" | ""
--> 'Thomas', 2, null => ∅ | ∅ | ∅
--> 'Thomas', 7, 1 => "" | "" | ""
--> 'Grüße', 1, 2 => Gr | Gr | Gr
--> 'Grüße', 2, 3 => rüß | rüß | rüß
--> 'Grüße', 0, 2 => G | G | G
--> 'Grüße', -1, 3 => G | G | G
--> 'Grüße', 3, 100 => üße | üße | üße
--> 'Grüße', 5, 0 => "" | "" | ""
--> 'Grüße', 2, null => ∅ | ∅ | ∅
--> 'Grüße', 7, 1 => "" | "" | ""

select substring('Thomas' for 3), substring('Thomas' for 2 from 3);
--: substring text | substring text
--> Tho | om

-- A negative length is an error.
-- each f: substring('Thomas', 2, -1) | substr('Thomas', 2, -1) | substring('Thomas' from 2 for -1) | substr('Thomas', 2147483647, 2147483647)
select {f};
--> substring('Thomas', 2, -1) => ERROR 22011: negative substring length not allowed
--> substr('Thomas', 2, -1) => ERROR 22011: negative substring length not allowed
--> substring('Thomas' from 2 for -1) => ERROR 22011: negative substring length not allowed
--: substr text
--> substr('Thomas', 2147483647, 2147483647) => ""

-- each x: 'Thomas' | 'foobar'
-- each p: '...$' | 'o.b' | 'o(.)b' | '(?:o)(.)' | 'z' | '^' | '' | null
select substring({x} from {p}), substring({x}, {p});
--: substring text | substring text
--> 'Thomas', '...$' => mas | mas
--> 'Thomas', 'o.b' => ∅ | ∅
--> 'Thomas', 'o(.)b' => ∅ | ∅
--> 'Thomas', '(?:o)(.)' => m | m
--> 'Thomas', 'z' => ∅ | ∅
--> 'Thomas', '^' => "" | ""
--> 'Thomas', '' => "" | ""
--> 'Thomas', null => ∅ | ∅
--> 'foobar', '...$' => bar | bar
--> 'foobar', 'o.b' => oob | oob
--> 'foobar', 'o(.)b' => o | o
--> 'foobar', '(?:o)(.)' => o | o
--> 'foobar', 'z' => ∅ | ∅
--> 'foobar', '^' => "" | ""
--> 'foobar', '' => "" | ""
--> 'foobar', null => ∅ | ∅

select substring('Thomas' similar '%#"o_a#"_' escape '#'), substring('Thomas' from '%#"o_a#"_' for '#');
--: substring text | substring text
--> oma | oma

-- each d ~ n: ',' ~ 1 | ',' ~ 2 | ',' ~ 4 | ',' ~ -1 | ',' ~ -4 | '' ~ 1 | '' ~ 2 | 'b,' ~ 2 | ',' ~ null | 'zz' ~ 1 | 'zz' ~ -1
select split_part('a,b,c', {d}, {n});
--: split_part text
--> ',', 1 => a
--> ',', 2 => b
--> ',', 4 => ""
--> ',', -1 => c
--> ',', -4 => ""
--> '', 1 => a,b,c
--> '', 2 => ""
--> 'b,', 2 => c
--> ',', null => ∅
--> 'zz', 1 => a,b,c
--> 'zz', -1 => a,b,c
select split_part('a,b', ',', 0);
--> ERROR 22023: field position must not be zero

-- ## Trimming

-- each x: '  yxTomxx ' | 'xxTomyy' | '' | null
select trim({x}), btrim({x}), ltrim({x}), rtrim({x}), trim(both 'xy' from {x}), trim(leading 'x' from {x}), trim(trailing 'xy' from {x});
--: btrim text | btrim text | ltrim text | rtrim text | btrim text | ltrim text | rtrim text
--> '  yxTomxx ' => yxTomxx | yxTomxx | "yxTomxx " | "  yxTomxx" | "  yxTomxx " | "  yxTomxx " | "  yxTomxx "
--> 'xxTomyy' => xxTomyy | xxTomyy | xxTomyy | xxTomyy | Tom | Tomyy | xxTom
--> '' => "" | "" | "" | "" | "" | "" | ""
--> null => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅

select trim(both from 'yxTomxx', 'xyz'), btrim('xyxtrimyyx', 'xyz'), ltrim('zzzytest', 'xyz'), rtrim('testxxzx', 'xyz');
--: btrim text | btrim text | ltrim text | rtrim text
--> Tom | trim | test | test
select trim(leading from '  a '), trim('x' from 'xax'), trim(trailing from ' a ');
--: ltrim text | btrim text | rtrim text
--> "a " | a | " a"

-- ## Padding and repetition

-- each x: 'hi' | 'Grüße' | '' | null
-- each n: 0 | 3 | 8 | -1 | null
-- each fill: 'xy' | '' | ' ' | 'ü'
select lpad({x}, {n}, {fill}), rpad({x}, {n}, {fill});
--: lpad text | rpad text
--> 'hi', 0, 'xy' => "" | ""
--> 'hi', 0, '' => "" | ""
--> 'hi', 0, ' ' => "" | ""
--> 'hi', 0, 'ü' => "" | ""
--> 'hi', 3, 'xy' => xhi | hix
--> 'hi', 3, '' => hi | hi
--> 'hi', 3, ' ' => " hi" | "hi "
--> 'hi', 3, 'ü' => ühi | hiü
--> 'hi', 8, 'xy' => xyxyxyhi | hixyxyxy
--> 'hi', 8, '' => hi | hi
--> 'hi', 8, ' ' => "      hi" | "hi      "
--> 'hi', 8, 'ü' => üüüüüühi | hiüüüüüü
--> 'hi', -1, 'xy' => "" | ""
--> 'hi', -1, '' => "" | ""
--> 'hi', -1, ' ' => "" | ""
--> 'hi', -1, 'ü' => "" | ""
--> 'hi', null, 'xy' => ∅ | ∅
--> 'hi', null, '' => ∅ | ∅
--> 'hi', null, ' ' => ∅ | ∅
--> 'hi', null, 'ü' => ∅ | ∅
--> 'Grüße', 0, 'xy' => "" | ""
--> 'Grüße', 0, '' => "" | ""
--> 'Grüße', 0, ' ' => "" | ""
--> 'Grüße', 0, 'ü' => "" | ""
--> 'Grüße', 3, 'xy' => Grü | Grü
--> 'Grüße', 3, '' => Grü | Grü
--> 'Grüße', 3, ' ' => Grü | Grü
--> 'Grüße', 3, 'ü' => Grü | Grü
--> 'Grüße', 8, 'xy' => xyxGrüße | Grüßexyx
--> 'Grüße', 8, '' => Grüße | Grüße
--> 'Grüße', 8, ' ' => "   Grüße" | "Grüße   "
--> 'Grüße', 8, 'ü' => üüüGrüße | Grüßeüüü
--> 'Grüße', -1, 'xy' => "" | ""
--> 'Grüße', -1, '' => "" | ""
--> 'Grüße', -1, ' ' => "" | ""
--> 'Grüße', -1, 'ü' => "" | ""
--> 'Grüße', null, 'xy' => ∅ | ∅
--> 'Grüße', null, '' => ∅ | ∅
--> 'Grüße', null, ' ' => ∅ | ∅
--> 'Grüße', null, 'ü' => ∅ | ∅
--> '', 0, 'xy' => "" | ""
--> '', 0, '' => "" | ""
--> '', 0, ' ' => "" | ""
--> '', 0, 'ü' => "" | ""
--> '', 3, 'xy' => xyx | xyx
--> '', 3, '' => "" | ""
--> '', 3, ' ' => "   " | "   "
--> '', 3, 'ü' => üüü | üüü
--> '', 8, 'xy' => xyxyxyxy | xyxyxyxy
--> '', 8, '' => "" | ""
--> '', 8, ' ' => "        " | "        "
--> '', 8, 'ü' => üüüüüüüü | üüüüüüüü
--> '', -1, 'xy' => "" | ""
--> '', -1, '' => "" | ""
--> '', -1, ' ' => "" | ""
--> '', -1, 'ü' => "" | ""
--> '', null, 'xy' => ∅ | ∅
--> '', null, '' => ∅ | ∅
--> '', null, ' ' => ∅ | ∅
--> '', null, 'ü' => ∅ | ∅
--> null, 0, 'xy' => ∅ | ∅
--> null, 0, '' => ∅ | ∅
--> null, 0, ' ' => ∅ | ∅
--> null, 0, 'ü' => ∅ | ∅
--> null, 3, 'xy' => ∅ | ∅
--> null, 3, '' => ∅ | ∅
--> null, 3, ' ' => ∅ | ∅
--> null, 3, 'ü' => ∅ | ∅
--> null, 8, 'xy' => ∅ | ∅
--> null, 8, '' => ∅ | ∅
--> null, 8, ' ' => ∅ | ∅
--> null, 8, 'ü' => ∅ | ∅
--> null, -1, 'xy' => ∅ | ∅
--> null, -1, '' => ∅ | ∅
--> null, -1, ' ' => ∅ | ∅
--> null, -1, 'ü' => ∅ | ∅
--> null, null, 'xy' => ∅ | ∅
--> null, null, '' => ∅ | ∅
--> null, null, ' ' => ∅ | ∅
--> null, null, 'ü' => ∅ | ∅

select lpad('hi', 5), rpad('hi', 5) || '|';
--: lpad text | ?column? text
--> "   hi" | "hi   |"

-- each n: 0 | 1 | 3 | -1 | null
select repeat('Pg', {n});
--: repeat text
--> 0 => ""
--> 1 => Pg
--> 3 => PgPgPg
--> -1 => ""
--> null => ∅

-- ## Searching and replacing

-- each x: 'Thomas' | 'banana' | '' | null
-- each s: 'om' | 'a' | 'an' | '' | 'zz' | null
select position({s} in {x}), strpos({x}, {s}), replace({x}, {s}, '<>'), starts_with({x}, {s}), {x} ^@ {s};
--: position integer | strpos integer | replace text | starts_with boolean | ?column? boolean
--> 'Thomas', 'om' => 3 | 3 | Th<>as | f | f
--> 'Thomas', 'a' => 5 | 5 | Thom<>s | f | f
--> 'Thomas', 'an' => 0 | 0 | Thomas | f | f
--> 'Thomas', '' => 1 | 1 | Thomas | t | t
--> 'Thomas', 'zz' => 0 | 0 | Thomas | f | f
--> 'Thomas', null => ∅ | ∅ | ∅ | ∅ | ∅
--> 'banana', 'om' => 0 | 0 | banana | f | f
--> 'banana', 'a' => 2 | 2 | b<>n<>n<> | f | f
--> 'banana', 'an' => 2 | 2 | b<><>a | f | f
--> 'banana', '' => 1 | 1 | banana | t | t
--> 'banana', 'zz' => 0 | 0 | banana | f | f
--> 'banana', null => ∅ | ∅ | ∅ | ∅ | ∅
--> '', 'om' => 0 | 0 | "" | f | f
--> '', 'a' => 0 | 0 | "" | f | f
--> '', 'an' => 0 | 0 | "" | f | f
--> '', '' => 1 | 1 | "" | t | t
--> '', 'zz' => 0 | 0 | "" | f | f
--> '', null => ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'om' => ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'a' => ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'an' => ∅ | ∅ | ∅ | ∅ | ∅
--> null, '' => ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'zz' => ∅ | ∅ | ∅ | ∅ | ∅
--> null, null => ∅ | ∅ | ∅ | ∅ | ∅

-- each x: '12345' | 'banana' | '' | null
-- each from ~ to: '143' ~ 'ax' | 'an' ~ 'AN' | 'abc' ~ '' | '' ~ 'x' | 'aa' ~ 'xy' | null ~ 'x'
select translate({x}, {from}, {to});
--: translate text
--> '12345', '143', 'ax' => a2x5
--> '12345', 'an', 'AN' => 12345
--> '12345', 'abc', '' => 12345
--> '12345', '', 'x' => 12345
--> '12345', 'aa', 'xy' => 12345
--> '12345', null, 'x' => ∅
--> 'banana', '143', 'ax' => banana
--> 'banana', 'an', 'AN' => bANANA
--> 'banana', 'abc', '' => nn
--> 'banana', '', 'x' => banana
--> 'banana', 'aa', 'xy' => bxnxnx
--> 'banana', null, 'x' => ∅
--> '', '143', 'ax' => ""
--> '', 'an', 'AN' => ""
--> '', 'abc', '' => ""
--> '', '', 'x' => ""
--> '', 'aa', 'xy' => ""
--> '', null, 'x' => ∅
--> null, '143', 'ax' => ∅
--> null, 'an', 'AN' => ∅
--> null, 'abc', '' => ∅
--> null, '', 'x' => ∅
--> null, 'aa', 'xy' => ∅
--> null, null, 'x' => ∅

-- each x: 'Txxxxas' | 'Grüße'
-- each p: from 2 for 4 | from 2 | from 1 for 0 | from 20 for 1 | from 3 for 100
select overlay({x} placing 'hom' {p});
--: overlay text
--> 'Txxxxas', from 2 for 4 => Thomas
--> 'Txxxxas', from 2 => Thomxas
--> 'Txxxxas', from 1 for 0 => homTxxxxas
--> 'Txxxxas', from 20 for 1 => Txxxxashom
--> 'Txxxxas', from 3 for 100 => Txhom
--> 'Grüße', from 2 for 4 => Ghom
--> 'Grüße', from 2 => Ghome
--> 'Grüße', from 1 for 0 => homGrüße
--> 'Grüße', from 20 for 1 => Grüßehom
--> 'Grüße', from 3 for 100 => Grhom

select overlay('Txxxxas', 'hom', 2, 4), overlay('abc' placing 'x' from 0);
--> ERROR 22011: negative substring length not allowed

-- each x: 'abcde' | '' | 'aéb' | null
select reverse({x}), ascii({x}), md5({x}), quote_literal({x}), quote_ident({x}), quote_nullable({x});
--: reverse text | ascii integer | md5 text | quote_literal text | quote_ident text | quote_nullable text
--> 'abcde' => edcba | 97 | ab56b4d92b40713acc5af89985d4b786 | 'abcde' | abcde | 'abcde'
--> '' => "" | 0 | d41d8cd98f00b204e9800998ecf8427e | '' | "\"\"" | ''
--> 'aéb' => béa | 97 | 669240e0a2c2ae39fda9944f1492162d | 'aéb' | "\"aéb\"" | 'aéb'
--> null => ∅ | ∅ | ∅ | ∅ | ∅ | NULL

-- each n: 65 | 233 | 128512 | 0 | -1 | 1114112 | 55296
select chr({n});
--: chr text
--> 65 => A
--> 233 => é
--> 128512 => 😀
--> 0 => ERROR 54000: null character not permitted
--> -1 => ERROR 22023: character number must be positive
--> 1114112 => ERROR 54000: requested character too large for encoding: 1114112
--> 55296 => ERROR 54000: requested character not valid for encoding: 55296

-- each x: 'Foo bar' | 'select' | 'foo' | '1a' | 'a"b' | 'a_b1' | '' | 'Ä' | 'table' | 'int' | 'a$b'
select quote_ident({x});
--: quote_ident text
--> 'Foo bar' => "\"Foo bar\""
--> 'select' => "\"select\""
--> 'foo' => foo
--> '1a' => "\"1a\""
--> 'a"b' => "\"a\"\"b\""
--> 'a_b1' => a_b1
--> '' => "\"\""
--> 'Ä' => "\"Ä\""
--> 'table' => "\"table\""
--> 'int' => "\"int\""
--> 'a$b' => "\"a$b\""

-- each x: 'O''Reilly' | 'back\slash' | 42.5 | true | null | 'plain' | array['a','b'] | date '2020-01-01'
select quote_literal({x}), quote_nullable({x});
--: quote_literal text | quote_nullable text
--> 'O''Reilly' => 'O''Reilly' | 'O''Reilly'
--> 'back\slash' => E'back\\slash' | E'back\\slash'
--> 42.5 => '42.5' | '42.5'
--> true => 'true' | 'true'
--> null => ∅ | NULL
--> 'plain' => 'plain' | 'plain'
--> array['a','b'] => '{a,b}' | '{a,b}'
--> date '2020-01-01' => '2020-01-01' | '2020-01-01'

-- each x: 255 | 0 | -1 | 2147483647 | -2147483648 | 4294967296
select to_hex({x}), to_hex({x}::bigint);
--: to_hex text | to_hex text
--> 255 => ff | ff
--> 0 => 0 | 0
--> -1 => ffffffff | ffffffffffffffff
--> 2147483647 => 7fffffff | 7fffffff
--> -2147483648 => 80000000 | ffffffff80000000
--> 4294967296 => 100000000 | 100000000

-- ## format

-- each f ~ a: 'Hello %s' ~ 'World' | 'a%%b' ~ 1 | 'Hello %s, %1$s' ~ 'World' | '%I' ~ 'Foo bar' | '%L' ~ 'O''Reilly' | '%L' ~ null | '%s' ~ null | '%10s|' ~ 'foo' | '%-10s|' ~ 'foo' | '%I' ~ 'select' | '%1$s %1$s' ~ 'x' | '%s' ~ array[1,2] | '%s' ~ 1.50
--  | '%3$s' ~ 'x' | '%s %s' ~ 'x' | '%' ~ 'x' | '%y' ~ 'x' | '%I' ~ null | '%0$s' ~ 'x' | '%2147483648$s' ~ 'x'
select format({f}, {a});
--: format text
--> 'Hello %s', 'World' => Hello World
--> 'a%%b', 1 => a%b
--> 'Hello %s, %1$s', 'World' => Hello World, World
--> '%I', 'Foo bar' => "\"Foo bar\""
--> '%L', 'O''Reilly' => 'O''Reilly'
--> '%L', null => NULL
--> '%s', null => ""
--> '%10s|', 'foo' => "       foo|"
--> '%-10s|', 'foo' => "foo       |"
--> '%I', 'select' => "\"select\""
--> '%1$s %1$s', 'x' => x x
--> '%s', array[1,2] => {1,2}
--> '%s', 1.50 => 1.50
--> '%3$s', 'x' => ERROR 22023: too few arguments for format()
--> '%s %s', 'x' => ERROR 22023: too few arguments for format()
--> '%', 'x' => ERROR 22023: unterminated format() type specifier [HINT: For a single "%" use "%%".]
--> '%y', 'x' => ERROR 22023: unrecognized format() type specifier "y" [HINT: For a single "%" use "%%".]
--> '%I', null => ERROR 22004: null values cannot be formatted as an SQL identifier
--> '%0$s', 'x' => ERROR 22023: format specifies argument 0, but arguments are numbered from 1
--> '%2147483648$s', 'x' => ERROR 22003: number is out of range

select format('Testing %3$s, %2$s, %s', 'one', 'two', 'three'), format('|%*s|', 10, 'foo'), format('|%*s|', -10, 'foo'), format('|%-*s|', 10, 'foo'), format('|%2$*1$s|', 10, 'foo'), format('no arguments');
--: format text | format text | format text | format text | format text | format text
--> Testing three, two, three | "|       foo|" | "|foo       |" | "|foo       |" | "|       foo|" | no arguments
select format('INSERT INTO %I VALUES(%L)', 'locations', E'C:\\Program Files'), format(null, 'a'), format('%s', variadic array['a','b']), format('%2$s %1$s', variadic array['a','b']);
--: format text | format text | format text | format text
--> INSERT INTO locations VALUES(E'C:\\Program Files') | ∅ | a | b a
select concat(variadic array['a', null, 'b']), concat_ws(',', variadic array['a', null, 'b']), concat_ws(null, 'a', 'b'), concat_ws('', 'a', 'b');
--: concat text | concat_ws text | concat_ws text | concat_ws text
--> ab | a,b | ∅ | ab

-- ## LIKE and SIMILAR TO

-- each x: 'abc' | 'a_c' | 'a%c' | '' | 'aXc' | 'ABC' | 'a\c' | null
-- each p: 'abc' | 'a%' | '_b_' | 'c' | '%' | '' | 'a\%c' | 'a\\c' | '%b%'
select {x} like {p}, {x} not like {p}, {x} ilike {p}, {x} ~~ {p}, {x} !~~ {p}, {x} ~~* {p}, {x} !~~* {p};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> 'abc', 'abc' => t | f | t | t | f | t | f
--> 'abc', 'a%' => t | f | t | t | f | t | f
--> 'abc', '_b_' => t | f | t | t | f | t | f
--> 'abc', 'c' => f | t | f | f | t | f | t
--> 'abc', '%' => t | f | t | t | f | t | f
--> 'abc', '' => f | t | f | f | t | f | t
--> 'abc', 'a\%c' => f | t | f | f | t | f | t
--> 'abc', 'a\\c' => f | t | f | f | t | f | t
--> 'abc', '%b%' => t | f | t | t | f | t | f
--> 'a_c', 'abc' => f | t | f | f | t | f | t
--> 'a_c', 'a%' => t | f | t | t | f | t | f
--> 'a_c', '_b_' => f | t | f | f | t | f | t
--> 'a_c', 'c' => f | t | f | f | t | f | t
--> 'a_c', '%' => t | f | t | t | f | t | f
--> 'a_c', '' => f | t | f | f | t | f | t
--> 'a_c', 'a\%c' => f | t | f | f | t | f | t
--> 'a_c', 'a\\c' => f | t | f | f | t | f | t
--> 'a_c', '%b%' => f | t | f | f | t | f | t
--> 'a%c', 'abc' => f | t | f | f | t | f | t
--> 'a%c', 'a%' => t | f | t | t | f | t | f
--> 'a%c', '_b_' => f | t | f | f | t | f | t
--> 'a%c', 'c' => f | t | f | f | t | f | t
--> 'a%c', '%' => t | f | t | t | f | t | f
--> 'a%c', '' => f | t | f | f | t | f | t
--> 'a%c', 'a\%c' => t | f | t | t | f | t | f
--> 'a%c', 'a\\c' => f | t | f | f | t | f | t
--> 'a%c', '%b%' => f | t | f | f | t | f | t
--> '', 'abc' => f | t | f | f | t | f | t
--> '', 'a%' => f | t | f | f | t | f | t
--> '', '_b_' => f | t | f | f | t | f | t
--> '', 'c' => f | t | f | f | t | f | t
--> '', '%' => t | f | t | t | f | t | f
--> '', '' => t | f | t | t | f | t | f
--> '', 'a\%c' => f | t | f | f | t | f | t
--> '', 'a\\c' => f | t | f | f | t | f | t
--> '', '%b%' => f | t | f | f | t | f | t
--> 'aXc', 'abc' => f | t | f | f | t | f | t
--> 'aXc', 'a%' => t | f | t | t | f | t | f
--> 'aXc', '_b_' => f | t | f | f | t | f | t
--> 'aXc', 'c' => f | t | f | f | t | f | t
--> 'aXc', '%' => t | f | t | t | f | t | f
--> 'aXc', '' => f | t | f | f | t | f | t
--> 'aXc', 'a\%c' => f | t | f | f | t | f | t
--> 'aXc', 'a\\c' => f | t | f | f | t | f | t
--> 'aXc', '%b%' => f | t | f | f | t | f | t
--> 'ABC', 'abc' => f | t | t | f | t | t | f
--> 'ABC', 'a%' => f | t | t | f | t | t | f
--> 'ABC', '_b_' => f | t | t | f | t | t | f
--> 'ABC', 'c' => f | t | f | f | t | f | t
--> 'ABC', '%' => t | f | t | t | f | t | f
--> 'ABC', '' => f | t | f | f | t | f | t
--> 'ABC', 'a\%c' => f | t | f | f | t | f | t
--> 'ABC', 'a\\c' => f | t | f | f | t | f | t
--> 'ABC', '%b%' => f | t | t | f | t | t | f
--> 'a\c', 'abc' => f | t | f | f | t | f | t
--> 'a\c', 'a%' => t | f | t | t | f | t | f
--> 'a\c', '_b_' => f | t | f | f | t | f | t
--> 'a\c', 'c' => f | t | f | f | t | f | t
--> 'a\c', '%' => t | f | t | t | f | t | f
--> 'a\c', '' => f | t | f | f | t | f | t
--> 'a\c', 'a\%c' => f | t | f | f | t | f | t
--> 'a\c', 'a\\c' => t | f | t | t | f | t | f
--> 'a\c', '%b%' => f | t | f | f | t | f | t
--> null, 'abc' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'a%' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, '_b_' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'c' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, '%' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, '' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'a\%c' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, 'a\\c' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅
--> null, '%b%' => ∅ | ∅ | ∅ | ∅ | ∅ | ∅ | ∅

select 'a_c' like 'a#_c' escape '#', 'abc' like 'a#_c' escape '#', 'a\c' like 'a\c' escape '', 'abc' like 'abc\';
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> t | f | t | f
select 'abc' like 'a##' escape '##';
--> ERROR 22025: invalid escape string [HINT: Escape string must be empty or one character.]
select like_escape('a%b', '#'), like('abc', 'a%'), notlike('abc', 'a%');
--: like_escape text | like boolean | notlike boolean
--> a%b | t | f

-- each p: 'abc' | 'a' | '%(b|d)%' | '(b|c)%' | 'a(b|x)c' | '[a-c]{3}' | '%b_' | 'a+bc' | '_{3}' | '' | 'a.c' | null
select 'abc' similar to {p}, 'abc' not similar to {p};
--: ?column? boolean | ?column? boolean
--> 'abc' => t | f
--> 'a' => f | t
--> '%(b|d)%' => t | f
--> '(b|c)%' => f | t
--> 'a(b|x)c' => t | f
--> '[a-c]{3}' => t | f
--> '%b_' => t | f
--> 'a+bc' => t | f
--> '_{3}' => t | f
--> '' => f | t
--> 'a.c' => f | t
--> null => ∅ | ∅
select 'a|c' similar to 'a#|c' escape '#', 'abc' similar to 'ab' || 'c';
--: ?column? boolean | ?column? boolean
--> t | t

-- ## Regular expressions

-- each x: 'thomas' | 'Thomas' | '' | 'foobarbequebaz' | E'two\nlines' | null
-- each p: 't.*ma' | '^T' | 'bar|que' | '(?i)THOMAS' | '\d+' | '[[:alpha:]]+$' | 'o{1,2}' | '(a)(.)\1' | '\mfoo' | '^.*$'
select {x} ~ {p}, {x} ~* {p}, {x} !~ {p}, {x} !~* {p};
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> 'thomas', 't.*ma' => t | t | f | f
--> 'thomas', '^T' => f | t | t | f
--> 'thomas', 'bar|que' => f | f | t | t
--> 'thomas', '(?i)THOMAS' => t | t | f | f
--> 'thomas', '\d+' => f | f | t | t
--> 'thomas', '[[:alpha:]]+$' => t | t | f | f
--> 'thomas', 'o{1,2}' => t | t | f | f
--> 'thomas', '(a)(.)\1' => f | f | t | t
--> 'thomas', '\mfoo' => f | f | t | t
--> 'thomas', '^.*$' => t | t | f | f
--> 'Thomas', 't.*ma' => f | t | t | f
--> 'Thomas', '^T' => t | t | f | f
--> 'Thomas', 'bar|que' => f | f | t | t
--> 'Thomas', '(?i)THOMAS' => t | t | f | f
--> 'Thomas', '\d+' => f | f | t | t
--> 'Thomas', '[[:alpha:]]+$' => t | t | f | f
--> 'Thomas', 'o{1,2}' => t | t | f | f
--> 'Thomas', '(a)(.)\1' => f | f | t | t
--> 'Thomas', '\mfoo' => f | f | t | t
--> 'Thomas', '^.*$' => t | t | f | f
--> '', 't.*ma' => f | f | t | t
--> '', '^T' => f | f | t | t
--> '', 'bar|que' => f | f | t | t
--> '', '(?i)THOMAS' => f | f | t | t
--> '', '\d+' => f | f | t | t
--> '', '[[:alpha:]]+$' => f | f | t | t
--> '', 'o{1,2}' => f | f | t | t
--> '', '(a)(.)\1' => f | f | t | t
--> '', '\mfoo' => f | f | t | t
--> '', '^.*$' => t | t | f | f
--> 'foobarbequebaz', 't.*ma' => f | f | t | t
--> 'foobarbequebaz', '^T' => f | f | t | t
--> 'foobarbequebaz', 'bar|que' => t | t | f | f
--> 'foobarbequebaz', '(?i)THOMAS' => f | f | t | t
--> 'foobarbequebaz', '\d+' => f | f | t | t
--> 'foobarbequebaz', '[[:alpha:]]+$' => t | t | f | f
--> 'foobarbequebaz', 'o{1,2}' => t | t | f | f
--> 'foobarbequebaz', '(a)(.)\1' => f | f | t | t
--> 'foobarbequebaz', '\mfoo' => t | t | f | f
--> 'foobarbequebaz', '^.*$' => t | t | f | f
--> E'two\nlines', 't.*ma' => f | f | t | t
--> E'two\nlines', '^T' => f | t | t | f
--> E'two\nlines', 'bar|que' => f | f | t | t
--> E'two\nlines', '(?i)THOMAS' => f | f | t | t
--> E'two\nlines', '\d+' => f | f | t | t
--> E'two\nlines', '[[:alpha:]]+$' => t | t | f | f
--> E'two\nlines', 'o{1,2}' => t | t | f | f
--> E'two\nlines', '(a)(.)\1' => f | f | t | t
--> E'two\nlines', '\mfoo' => f | f | t | t
--> E'two\nlines', '^.*$' => t | t | f | f
--> null, 't.*ma' => ∅ | ∅ | ∅ | ∅
--> null, '^T' => ∅ | ∅ | ∅ | ∅
--> null, 'bar|que' => ∅ | ∅ | ∅ | ∅
--> null, '(?i)THOMAS' => ∅ | ∅ | ∅ | ∅
--> null, '\d+' => ∅ | ∅ | ∅ | ∅
--> null, '[[:alpha:]]+$' => ∅ | ∅ | ∅ | ∅
--> null, 'o{1,2}' => ∅ | ∅ | ∅ | ∅
--> null, '(a)(.)\1' => ∅ | ∅ | ∅ | ∅
--> null, '\mfoo' => ∅ | ∅ | ∅ | ∅
--> null, '^.*$' => ∅ | ∅ | ∅ | ∅

-- each p: '(' | '[a' | 'a**' | 'a{2,1}' | '\' | '*a' | '(?<=a' | '[z-a]'
select 'abc' ~ {p};
--> '(' => ERROR 2201B: invalid regular expression: parentheses () not balanced
--> '[a' => ERROR 2201B: invalid regular expression: brackets [] not balanced
--> 'a**' => ERROR 2201B: invalid regular expression: quantifier operand invalid
--> 'a{2,1}' => ERROR 2201B: invalid regular expression: invalid repetition count(s)
--> '\' => ERROR 2201B: invalid regular expression: invalid escape \ sequence
--> '*a' => ERROR 2201B: invalid regular expression: quantifier operand invalid
--> '(?<=a' => ERROR 2201B: invalid regular expression: parentheses () not balanced
--> '[z-a]' => ERROR 2201B: invalid regular expression: invalid character range

-- each x: 'foobarbequebazilbarfbonk' | 'Thomas' | ''
-- each p: '(b[^b]+)(b[^b]+)' | 'ba.' | 'z+' | '(q)|(z)'
-- each f: '' | 'g' | 'i'
select regexp_match({x}, {p}), (select string_agg(m::text, ';') from regexp_matches({x}, {p}, {f}) as m);
--: regexp_match text[] | string_agg text
--> 'foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', '' => {bar,beque} | {bar,beque}
--> 'foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g' => {bar,beque} | {bar,beque};{bazil,barf}
--> 'foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'i' => {bar,beque} | {bar,beque}
--> 'foobarbequebazilbarfbonk', 'ba.', '' => {bar} | {bar}
--> 'foobarbequebazilbarfbonk', 'ba.', 'g' => {bar} | {bar};{baz};{bar}
--> 'foobarbequebazilbarfbonk', 'ba.', 'i' => {bar} | {bar}
--> 'foobarbequebazilbarfbonk', 'z+', '' => {z} | {z}
--> 'foobarbequebazilbarfbonk', 'z+', 'g' => {z} | {z}
--> 'foobarbequebazilbarfbonk', 'z+', 'i' => {z} | {z}
--> 'foobarbequebazilbarfbonk', '(q)|(z)', '' => {q,NULL} | {q,NULL}
--> 'foobarbequebazilbarfbonk', '(q)|(z)', 'g' => {q,NULL} | {q,NULL};{NULL,z}
--> 'foobarbequebazilbarfbonk', '(q)|(z)', 'i' => {q,NULL} | {q,NULL}
--> 'Thomas', '(b[^b]+)(b[^b]+)', '' => ∅ | ∅
--> 'Thomas', '(b[^b]+)(b[^b]+)', 'g' => ∅ | ∅
--> 'Thomas', '(b[^b]+)(b[^b]+)', 'i' => ∅ | ∅
--> 'Thomas', 'ba.', '' => ∅ | ∅
--> 'Thomas', 'ba.', 'g' => ∅ | ∅
--> 'Thomas', 'ba.', 'i' => ∅ | ∅
--> 'Thomas', 'z+', '' => ∅ | ∅
--> 'Thomas', 'z+', 'g' => ∅ | ∅
--> 'Thomas', 'z+', 'i' => ∅ | ∅
--> 'Thomas', '(q)|(z)', '' => ∅ | ∅
--> 'Thomas', '(q)|(z)', 'g' => ∅ | ∅
--> 'Thomas', '(q)|(z)', 'i' => ∅ | ∅
--> '', '(b[^b]+)(b[^b]+)', '' => ∅ | ∅
--> '', '(b[^b]+)(b[^b]+)', 'g' => ∅ | ∅
--> '', '(b[^b]+)(b[^b]+)', 'i' => ∅ | ∅
--> '', 'ba.', '' => ∅ | ∅
--> '', 'ba.', 'g' => ∅ | ∅
--> '', 'ba.', 'i' => ∅ | ∅
--> '', 'z+', '' => ∅ | ∅
--> '', 'z+', 'g' => ∅ | ∅
--> '', 'z+', 'i' => ∅ | ∅
--> '', '(q)|(z)', '' => ∅ | ∅
--> '', '(q)|(z)', 'g' => ∅ | ∅
--> '', '(q)|(z)', 'i' => ∅ | ∅

select regexp_match('abc', 'b', 'g');
--> ERROR 22023: regexp_match() does not support the "global" option [HINT: Use the regexp_matches function instead.]

-- each x: 'Thomas' | 'foobarbaz' | 'aAbB' | '' | null
-- each p ~ r: '.[mN]a.' ~ 'M' | 'b..' ~ 'X' | 'b(..)' ~ 'X\1Y' | '[aeiou]' ~ '<\&>' | '' ~ '-' | 'x*' ~ '-' | 'a' ~ '\\'
select regexp_replace({x}, {p}, {r}), regexp_replace({x}, {p}, {r}, 'g'), regexp_replace({x}, {p}, {r}, 'i'), regexp_replace({x}, {p}, {r}, 'gi');
--: regexp_replace text | regexp_replace text | regexp_replace text | regexp_replace text
--> 'Thomas', '.[mN]a.', 'M' => ThM | ThM | ThM | ThM
--> 'Thomas', 'b..', 'X' => Thomas | Thomas | Thomas | Thomas
--> 'Thomas', 'b(..)', 'X\1Y' => Thomas | Thomas | Thomas | Thomas
--> 'Thomas', '[aeiou]', '<\&>' => Th<o>mas | Th<o>m<a>s | Th<o>mas | Th<o>m<a>s
--> 'Thomas', '', '-' => -Thomas | -T-h-o-m-a-s- | -Thomas | -T-h-o-m-a-s-
--> 'Thomas', 'x*', '-' => -Thomas | -T-h-o-m-a-s- | -Thomas | -T-h-o-m-a-s-
--> 'Thomas', 'a', '\\' => Thom\s | Thom\s | Thom\s | Thom\s
--> 'foobarbaz', '.[mN]a.', 'M' => foobarbaz | foobarbaz | foobarbaz | foobarbaz
--> 'foobarbaz', 'b..', 'X' => fooXbaz | fooXX | fooXbaz | fooXX
--> 'foobarbaz', 'b(..)', 'X\1Y' => fooXarYbaz | fooXarYXazY | fooXarYbaz | fooXarYXazY
--> 'foobarbaz', '[aeiou]', '<\&>' => f<o>obarbaz | f<o><o>b<a>rb<a>z | f<o>obarbaz | f<o><o>b<a>rb<a>z
--> 'foobarbaz', '', '-' => -foobarbaz | -f-o-o-b-a-r-b-a-z- | -foobarbaz | -f-o-o-b-a-r-b-a-z-
--> 'foobarbaz', 'x*', '-' => -foobarbaz | -f-o-o-b-a-r-b-a-z- | -foobarbaz | -f-o-o-b-a-r-b-a-z-
--> 'foobarbaz', 'a', '\\' => foob\rbaz | foob\rb\z | foob\rbaz | foob\rb\z
--> 'aAbB', '.[mN]a.', 'M' => aAbB | aAbB | aAbB | aAbB
--> 'aAbB', 'b..', 'X' => aAbB | aAbB | aAbB | aAbB
--> 'aAbB', 'b(..)', 'X\1Y' => aAbB | aAbB | aAbB | aAbB
--> 'aAbB', '[aeiou]', '<\&>' => <a>AbB | <a>AbB | <a>AbB | <a><A>bB
--> 'aAbB', '', '-' => -aAbB | -a-A-b-B- | -aAbB | -a-A-b-B-
--> 'aAbB', 'x*', '-' => -aAbB | -a-A-b-B- | -aAbB | -a-A-b-B-
--> 'aAbB', 'a', '\\' => \AbB | \AbB | \AbB | \\bB
--> '', '.[mN]a.', 'M' => "" | "" | "" | ""
--> '', 'b..', 'X' => "" | "" | "" | ""
--> '', 'b(..)', 'X\1Y' => "" | "" | "" | ""
--> '', '[aeiou]', '<\&>' => "" | "" | "" | ""
--> '', '', '-' => - | - | - | -
--> '', 'x*', '-' => - | - | - | -
--> '', 'a', '\\' => "" | "" | "" | ""
--> null, '.[mN]a.', 'M' => ∅ | ∅ | ∅ | ∅
--> null, 'b..', 'X' => ∅ | ∅ | ∅ | ∅
--> null, 'b(..)', 'X\1Y' => ∅ | ∅ | ∅ | ∅
--> null, '[aeiou]', '<\&>' => ∅ | ∅ | ∅ | ∅
--> null, '', '-' => ∅ | ∅ | ∅ | ∅
--> null, 'x*', '-' => ∅ | ∅ | ∅ | ∅
--> null, 'a', '\\' => ∅ | ∅ | ∅ | ∅

-- each a: 1, 1 | 3, 0 | 1, 2 | 2, 1, 'i' | 9
select regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', {a});
--: regexp_replace text
--> 1, 1 => A PXstgreSQL function
--> 3, 0 => A PXstgrXSQL fXnctXXn
--> 1, 2 => A PostgrXSQL function
--> 2, 1, 'i' => A PXstgreSQL function
--> 9 => A PostgrXSQL function

-- each x: 'hello world' | 'a,b;c' | '' | null | '  x  '
-- each p: '\s+' | '[,;]' | '' | 'x'
select regexp_split_to_array({x}, {p}), (select string_agg(s, '/') from regexp_split_to_table({x}, {p}) as s);
--: regexp_split_to_array text[] | string_agg text
--> 'hello world', '\s+' => {hello,world} | hello/world
--> 'hello world', '[,;]' => {"hello world"} | hello world
--> 'hello world', '' => {h,e,l,l,o," ",w,o,r,l,d} | h/e/l/l/o/ /w/o/r/l/d
--> 'hello world', 'x' => {"hello world"} | hello world
--> 'a,b;c', '\s+' => {"a,b;c"} | a,b;c
--> 'a,b;c', '[,;]' => {a,b,c} | a/b/c
--> 'a,b;c', '' => {a,",",b,;,c} | a/,/b/;/c
--> 'a,b;c', 'x' => {"a,b;c"} | a,b;c
--> '', '\s+' => {""} | ""
--> '', '[,;]' => {""} | ""
--> '', '' => {""} | ""
--> '', 'x' => {""} | ""
--> null, '\s+' => ∅ | ∅
--> null, '[,;]' => ∅ | ∅
--> null, '' => ∅ | ∅
--> null, 'x' => ∅ | ∅
--> '  x  ', '\s+' => {"",x,""} | /x/
--> '  x  ', '[,;]' => {"  x  "} | "  x  "
--> '  x  ', '' => {" "," ",x," "," "} | " / /x/ / "
--> '  x  ', 'x' => {"  ","  "} | "  /  "

-- each a: 'a' | 'a', 3 | 'a', 1, 'i' | '(a)(b)?' | 'z'
select regexp_count('ABCABCAXYaxy', {a});
--: regexp_count integer
--> 'a' => 1
--> 'a', 3 => 1
--> 'a', 1, 'i' => 4
--> '(a)(b)?' => 1
--> 'z' => 0
-- each a: 'a' | 'A', 3 | 'a', 1, 2, 0, 'i' | 'a(b)(c)', 1, 1, 0, 'i', 2 | 'a', 1, 1, 1 | 'z' | 'a', 0 | 'A', 1, 0
select regexp_instr('ABCABCAXYaxy', {a});
--: regexp_instr integer
--> 'a' => 10
--> 'A', 3 => 4
--> 'a', 1, 2, 0, 'i' => 4
--> 'a(b)(c)', 1, 1, 0, 'i', 2 => 3
--> 'a', 1, 1, 1 => 11
--> 'z' => 0
--> 'a', 0 => ERROR 22023: invalid value for parameter "start": 0
--> 'A', 1, 0 => ERROR 22023: invalid value for parameter "n": 0
-- each a: 'a' | 'A', 3 | 'a', 1, 2, 'i' | 'a(b)(c)', 1, 1, 'i', 2 | 'z'
select regexp_substr('ABCABCAXYaxy', {a});
--: regexp_substr text
--> 'a' => a
--> 'A', 3 => A
--> 'a', 1, 2, 'i' => A
--> 'a(b)(c)', 1, 1, 'i', 2 => C
--> 'z' => ∅
-- each a: 'a' | 'A', 3 | 'abc', 1, 'i' | 'z'
select regexp_like('ABCABCAXYaxy', {a});
--: regexp_like boolean
--> 'a' => t
--> 'A', 3 => ERROR 42883: function regexp_like(unknown, unknown, integer) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> 'abc', 1, 'i' => ERROR 42883: function regexp_like(unknown, unknown, integer, unknown) does not exist [HINT: No function matches the given name and argument types. You might need to add explicit type casts.] [POSITION: 8]
--> 'z' => f
select regexp_like('abc', 'b', 'g');
--> ERROR 22023: regexp_like() does not support the "global" option
select regexp_like('abc', 'b', 'z');
--> ERROR 22023: invalid regular expression option: "z"

-- ## Arrays and tables from strings

-- each x: 'xx~^~yy~^~zz' | 'abc' | '' | null | 'a,b,,c'
-- each d: '~^~' | ',' | '' | null
-- each n: 'yy' | '' | null
select string_to_array({x}, {d}, {n}), (select string_agg(coalesce(s, 'NULL'), '/') from string_to_table({x}, {d}, {n}) as s);
--: string_to_array text[] | string_agg text
--> 'xx~^~yy~^~zz', '~^~', 'yy' => {xx,NULL,zz} | xx/NULL/zz
--> 'xx~^~yy~^~zz', '~^~', '' => {xx,yy,zz} | xx/yy/zz
--> 'xx~^~yy~^~zz', '~^~', null => {xx,yy,zz} | xx/yy/zz
--> 'xx~^~yy~^~zz', ',', 'yy' => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', ',', '' => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', ',', null => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', '', 'yy' => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', '', '' => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', '', null => {xx~^~yy~^~zz} | xx~^~yy~^~zz
--> 'xx~^~yy~^~zz', null, 'yy' => {x,x,~,^,~,y,y,~,^,~,z,z} | x/x/~/^/~/y/y/~/^/~/z/z
--> 'xx~^~yy~^~zz', null, '' => {x,x,~,^,~,y,y,~,^,~,z,z} | x/x/~/^/~/y/y/~/^/~/z/z
--> 'xx~^~yy~^~zz', null, null => {x,x,~,^,~,y,y,~,^,~,z,z} | x/x/~/^/~/y/y/~/^/~/z/z
--> 'abc', '~^~', 'yy' => {abc} | abc
--> 'abc', '~^~', '' => {abc} | abc
--> 'abc', '~^~', null => {abc} | abc
--> 'abc', ',', 'yy' => {abc} | abc
--> 'abc', ',', '' => {abc} | abc
--> 'abc', ',', null => {abc} | abc
--> 'abc', '', 'yy' => {abc} | abc
--> 'abc', '', '' => {abc} | abc
--> 'abc', '', null => {abc} | abc
--> 'abc', null, 'yy' => {a,b,c} | a/b/c
--> 'abc', null, '' => {a,b,c} | a/b/c
--> 'abc', null, null => {a,b,c} | a/b/c
--> '', '~^~', 'yy' => {} | ∅
--> '', '~^~', '' => {} | ∅
--> '', '~^~', null => {} | ∅
--> '', ',', 'yy' => {} | ∅
--> '', ',', '' => {} | ∅
--> '', ',', null => {} | ∅
--> '', '', 'yy' => {} | ∅
--> '', '', '' => {} | ∅
--> '', '', null => {} | ∅
--> '', null, 'yy' => {} | ∅
--> '', null, '' => {} | ∅
--> '', null, null => {} | ∅
--> null, '~^~', 'yy' => ∅ | ∅
--> null, '~^~', '' => ∅ | ∅
--> null, '~^~', null => ∅ | ∅
--> null, ',', 'yy' => ∅ | ∅
--> null, ',', '' => ∅ | ∅
--> null, ',', null => ∅ | ∅
--> null, '', 'yy' => ∅ | ∅
--> null, '', '' => ∅ | ∅
--> null, '', null => ∅ | ∅
--> null, null, 'yy' => ∅ | ∅
--> null, null, '' => ∅ | ∅
--> null, null, null => ∅ | ∅
--> 'a,b,,c', '~^~', 'yy' => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', '~^~', '' => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', '~^~', null => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', ',', 'yy' => {a,b,"",c} | a/b//c
--> 'a,b,,c', ',', '' => {a,b,NULL,c} | a/b/NULL/c
--> 'a,b,,c', ',', null => {a,b,"",c} | a/b//c
--> 'a,b,,c', '', 'yy' => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', '', '' => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', '', null => {"a,b,,c"} | a,b,,c
--> 'a,b,,c', null, 'yy' => {a,",",b,",",",",c} | a/,/b/,/,/c
--> 'a,b,,c', null, '' => {a,",",b,",",",",c} | a/,/b/,/,/c
--> 'a,b,,c', null, null => {a,",",b,",",",",c} | a/,/b/,/,/c

select string_to_array('a b', ' '), parse_ident('"SomeSchema".someTable'), parse_ident('a.b.c');
--: string_to_array text[] | parse_ident text[] | parse_ident text[]
--> {a,b} | {SomeSchema,sometable} | {a,b,c}
select parse_ident('1a');
--> ERROR 22023: string is not a valid identifier: "1a"
select parse_ident('a b'), parse_ident('a b', false);
--> ERROR 22023: string is not a valid identifier: "a b"

-- ## Encodings, escapes, normal forms

-- each f: 'base64' | 'hex' | 'escape'
select encode('\x1234ff00', {f}), encode('', {f}), decode(encode('tide\\lock', {f}), {f});
--: encode text | encode text | decode bytea
--> 'base64' => EjT/AA== | "" | \x746964655c6c6f636b
--> 'hex' => 1234ff00 | "" | \x746964655c6c6f636b
--> 'escape' => 4\377\000 | "" | \x746964655c6c6f636b
select decode('zz', 'hex');
--> ERROR 22023: invalid hexadecimal digit: "z"
select decode('1', 'hex');
--> ERROR 22023: invalid hexadecimal data: odd number of digits
select decode('!', 'base64');
--> ERROR 22023: invalid symbol "!" found while decoding base64 sequence
select encode('a', 'rot13');
--> ERROR 22023: unrecognized encoding: "rot13"

-- each x: 'd\0061t\+000061' | 'a' | '\\'
select unistr({x});
--: unistr text
--> 'd\0061t\+000061' => data
--> 'a' => a
--> '\\' => \
select unistr('\z');
--> ERROR 42601: invalid Unicode escape [HINT: Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.]
select U&'d\0061t\+000061', U&'d!0061' uescape '!', E'\x41\u00e9\t|\101';
--: ?column? text | ?column? text | ?column? text
--> data | da | "Aé\t|A"

-- each f: nfc | nfd | nfkc | nfkd
select normalize(U&'\0061\0308bc', {f}), U&'\00e4' is {f} normalized, U&'\0061\0308' is not {f} normalized, length(normalize(U&'\00e4\FB01', {f}));
--: normalize text | is_normalized boolean | ?column? boolean | length integer
--> nfc => äbc | t | t | 2
--> nfd => äbc | f | f | 3
--> nfkc => äbc | t | t | 3
--> nfkd => äbc | f | f | 4
select U&'\00e4' is normalized;
--: is_normalized boolean
--> t

select convert_to('é', 'UTF8'), convert_from('\xc3a9', 'UTF8'), convert_from('\xe9', 'LATIN1'), convert_to('é', 'LATIN1'), length('\xc3a9'::bytea, 'UTF8'), pg_client_encoding();
--: convert_to bytea | convert_from text | convert_from text | convert_to bytea | length integer | pg_client_encoding name
--> \xc3a9 | é | é | \xe9 | 1 | UTF8
select convert_from('\xff', 'UTF8');
--> ERROR 22021: invalid byte sequence for encoding "UTF8": 0xff
select 'a' collate "C" < 'B' collate "C", 'a' < 'B', 'ab' < 'abc', 'é' > 'z', '' < 'a';
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> f | f | t | t | t
-- each op: < | <= | = | <> | >= | > | ~<~ | ~<=~ | ~>~ | ~>=~
select 'abc' {op} 'abd', 'B'::text {op} 'a', 'a '::char(3) {op} 'a'::char(1), 'a '::varchar {op} 'a';
--: ?column? boolean | ?column? boolean | ?column? boolean | ?column? boolean
--> < => t | t | f | f
--> <= => t | t | t | f
--> = => f | f | t | f
--> <> => t | t | f | t
--> >= => f | f | t | t
--> > => f | f | f | t
--> ~<~ => t | t | f | f
--> ~<=~ => t | t | t | f
--> ~>~ => f | f | f | t
--> ~>=~ => f | f | t | t

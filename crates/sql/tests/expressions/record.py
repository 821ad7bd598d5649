#!/usr/bin/env python3
"""Records expressions' results from a PostgreSQL 15 server (PGHOST, PGPORT, PGUSER, PGDATABASE say which):

    record.py < expressions > recorded

One expression a line; `@sum {1,2} int4` is an aggregate over an array's elements, `*f(x)` a set-returning call. A recorded
file can be fed in again: what follows "  =>  " is dropped.
"""
import subprocess, sys
lines=[l.rstrip('\n').split('  =>  ')[0] for l in sys.stdin]
sql="""SET timezone='UTC'; SET datestyle='ISO, MDY'; SET client_min_messages=error;
CREATE OR REPLACE FUNCTION try(q text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE r text; m text; s text; BEGIN EXECUTE q INTO r; RETURN r;
EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, s = RETURNED_SQLSTATE; RETURN '! ' || s || ' ' || m; END $f$;
"""
def lit(s): return "'" + s.replace("'","''") + "'"
for l in lines:
    if not l or l.startswith('#'): continue
    if l.startswith('@') and l[1:2].isalpha():
        name,arr,ty=l[1:].split(' ',1)[0], l[1:].split(' ',1)[1].rsplit(' ',1)[0], l.rsplit(' ',1)[1]
        e=f"{name}(x)"; src=f" from unnest({lit(arr)}::{ty}[]) x"
        q=f"select case when ({e}) is null then 'NULL' else format('%s', ({e})) end{src}"
    elif l.startswith('*'):
        q=f"select coalesce(string_agg(case when x is null then 'NULL' else format('%s', x) end, '|'), '') from {l[1:]} x"
    else:
        q=f"select case when (v) is not distinct from null then 'NULL' else format('%s', v) end from (select ({l}) as v) t" if not l.startswith('row(') else f"select format('%s', ({l}))"
    sql+=f"select replace(try({lit(q)}), E'\\n', '\\n');\n"
out=subprocess.run(['psql', '-qAt', '-v', 'ON_ERROR_STOP=1'],input=sql,capture_output=True,text=True)
if out.returncode: print(out.stderr[:2000],file=sys.stderr); sys.exit(1)
if out.stderr: print(out.stderr[:500],file=sys.stderr)
res=out.stdout.split('\n')
i=0
for l in lines:
    if not l or l.startswith('#'): print(l); continue
    print(f"{l}  =>  {res[i]}"); i+=1

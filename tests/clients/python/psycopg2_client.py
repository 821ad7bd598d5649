"""psycopg 2: literals in the simple protocol, server-side cursors, COPY, autocommit, errors with their fields."""
import datetime, decimal, io, sys, uuid
import psycopg2, psycopg2.errors, psycopg2.extras

connection = psycopg2.connect(sys.argv[1])
cursor = connection.cursor()
cursor.execute("drop table if exists pg2_items")
cursor.execute("create table pg2_items (id serial primary key, name text not null, price numeric(10,2), at timestamptz, day date, u uuid, tags text[], raw bytea, j jsonb)")
row = ("it's", decimal.Decimal("12.50"), datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc), datetime.date(2024, 2, 29),
       uuid.UUID(int=7), ["a", "b,c", None], b"\x00\xff'", psycopg2.extras.Json({"k": [1, 2]}))
psycopg2.extras.register_uuid()
cursor.execute("insert into pg2_items (name, price, at, day, u, tags, raw, j) values (%s,%s,%s,%s,%s,%s,%s,%s) returning id", row)
assert cursor.fetchone() == (1,)
cursor.execute("select name, price, at, day, u, tags, raw, j from pg2_items")
found = cursor.fetchone()
assert found[:6] == row[:6] and bytes(found[6]) == row[6] and found[7] == {"k": [1, 2]}, found
psycopg2.extras.execute_values(cursor, "insert into pg2_items (name, price) values %s", [(f"n{i}", i) for i in range(500)])
cursor.execute("select count(*), sum(price) from pg2_items where name like %s", ("n%",))
assert cursor.fetchone() == (500, decimal.Decimal("124750.00"))
connection.commit()

with connection.cursor("named") as named:
    named.itersize = 100
    named.execute("select id from pg2_items order by id")
    assert len(list(named)) == 501
connection.commit()

out = io.StringIO()
cursor.copy_expert("copy (select id, name from pg2_items where id <= 2 order by id) to stdout", out)
assert out.getvalue() == "1\tit's\n2\tn0\n", out.getvalue()
cursor.copy_from(io.StringIO("1000\tcopied\n1001\tas well\n"), "pg2_items", columns=("id", "name"))
connection.commit()

try:
    cursor.execute("insert into pg2_items (id, name) values (1, 'twice')")
    raise AssertionError("a duplicate was taken")
except psycopg2.errors.UniqueViolation as error:
    assert error.diag.constraint_name == "pg2_items_pkey" and error.diag.table_name == "pg2_items", error.diag
try:
    cursor.execute("select 1")
    raise AssertionError("a failed transaction went on")
except psycopg2.errors.InFailedSqlTransaction:
    connection.rollback()
try:
    cursor.execute("selec 1")
except psycopg2.errors.SyntaxError as error:
    assert error.diag.statement_position == "1"
connection.rollback()

connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
cursor.execute("show transaction_isolation")
assert cursor.fetchone() == ("repeatable read",)
connection.rollback()
connection.set_session(autocommit=True, readonly=False)
cursor.execute("select array_agg(id order by id) from pg2_items where id > %s", (999,))
assert cursor.fetchone() == ([1000, 1001],)
cursor.execute("select null, true, 1.5::float8, interval '1 day 02:00', '12:30'::time, row(1, 'x')")
assert cursor.fetchone() == (None, True, 1.5, datetime.timedelta(days=1, hours=2), datetime.time(12, 30), "(1,x)")
cursor.execute("drop table pg2_items")

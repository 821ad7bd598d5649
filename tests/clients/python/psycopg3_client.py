"""psycopg 3: binary parameters and results, pipelines, prepared statements, COPY in both directions, async, notifications."""
import asyncio, datetime, decimal, sys
import psycopg
from psycopg.types.json import Jsonb

url = sys.argv[1]
with psycopg.connect(url, autocommit=True) as connection:
    connection.execute("drop table if exists pg3_items")
    connection.execute("create table pg3_items (id int generated always as identity primary key, n numeric, j jsonb, f float8, b bool, a int[])")
    with connection.cursor() as cursor:
        cursor.executemany("insert into pg3_items (n, j, f, b, a) values (%s, %s, %s, %s, %s)",
                           [(decimal.Decimal(i) / 4, Jsonb({"i": i}), i / 3, i % 2 == 0, [i, i + 1]) for i in range(50)])
    for binary in (False, True):
        rows = connection.execute("select id, n, j, f, b, a from pg3_items where id = %s", (5,), binary=binary).fetchone()
        assert rows == (5, decimal.Decimal(1), {"i": 4}, 4 / 3, True, [4, 5]), rows
    with connection.pipeline():
        cursors = [connection.execute("select %s::int + 1", (i,)) for i in range(20)]
    assert [c.fetchone()[0] for c in cursors] == list(range(1, 21))
    for i in range(10):  # past the threshold of five it is prepared
        assert connection.execute("select %s::text || 'x'", (str(i),), prepare=i > 3).fetchone() == (f"{i}x",)
    with connection.transaction():
        connection.execute("update pg3_items set f = 0 where id = 1")
        try:
            with connection.transaction():  # a savepoint
                connection.execute("update pg3_items set f = 1 where id = 1")
                raise ValueError
        except ValueError:
            pass
    assert connection.execute("select f from pg3_items where id = 1").fetchone() == (0.0,)
    with connection.cursor().copy("copy pg3_items (n, f) from stdin (format binary)") as copy:
        copy.set_types(["numeric", "float8"])
        for i in range(5):
            copy.write_row((decimal.Decimal("1000.5"), float(i)))
    with connection.cursor().copy("copy (select n, f from pg3_items where n > 1000 order by f) to stdout") as copy:
        copy.set_types(["numeric", "float8"])
        assert list(copy.rows()) == [(decimal.Decimal("1000.5"), float(i)) for i in range(5)]
    found = connection.execute("select %s::timestamptz, %s::date, %s::interval", (datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
                               datetime.date(1999, 12, 31), datetime.timedelta(minutes=90)), binary=True).fetchone()
    assert found[1:] == (datetime.date(1999, 12, 31), datetime.timedelta(minutes=90)) and found[0].timestamp() == 1577836800, found
    description = connection.execute("select id as number, n from pg3_items limit 0").description
    assert [(c.name, c.type_code) for c in description] == [("number", 23), ("n", 1700)]


async def many():
    async with await psycopg.AsyncConnection.connect(url) as connection:
        async with connection.cursor(name="stream") as cursor:
            await cursor.execute("select generate_series(1, 1000)")
            assert [row[0] async for row in cursor] == list(range(1, 1001))

asyncio.run(many())
with psycopg.connect(url, autocommit=True) as connection:
    connection.execute("drop table pg3_items")

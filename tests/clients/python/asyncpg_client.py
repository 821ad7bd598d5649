"""asyncpg: everything prepared and binary, its introspection of types, cursors, COPY, concurrent tasks."""
import asyncio, datetime, decimal, sys, uuid
import asyncpg


async def main(url):
    connection = await asyncpg.connect(url)
    await connection.execute("drop table if exists apg_items; create table apg_items (id bigserial primary key, name varchar(20), n numeric(12,4), d date, ts timestamptz, iv interval, u uuid, b bytea, a text[], j jsonb, f real)")
    values = ("näme", decimal.Decimal("3.1415"), datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 1, 2, 3, 4, datetime.timezone.utc),
              datetime.timedelta(days=3, seconds=5), uuid.UUID(int=1), b"\x01\x02", ["x", None], '{"a": 1}', 0.5)
    inserted = await connection.fetchval("insert into apg_items (name, n, d, ts, iv, u, b, a, j, f) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) returning id", *values)
    assert inserted == 1
    row = await connection.fetchrow("select * from apg_items where id = $1", 1)
    assert tuple(row)[1:] == values, tuple(row)
    await connection.executemany("insert into apg_items (name) values ($1)", [(f"n{i}",) for i in range(200)])
    async with connection.transaction():
        cursor = [record["id"] async for record in connection.cursor("select id from apg_items order by id", prefetch=30)]
        assert cursor == list(range(1, 202))
    statement = await connection.prepare("select name, n from apg_items where id = any($1::bigint[]) and n is not distinct from $2")
    assert [str(p.name) for p in statement.get_parameters()] == ["int8[]", "numeric"]
    assert [a.type.name for a in statement.get_attributes()] == ["varchar", "numeric"]
    assert len(await statement.fetch([1, 2, 3], None)) == 2
    await connection.copy_records_to_table("apg_items", records=[(1000 + i, f"copy{i}") for i in range(100)], columns=["id", "name"])
    assert await connection.fetchval("select count(*) from apg_items where id >= 1000") == 100
    try:
        async with connection.transaction(isolation="serializable"):
            await connection.execute("insert into apg_items (id) values (1)")
    except asyncpg.UniqueViolationError as error:
        assert error.constraint_name == "apg_items_pkey"
    await connection.execute("create type apg_mood as enum ('sad', 'happy')")
    assert await connection.fetchval("select 'happy'::apg_mood") == "happy"
    assert await connection.fetchval("select array['sad','happy']::apg_mood[]") == ["sad", "happy"]
    await connection.execute("drop type apg_mood")
    pool = await asyncpg.create_pool(url, min_size=4, max_size=8)
    results = await asyncio.gather(*(pool.fetchval("select $1::int * 2", i) for i in range(100)))
    assert results == [i * 2 for i in range(100)]
    await pool.close()
    heard = asyncio.get_running_loop().create_future()
    await connection.add_listener("apg_channel", lambda c, pid, channel, payload: heard.set_result(payload))
    other = await asyncpg.connect(url)
    await other.execute("select pg_notify('apg_channel', 'hello')")
    assert await asyncio.wait_for(heard, 5) == "hello"
    await other.close()
    await connection.execute("drop table apg_items")
    await connection.close()

asyncio.run(main(sys.argv[1]))

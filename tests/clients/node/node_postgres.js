// node-postgres: text and prepared queries, types, cursors of its pool, errors, notifications.
const { Client, Pool } = require("pg");
const assert = require("assert");

async function main(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("drop table if exists npg_items; create table npg_items (id serial primary key, name text, at timestamptz, j jsonb, tags text[], big bigint, n numeric)");
  const at = new Date("2024-02-29T12:00:00Z");
  const inserted = await client.query("insert into npg_items (name, at, j, tags, big, n) values ($1, $2, $3, $4, $5, $6) returning *", ["ä'x", at, { a: [1] }, ["x", "y z"], "9007199254740993", "1.50"]);
  assert.deepStrictEqual(inserted.rows[0], { id: 1, name: "ä'x", at, j: { a: [1] }, tags: ["x", "y z"], big: "9007199254740993", n: "1.50" });
  assert.strictEqual(inserted.command, "INSERT");
  assert.strictEqual(inserted.fields[0].dataTypeID, 23);
  for (let i = 0; i < 5; i++) {
    const named = await client.query({ name: "by-id", text: "select name from npg_items where id = $1", values: [1] });
    assert.strictEqual(named.rows[0].name, "ä'x");
  }
  const several = await client.query("select 1 as a; select 2 as b");
  assert.deepStrictEqual(several.map((r) => r.rows[0]), [{ a: 1 }, { b: 2 }]);
  const array = await client.query({ text: "select generate_series(1, 3)", rowMode: "array" });
  assert.deepStrictEqual(array.rows, [[1], [2], [3]]);
  await assert.rejects(client.query("insert into npg_items (id) values (1)"), (e) => e.code === "23505" && e.constraint === "npg_items_pkey" && e.table === "npg_items");
  await assert.rejects(client.query("select * from nowhere"), (e) => e.code === "42P01" && e.position === "15");
  await client.query("begin");
  await client.query("update npg_items set name = 'changed'");
  await client.query("rollback");
  assert.strictEqual((await client.query("select name from npg_items")).rows[0].name, "ä'x");
  const heard = new Promise((resolve) => client.on("notification", (m) => resolve(m.payload)));
  await client.query("listen npg_channel");
  const pool = new Pool({ connectionString: url, max: 4 });
  await pool.query("notify npg_channel, 'hello'");
  assert.strictEqual(await heard, "hello");
  const sums = await Promise.all(Array.from({ length: 50 }, (_, i) => pool.query("select $1::int + 1 as n", [i])));
  assert.deepStrictEqual(sums.map((r) => r.rows[0].n), Array.from({ length: 50 }, (_, i) => i + 1));
  await pool.end();
  await client.query("drop table npg_items");
  await client.end();
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

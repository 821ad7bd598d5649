// postgres.js: pipelined prepared statements, its type discovery, helpers, transactions, cursors, COPY streams.
const postgres = require("postgres");
const assert = require("assert");

async function main(url) {
  const sql = postgres(url, { onnotice: () => {}, max: 4 });
  await sql`drop table if exists pjs_items`;
  await sql`create table pjs_items (id int primary key, name text, tags text[], j jsonb, at timestamptz)`;
  const rows = [{ id: 1, name: "one", tags: ["a"], j: sql.json({ x: 1 }), at: new Date(0) }, { id: 2, name: "two", tags: [], j: sql.json([2]), at: new Date(1e12) }];
  await sql`insert into pjs_items ${sql(rows)}`;
  const found = await sql`select * from pjs_items where id in ${sql([1, 2])} order by id`;
  assert.deepStrictEqual(found.map((r) => [r.id, r.name, r.tags, r.j, r.at.getTime()]), [[1, "one", ["a"], { x: 1 }, 0], [2, "two", [], [2], 1e12]]);
  assert.strictEqual(found.columns.length, 5);
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => sql`select ${i}::int as n`));
  assert.deepStrictEqual(all.map((r) => r[0].n), Array.from({ length: 100 }, (_, i) => i));
  await sql.begin(async (sql) => {
    await sql`update pjs_items set name = 'changed' where id = ${1}`;
    await sql.savepoint(async (sql) => { await sql`delete from pjs_items`; throw new Error("back"); }).catch((e) => assert.strictEqual(e.message, "back"));
  });
  assert.deepStrictEqual((await sql`select name from pjs_items order by id`).map((r) => r.name), ["changed", "two"]);
  let count = 0;
  for await (const batch of sql`select generate_series(1, 1000) as n`.cursor(100)) count += batch.length;
  assert.strictEqual(count, 1000);
  const [described] = [await sql`select id, j from pjs_items where id = ${1}`.describe()];
  assert.deepStrictEqual(described.types, [23]);
  const stream = await sql`copy pjs_items (id, name) from stdin`.writable();
  await new Promise((resolve, reject) => { stream.on("finish", resolve); stream.on("error", reject); stream.write("10\tcopied\n"); stream.end("11\tcopied\n"); });
  assert.strictEqual((await sql`select count(*)::int as n from pjs_items`)[0].n, 4);
  await assert.rejects(sql`insert into pjs_items (id) values (1)`, (e) => e.code === "23505");
  await sql`drop table pjs_items`;
  await sql.end();
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

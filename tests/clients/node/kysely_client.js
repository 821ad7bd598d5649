// Kysely: typed builder over node-postgres, its schema calls and its introspection.
const { Kysely, PostgresDialect, sql } = require("kysely");
const { Pool } = require("pg");
const assert = require("assert");

async function main(url) {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 4 }) }) });
  await db.schema.dropTable("kys_pets").ifExists().execute();
  await db.schema.createTable("kys_pets").addColumn("id", "serial", (c) => c.primaryKey()).addColumn("name", "varchar(50)", (c) => c.notNull().unique())
    .addColumn("born", "timestamptz", (c) => c.defaultTo(sql`now()`).notNull()).addColumn("data", "jsonb").addCheckConstraint("kys_named", sql`name <> ''`).execute();
  await db.schema.createIndex("kys_born").on("kys_pets").column("born desc").execute();
  const made = await db.insertInto("kys_pets").values([{ name: "rex", data: JSON.stringify({ legs: 4 }) }, { name: "tweety", data: JSON.stringify({ legs: 2 }) }]).returning(["id", "name"]).execute();
  assert.deepStrictEqual(made, [{ id: 1, name: "rex" }, { id: 2, name: "tweety" }]);
  const four = await db.selectFrom("kys_pets").select(["name", sql`data->>'legs'`.as("legs")]).where(sql`(data->>'legs')::int`, ">", 3).execute();
  assert.deepStrictEqual(four, [{ name: "rex", legs: "4" }]);
  const counted = await db.with("all_pets", (q) => q.selectFrom("kys_pets").selectAll()).selectFrom("all_pets").select(({ fn }) => fn.countAll().as("n")).executeTakeFirst();
  assert.strictEqual(counted.n, "2");
  await db.insertInto("kys_pets").values({ name: "rex" }).onConflict((c) => c.column("name").doUpdateSet({ data: null })).execute();
  await db.transaction().setIsolationLevel("serializable").execute(async (trx) => { await trx.deleteFrom("kys_pets").where("name", "=", "tweety").execute(); });
  const tables = await db.introspection.getTables();
  const pets = tables.find((t) => t.name === "kys_pets");
  assert.deepStrictEqual(pets.columns.map((c) => [c.name, c.dataType, c.isNullable, c.isAutoIncrementing]), [["id", "int4", false, true], ["name", "varchar", false, false], ["born", "timestamptz", false, false], ["data", "jsonb", true, false]]);
  await db.schema.dropTable("kys_pets").execute();
  await db.destroy();
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

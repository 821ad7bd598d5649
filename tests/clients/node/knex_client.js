// Knex: schema builder, migrations' table, queries, upserts, introspection.
const assert = require("assert");

async function main(url) {
  const knex = require("knex")({ client: "pg", connection: url, pool: { min: 0, max: 4 } });
  await knex.schema.dropTableIfExists("knex_books");
  await knex.schema.dropTableIfExists("knex_authors");
  await knex.schema.createTable("knex_authors", (t) => { t.increments("id"); t.string("name").notNullable().unique(); t.timestamps(true, true); });
  await knex.schema.createTable("knex_books", (t) => {
    t.increments("id"); t.integer("author_id").references("id").inTable("knex_authors").onDelete("cascade"); t.string("title", 100).index();
    t.decimal("price", 8, 2).defaultTo(0); t.jsonb("data"); t.enu("kind", ["paper", "digital"]); t.uuid("key").defaultTo(knex.raw("gen_random_uuid()"));
  });
  await knex.schema.alterTable("knex_books", (t) => { t.boolean("lent").notNullable().defaultTo(false); t.renameColumn("title", "name"); });
  await knex.schema.alterTable("knex_books", (t) => t.string("name", 200).alter());
  const [author] = await knex("knex_authors").insert({ name: "first" }).returning(["id", "name"]);
  await knex("knex_books").insert(Array.from({ length: 10 }, (_, i) => ({ author_id: author.id, name: `book ${i}`, price: i, data: { i }, kind: i % 2 ? "paper" : "digital" })));
  const sums = await knex("knex_books").select("kind").sum("price as total").groupBy("kind").orderBy("kind");
  assert.deepStrictEqual(sums, [{ kind: "digital", total: "20.00" }, { kind: "paper", total: "25.00" }]);
  const joined = await knex("knex_books as b").join("knex_authors as a", "a.id", "b.author_id").where("b.price", ">", 7).select("a.name", "b.name as title");
  assert.strictEqual(joined.length, 2);
  await knex("knex_authors").insert({ name: "first" }).onConflict("name").merge({ name: "renamed" });
  await knex.transaction(async (trx) => { await trx("knex_books").where("price", "<", 5).del(); assert.strictEqual(Number((await trx("knex_books").count())[0].count), 5); });
  await assert.rejects(knex("knex_books").insert({ kind: "stone" }), (e) => e.code === "23514");
  assert.strictEqual(await knex.schema.hasTable("knex_books"), true);
  assert.strictEqual(await knex.schema.hasColumn("knex_books", "lent"), true);
  assert.deepStrictEqual((await knex("knex_books").columnInfo()).price, { type: "numeric", maxLength: null, nullable: true, defaultValue: "'0'::numeric" });
  await knex.schema.dropTable("knex_books");
  await knex.schema.dropTable("knex_authors");
  await knex.destroy();
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

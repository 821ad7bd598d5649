// Sequelize: sync, associations, queries, transactions, describeTable. (Its ENUM columns and findOrCreate use PL/pgSQL, which comes later.)
const { Sequelize, DataTypes, Op } = require("sequelize");
const assert = require("assert");

async function main(url) {
  const db = new Sequelize(url, { logging: false, dialect: "postgres" });
  const Team = db.define("seq_team", { name: { type: DataTypes.STRING, unique: true, allowNull: false }, kind: DataTypes.STRING(10) });
  const Player = db.define("seq_player", { name: DataTypes.TEXT, goals: { type: DataTypes.INTEGER, defaultValue: 0 }, data: DataTypes.JSONB, tags: DataTypes.ARRAY(DataTypes.STRING) }, { indexes: [{ fields: ["goals"] }] });
  Team.hasMany(Player, { onDelete: "CASCADE" });
  Player.belongsTo(Team);
  await db.sync({ force: true });
  await db.sync({ alter: true });
  const team = await Team.create({ name: "reds", kind: "a", seq_players: Array.from({ length: 6 }, (_, i) => ({ name: `p${i}`, goals: i, data: { i }, tags: ["t", `${i}`] })) }, { include: Player });
  const found = await Team.findOne({ where: { name: "reds" }, include: [{ model: Player, where: { goals: { [Op.gte]: 3 } } }], order: [[Player, "goals", "DESC"]] });
  assert.deepStrictEqual(found.seq_players.map((p) => p.goals), [5, 4, 3]);
  assert.strictEqual(await Player.sum("goals"), 15);
  assert.strictEqual(await Player.count({ where: { data: { i: 2 }, tags: { [Op.contains]: ["2"] } } }), 1);
  await Player.increment("goals", { by: 10, where: { name: "p0" } });
  const [, created] = await Team.findCreateFind({ where: { name: "blues" }, defaults: { kind: "b" } });
  assert.strictEqual(created, true);
  await Team.upsert({ id: team.id, name: "crimson" });
  await assert.rejects(Team.create({ name: "blues" }), (e) => e.name === "SequelizeUniqueConstraintError");
  await db.transaction({ isolationLevel: Sequelize.Transaction.ISOLATION_LEVELS.SERIALIZABLE }, async (transaction) => {
    const player = await Player.findOne({ where: { name: "p1" }, lock: transaction.LOCK.UPDATE, transaction });
    await player.update({ goals: 99 }, { transaction });
  });
  const described = await db.getQueryInterface().describeTable("seq_players");
  assert.strictEqual(described.goals.type, "INTEGER");
  await team.destroy();
  assert.strictEqual(await Player.count(), 0);
  await db.drop({});
  await db.close();
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });

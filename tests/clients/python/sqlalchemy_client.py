"""SQLAlchemy: create, sessions, eager and lazy loading, bulk, upsert, and reflection of what was created."""
import datetime, decimal, enum, sys
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID, insert

url = sys.argv[1].replace("postgres://", "postgresql+psycopg2://")
engine = sa.create_engine(url)


class Base(orm.DeclarativeBase):
    pass


class Kind(enum.Enum):
    small = "small"
    large = "large"


class Owner(Base):
    __tablename__ = "sqa_owner"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True, comment="how it is called")
    things: orm.Mapped[list["Thing"]] = orm.relationship(back_populates="owner", cascade="all, delete-orphan")


class Thing(Base):
    __tablename__ = "sqa_thing"
    __table_args__ = (sa.Index("sqa_thing_owner_at", "owner_id", sa.text("at desc")), sa.CheckConstraint("price >= 0", name="sqa_price_positive"))
    id: orm.Mapped[int] = orm.mapped_column(sa.Identity(), primary_key=True)
    owner_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("sqa_owner.id", ondelete="CASCADE"))
    owner: orm.Mapped[Owner] = orm.relationship(back_populates="things")
    price: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2), server_default="0")
    at: orm.Mapped[datetime.datetime] = orm.mapped_column(sa.DateTime(timezone=True), server_default=sa.func.now())
    kind: orm.Mapped[Kind] = orm.mapped_column(sa.Enum(Kind, name="sqa_kind"))
    tags: orm.Mapped[list[str] | None] = orm.mapped_column(ARRAY(sa.Text))
    extra: orm.Mapped[dict | None] = orm.mapped_column(JSONB)
    key = orm.mapped_column(UUID(as_uuid=True), server_default=sa.text("gen_random_uuid()"))


Base.metadata.drop_all(engine)
Base.metadata.create_all(engine)
Base.metadata.create_all(engine)  # finds everything there
with orm.Session(engine) as session:
    owner = Owner(name="first", things=[Thing(price=i, kind=Kind.small if i % 2 else Kind.large, tags=["t", str(i)], extra={"i": i}) for i in range(10)])
    session.add(owner)
    session.commit()
    assert [thing.price for thing in owner.things] == [decimal.Decimal(i) for i in range(10)]
    query = sa.select(Owner.name, sa.func.count(), sa.func.sum(Thing.price)).join(Thing.owner).where(Thing.kind == Kind.large).group_by(Owner.name)
    assert session.execute(query).all() == [("first", 5, decimal.Decimal(20))]
    assert session.scalars(sa.select(Thing).where(Thing.extra["i"].as_integer() == 3)).one().tags == ["t", "3"]
    assert session.scalar(sa.select(sa.func.count()).where(sa.literal("7") == sa.any_(Thing.tags))) == 1
    assert len(session.scalars(sa.select(Owner).options(orm.selectinload(Owner.things))).one().things) == 10
    assert len(session.scalars(sa.select(Owner).options(orm.joinedload(Owner.things))).unique().one().things) == 10
    upsert = insert(Owner).values(name="first").on_conflict_do_update(index_elements=["name"], set_={"name": "renamed"}).returning(Owner.id)
    assert session.scalar(upsert) == owner.id
    session.commit()
    window = sa.select(Thing.id, sa.func.row_number().over(partition_by=Thing.kind, order_by=Thing.price.desc())).order_by(Thing.id)
    assert [n for _, n in session.execute(window)] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    session.delete(owner)
    session.commit()
    assert session.scalar(sa.select(sa.func.count()).select_from(Thing)) == 0

inspector = sa.inspect(engine)
assert {"sqa_owner", "sqa_thing"} <= set(inspector.get_table_names())
columns = {c["name"]: c for c in inspector.get_columns("sqa_thing")}
assert isinstance(columns["price"]["type"], sa.Numeric) and columns["price"]["type"].precision == 10
assert columns["kind"]["type"].enums == ["small", "large"] and columns["id"]["identity"]["always"] is False
assert inspector.get_pk_constraint("sqa_thing") == {"name": "sqa_thing_pkey", "constrained_columns": ["id"], "comment": None, "dialect_options": {"postgresql_include": []}}, inspector.get_pk_constraint("sqa_thing")
[foreign_key] = inspector.get_foreign_keys("sqa_thing")
assert foreign_key["referred_table"] == "sqa_owner" and foreign_key["options"] == {"ondelete": "CASCADE"}
[index] = inspector.get_indexes("sqa_thing")
assert index["column_names"] == ["owner_id", "at"] and index["column_sorting"] == {"at": ("desc",)}, index
assert inspector.get_unique_constraints("sqa_owner")[0]["column_names"] == ["name"]
assert inspector.get_check_constraints("sqa_thing")[0]["name"] == "sqa_price_positive"
assert {c["name"]: c["comment"] for c in inspector.get_columns("sqa_owner")}["name"] == "how it is called"
reflected = sa.MetaData()
reflected.reflect(engine, only=["sqa_owner", "sqa_thing"])
assert reflected.tables["sqa_thing"].c.owner_id.references(reflected.tables["sqa_owner"].c.id)
Base.metadata.drop_all(engine)
assert not inspector.has_table("sqa_thing") or sa.inspect(engine).has_table("sqa_thing") is False

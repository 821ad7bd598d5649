// pgjdbc: prepared statements past their threshold, batches, types, cursors by fetch size, transactions, and all of DatabaseMetaData that tools ask.
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class JdbcClient {
    static void check(Object expected, Object found) {
        if (!Objects.equals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> all = new ArrayList<>();
        while (rows.next()) all.add(rows.getString(name));
        rows.close();
        return all;
    }

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(args[0], "postgres", "")) {
            statements(connection);
            metadata(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute("drop table jdbc_child; drop table jdbc_parent");
            }
        }
    }

    static void statements(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists jdbc_child; drop table if exists jdbc_parent");
            statement.execute("create table jdbc_parent (id int primary key, name varchar(40) not null unique, note text default 'none')");
            statement.execute("create table jdbc_child (id serial primary key, parent_id int not null references jdbc_parent on delete cascade, price numeric(10,2), at timestamptz, flag boolean, raw bytea, tags text[])");
            statement.execute("create index jdbc_child_price on jdbc_child (price desc, at)");
            statement.execute("comment on table jdbc_parent is 'the parents'");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into jdbc_parent (id, name) values (?, ?)")) {
            for (int i = 1; i <= 100; i++) {
                insert.setInt(1, i);
                insert.setString(2, "parent " + i);
                insert.addBatch();
            }
            check(100, insert.executeBatch().length);
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into jdbc_child (parent_id, price, at, flag, raw, tags) values (?, ?, ?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            insert.setInt(1, 7);
            insert.setBigDecimal(2, new BigDecimal("12.50"));
            insert.setTimestamp(3, new Timestamp(1_700_000_000_000L));
            insert.setBoolean(4, true);
            insert.setBytes(5, new byte[] {0, 1, -1});
            insert.setArray(6, connection.createArrayOf("text", new String[] {"a", "b"}));
            check(1, insert.executeUpdate());
            ResultSet keys = insert.getGeneratedKeys();
            keys.next();
            check(1, keys.getInt("id"));
        }
        try (PreparedStatement select = connection.prepareStatement("select * from jdbc_child where parent_id = ?")) {
            for (int i = 0; i < 10; i++) { // from the fifth on it is prepared by name, and binary
                select.setInt(1, 7);
                ResultSet row = select.executeQuery();
                row.next();
                check(new BigDecimal("12.50"), row.getBigDecimal("price"));
                check(1_700_000_000_000L, row.getTimestamp("at").getTime());
                check(true, row.getBoolean("flag"));
                check(3, row.getBytes("raw").length);
                check("[a, b]", Arrays.toString((Object[]) row.getArray("tags").getArray()));
            }
            check("numeric", select.getMetaData().getColumnTypeName(3));
            check(10, select.getMetaData().getPrecision(3));
            check("jdbc_child", select.getMetaData().getTableName(3));
            check(Types.INTEGER, select.getParameterMetaData().getParameterType(1));
        }
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(10);
            check(100, column(statement.executeQuery("select id from jdbc_parent order by id"), "id").size());
            Savepoint savepoint = connection.setSavepoint("here");
            try {
                statement.executeUpdate("insert into jdbc_parent values (1, 'twice')");
                throw new AssertionError("a duplicate was taken");
            } catch (SQLException error) {
                check("23505", error.getSQLState());
                connection.rollback(savepoint);
            }
            statement.executeUpdate("update jdbc_parent set note = 'changed' where id <= 3");
        }
        connection.rollback();
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet rows = statement.executeQuery("select id, note from jdbc_parent where id <= 3 order by id");
            rows.last();
            check("none", rows.getString("note"));
            rows.updateString("note", "updated");
            rows.updateRow();
            rows.first();
            check(1, rows.getInt(1));
        }
    }

    static void metadata(Connection connection) throws SQLException {
        DatabaseMetaData meta = connection.getMetaData();
        check("PostgreSQL", meta.getDatabaseProductName());
        check(List.of("jdbc_child", "jdbc_parent"), column(meta.getTables(null, "public", "jdbc\\_%", new String[] {"TABLE"}), "TABLE_NAME"));
        check(List.of("id", "name", "note"), column(meta.getColumns(null, "public", "jdbc_parent", null), "COLUMN_NAME"));
        ResultSet price = meta.getColumns(null, "public", "jdbc_child", "price");
        price.next();
        check(Types.NUMERIC, price.getInt("DATA_TYPE"));
        check(10, price.getInt("COLUMN_SIZE"));
        check(2, price.getInt("DECIMAL_DIGITS"));
        check(List.of("id"), column(meta.getPrimaryKeys(null, "public", "jdbc_child"), "COLUMN_NAME"));
        ResultSet key = meta.getImportedKeys(null, "public", "jdbc_child");
        key.next();
        check("jdbc_parent", key.getString("PKTABLE_NAME"));
        check(DatabaseMetaData.importedKeyCascade, (int) key.getShort("DELETE_RULE"));
        check(List.of("parent_id"), column(meta.getExportedKeys(null, "public", "jdbc_parent"), "FKCOLUMN_NAME"));
        check(List.of("id", "price", "at"), column(meta.getIndexInfo(null, "public", "jdbc_child", false, false), "COLUMN_NAME"));
        if (!column(meta.getSchemas(), "TABLE_SCHEM").containsAll(List.of("public", "pg_catalog", "information_schema"))) throw new AssertionError("schemas");
        if (!column(meta.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int4", "text", "numeric", "timestamptz"))) throw new AssertionError("types");
        if (column(meta.getFunctions(null, "pg_catalog", "lower"), "FUNCTION_NAME").isEmpty()) throw new AssertionError("functions");
        column(meta.getBestRowIdentifier(null, "public", "jdbc_parent", DatabaseMetaData.bestRowSession, false), "COLUMN_NAME");
        column(meta.getTablePrivileges(null, "public", "jdbc_parent"), "PRIVILEGE");
        column(meta.getColumnPrivileges(null, "public", "jdbc_parent", "name"), "PRIVILEGE");
        column(meta.getProcedures(null, null, "nothing"), "PROCEDURE_NAME");
        column(meta.getUDTs(null, null, "nothing", null), "TYPE_NAME");
        column(meta.getCatalogs(), "TABLE_CAT");
        column(meta.getTableTypes(), "TABLE_TYPE");
    }
}

# DBD::Pg: placeholders, types, COPY, errors, catalog methods.
use strict;
use warnings;
use DBI qw(:sql_types);

sub check { my ($expected, $found) = @_; $expected eq ($found // 'undef') or die "expected $expected, found " . ($found // 'undef') . " at line " . (caller)[2] . "\n" }

my ($host, $port, $name) = @ARGV;
my $dbh = DBI->connect("dbi:Pg:host=$host;port=$port;dbname=$name", 'postgres', '', { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
$dbh->do('drop table if exists perl_items');
$dbh->do('create table perl_items (id serial primary key, name text not null, price numeric(8,2), raw bytea, tags text[])');
my $insert = $dbh->prepare('insert into perl_items (name, price, raw, tags) values (?, ?, ?, ?) returning id');
$insert->bind_param(3, undef, { pg_type => DBD::Pg::PG_BYTEA() });
for my $n (1 .. 20) { $insert->execute("item $n", $n / 4, "\x00\xff", ["a", $n]); check($n, $insert->fetchrow_array) }
check('52.50', $dbh->selectrow_array('select sum(price) from perl_items'));
my $row = $dbh->selectrow_hashref('select * from perl_items where id = ?', undef, 3);
check('item 3', $row->{name}); check("\x00\xff", $row->{raw}); check('3', $row->{tags}[1]);
$dbh->begin_work;
$dbh->pg_savepoint('here');
eval { $dbh->do("insert into perl_items (id, name) values (1, 'twice')") };
check('23505', $dbh->state);
$dbh->pg_rollback_to('here');
check(1, $dbh->do("update perl_items set name = 'changed' where id = 1"));
$dbh->commit;
$dbh->do('copy perl_items (name) from stdin');
$dbh->pg_putcopydata("copied $_\n") for 1 .. 5;
$dbh->pg_putcopyend;
check(25, $dbh->selectrow_array('select count(*) from perl_items'));
check('perl_items', $dbh->table_info(undef, 'public', 'perl_items', 'TABLE')->fetchrow_hashref->{TABLE_NAME});
check('id,name,price,raw,tags', join ',', map { $_->{COLUMN_NAME} } @{ $dbh->column_info(undef, 'public', 'perl_items', '%')->fetchall_arrayref({}) });
check('id', join ',', $dbh->primary_key(undef, 'public', 'perl_items'));
check(25, $dbh->last_insert_id(undef, 'public', 'perl_items', undef));
$dbh->do('drop table perl_items');
$dbh->disconnect;

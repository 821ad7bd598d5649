-- psql's backslash commands over the system catalogs.
create table parent (id int primary key, name varchar(20) not null default 'x');
create table child (id bigserial primary key, parent_id int references parent (id) on delete cascade, v numeric(10,2) check (v > 0), at timestamptz);
create unique index child_v on child (v desc);
create view both_of as select p.name, c.v from parent p join child c on c.parent_id = p.id;
create sequence counter start 5;
\d
\dt
\di
\dv
\ds
\d parent
\d child
\d child_v
\d both_of
\d counter
\dn
\l postgres
\du
\df nextval
\dT int4
\x
select * from parent;
\x
select 1 as a, 'b' as b \gdesc
\echo :SERVER_VERSION_NAME
drop view both_of;
drop table child, parent;
drop sequence counter;

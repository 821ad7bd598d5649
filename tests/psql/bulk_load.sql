-- Loading many rows into tables that the same transaction made: they take the short way to the disk, and must not show it.
\set ON_ERROR_STOP off

-- A table made and filled in one transaction.
BEGIN;
CREATE TABLE loaded (id int PRIMARY KEY, grp int, note text);
CREATE INDEX loaded_grp ON loaded (grp);
\copy loaded from program 'seq 1 5000 | awk ''{print $1 "\t" $1 % 7 "\tnote " $1}'''
SELECT count(*), sum(id), min(note), max(note) FROM loaded;
SELECT count(*) FROM loaded WHERE grp = 3;
UPDATE loaded SET grp = 100 WHERE id = 10;
DELETE FROM loaded WHERE id = 11;
INSERT INTO loaded VALUES (10, 0, 'duplicate');
ROLLBACK;
SELECT count(*) FROM loaded;

BEGIN;
CREATE TABLE loaded (id int PRIMARY KEY, grp int, note text);
CREATE INDEX loaded_grp ON loaded (grp);
INSERT INTO loaded SELECT i, i % 7, 'note ' || i FROM generate_series(1, 5000) i;
UPDATE loaded SET grp = 100 WHERE id = 10;
DELETE FROM loaded WHERE id = 11;
COMMIT;
SELECT count(*), sum(id), sum(grp) FROM loaded;
SELECT id FROM loaded WHERE grp = 100;

-- A duplicate in a load, in the key and in a unique index.
BEGIN;
TRUNCATE loaded;
INSERT INTO loaded SELECT i % 4999, 1, 'x' FROM generate_series(1, 5000) i;
ROLLBACK;
BEGIN;
CREATE TABLE twice (id int, code text UNIQUE);
INSERT INTO twice SELECT i, 'code ' || i % 4000 FROM generate_series(1, 5000) i;
ROLLBACK;
SELECT count(*), sum(id) FROM loaded;

-- Emptied and filled again; rolled back, it is what it was.
BEGIN;
TRUNCATE loaded;
INSERT INTO loaded SELECT i, 1, 'again' FROM generate_series(1, 3000) i;
SELECT count(*) FROM loaded;
ROLLBACK;
SELECT count(*), max(note) FROM loaded;

-- Savepoints before and after the load.
BEGIN;
SAVEPOINT before;
CREATE TABLE sp (id int PRIMARY KEY);
INSERT INTO sp SELECT generate_series(1, 3000);
SAVEPOINT after;
INSERT INTO sp SELECT generate_series(3001, 6000);
SELECT count(*) FROM sp;
ROLLBACK TO after;
SELECT count(*) FROM sp;
INSERT INTO sp VALUES (3001);
ROLLBACK TO before;
CREATE TABLE sp (id int PRIMARY KEY);
INSERT INTO sp SELECT generate_series(1, 2500);
COMMIT;
SELECT count(*), max(id) FROM sp;

-- Two loads into one table, the second with a duplicate of the first.
BEGIN;
CREATE TABLE two (id int PRIMARY KEY);
INSERT INTO two SELECT generate_series(1, 3000);
INSERT INTO two SELECT generate_series(3001, 6000);
SELECT count(*) FROM two;
INSERT INTO two SELECT generate_series(6000, 9000);
ROLLBACK;

-- Indexes built over many rows.
CREATE TABLE plain (id int, half int, note text);
INSERT INTO plain SELECT i, i / 2, 'n' || i % 100 FROM generate_series(1, 9999) i;
CREATE UNIQUE INDEX plain_half ON plain (half);
ALTER TABLE plain ADD PRIMARY KEY (half);
ALTER TABLE plain ADD PRIMARY KEY (id);
CREATE INDEX plain_note ON plain (note DESC, id) WHERE id > 5000;
SELECT count(*) FROM plain WHERE note = 'n7' AND id > 5000;
SELECT id, half, note FROM plain WHERE id = 77;
UPDATE plain SET half = NULL WHERE id = 4;
UPDATE plain SET half = 999999 WHERE id = 4;
ALTER TABLE plain DROP CONSTRAINT plain_pkey;
ALTER TABLE plain ADD PRIMARY KEY (half);
ALTER TABLE plain ADD COLUMN stamp double precision DEFAULT random();
SELECT count(DISTINCT stamp) > 9000, count(*) FROM plain;

-- A foreign key to the loaded table itself, and to another.
BEGIN;
CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree);
INSERT INTO tree SELECT i, nullif(i / 2, 0) FROM generate_series(1, 4000) i;
INSERT INTO tree SELECT i, 100000 FROM generate_series(4001, 7000) i;
ROLLBACK;

CREATE TABLE copied AS SELECT i AS n, i * i AS square FROM generate_series(1, 4000) i;
SELECT count(*), max(square) FROM copied;
DROP TABLE loaded, sp, plain, copied;

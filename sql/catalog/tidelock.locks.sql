-- Every row lock that is held, and every wait for one. The key is what follows the index id, in hexadecimal.
SELECT table_schema || '.' || table_name AS relation, index_name, encode(key, 'hex') AS key, pid, transaction_id, strength, wrote, false AS waiting,
       NULL::int4[] AS blocked_by, NULL::int8 AS waited_ms
FROM tidelock.held_locks
UNION ALL
SELECT table_schema || '.' || table_name, index_name, encode(key, 'hex'), pid, NULL, strength, false, true, blocked_by, waited_ms
FROM tidelock.lock_waits

-- No session is encrypted.
SELECT pid, false AS ssl, NULL::text AS version, NULL::text AS cipher, NULL::int4 AS bits, NULL::text AS client_dn, NULL::numeric AS client_serial, NULL::text AS issuer_dn
FROM pg_catalog.pg_stat_activity

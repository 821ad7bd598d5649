-- Sessions, and how long each has been at it.
SELECT pid, usename::text AS user_name, application_name, client_addr || ':' || client_port::text AS client, state, query,
       (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::int8 AS transaction_age_ms,
       CASE WHEN state = 'active' THEN (extract(epoch FROM clock_timestamp() - query_start) * 1000)::int8 END AS query_age_ms,
       wait_event_type || ': ' || wait_event AS waiting_for
FROM pg_catalog.pg_stat_activity

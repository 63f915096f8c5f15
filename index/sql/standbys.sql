-- The standbys that stream from this server, and the slots that keep its log for them.

-- name: status
-- One row for each standby that is connected, and for each slot of one that is not. Who is not a member of
-- pg_monitor sees neither states nor lags.
SELECT
    coalesce(application_name, slot_name::text) AS name,
    coalesce(state, 'away') AS state,
    extract(epoch FROM replay_lag)::double precision AS lag_s,
    pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, restart_lsn))::bigint AS behind_bytes,
    wal_status
FROM pg_stat_replication
FULL JOIN (SELECT * FROM pg_replication_slots WHERE slot_type = 'physical') AS slots
    ON active_pid = pid
ORDER BY name;

-- The name of the database's history: another one wherever a revision may be used again.

-- number: drawn at random; drawn again by an operator who has restored by means that nothing else shows.
CREATE TABLE history_numbers (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    number   bigint NOT NULL DEFAULT hashtextextended(gen_random_uuid()::text, 0)
);
INSERT INTO history_numbers DEFAULT VALUES;

-- Each statement that reads a revision reads this too. It needs no rights beyond the table's, and no
-- setting of a session has a part in it. It changes
--   whenever the server starts: a restored copy, a promoted standby and a recovered server have started
--       since, or at another time, than the server that knew the revisions that were lost;
--   whenever the server recovers without starting, after one of its processes was killed: what was
--       committed asynchronously may be lost, and the statistics begin anew;
--   when the table `tenants` is made, emptied or rewritten, or is that of another database, whose file
--       is another one: pg_restore does so, and who puts a copy of a database in its place.
CREATE FUNCTION history_of(number bigint) RETURNS text STABLE PARALLEL SAFE
RETURN to_hex(
    hashfloat8extended(
        date_part('epoch', pg_postmaster_start_time()),
        hashfloat8extended(
            coalesce(date_part('epoch', pg_stat_get_bgwriter_stat_reset_time()), 0),
            hashtextextended(pg_relation_filepath('tenants'::regclass), number)
        )
    )
);

CREATE VIEW histories AS
SELECT history_of(number) AS history FROM history_numbers WHERE only_row;

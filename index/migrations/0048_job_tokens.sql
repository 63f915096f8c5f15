-- is_for_job: of a token that nobody holds: a web token queued a job, and the job has its rights. Such
-- tokens do not count towards the limit of a subject's tokens: the queue limits them.
ALTER TABLE keys ADD COLUMN is_for_job boolean NOT NULL DEFAULT false;

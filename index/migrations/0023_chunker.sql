-- `cut` becomes `chunker`, as the column of `documents` already is, in what is stored as JSON: settings of
-- sources, and documents that wait to be written. The usage of a model that splits texts is `chunking`.

UPDATE sources SET settings = settings - 'cut' || jsonb_build_object('chunker', settings -> 'cut')
WHERE settings ? 'cut';

UPDATE sources SET settings = jsonb_set(
    settings #- '{columns,cut}', '{columns,chunker}', settings #> '{columns,cut}'
)
WHERE settings -> 'columns' ? 'cut';

UPDATE jobs SET payload = convert_to(
    (bodies.body - 'cut' || jsonb_build_object('chunker', bodies.body -> 'cut'))::text, 'UTF8'
)
FROM (
    SELECT job_no, convert_from(payload, 'UTF8')::jsonb AS body
    FROM jobs WHERE kind = 'document.write' AND octet_length(payload) > 0
    OFFSET 0
) AS bodies
WHERE bodies.job_no = jobs.job_no AND bodies.body ? 'cut';

UPDATE usage SET operation = 'chunking' WHERE operation = 'cut';

-- What `samplin predict --json` says of devices that nobody has yet: a row for each predicted change.
CREATE OR REPLACE VIEW predicted AS
WITH files AS (SELECT json FROM read_json_objects('predicted/*.json', format = 'auto')),
decisions AS (SELECT json ->> 'device' AS device, unnest(json_extract(json, '$.decisions[*]')) AS decision FROM files),
changed AS (SELECT device, decision, unnest(json_extract(decision, '$.changes[*]')) AS change FROM decisions)
SELECT
    device,
    decision ->> 'event' AS event,
    decision ->> 'fingerprint' AS fingerprint,
    decision ->> 'sampler_name' AS sampler_name,
    decision ->> 'format' AS format,
    decision ->> 'view_type' AS view_type,
    change ->> 'rule' AS rule,
    change ->> 'field' AS field,
    change ->> 'lost' AS lost
FROM changed;

-- What `samplin predict --json` says of devices that nobody has yet: a row for each predicted change.
CREATE OR REPLACE VIEW predicted AS
WITH decisions AS (
    SELECT
        JSONExtract(json, 'device', 'Nullable(String)') AS device,
        arrayJoin(JSONExtractArrayRaw(json, 'decisions')) AS decision
    FROM file('predicted/*.json', 'JSONAsString', 'json String')
),
changed AS (SELECT device, decision, arrayJoin(JSONExtractArrayRaw(decision, 'changes')) AS change FROM decisions)
SELECT
    device,
    JSONExtract(decision, 'event', 'Nullable(String)') AS event,
    JSONExtract(decision, 'fingerprint', 'Nullable(String)') AS fingerprint,
    JSONExtract(decision, 'sampler_name', 'Nullable(String)') AS sampler_name,
    JSONExtract(decision, 'format', 'Nullable(String)') AS format,
    JSONExtract(decision, 'view_type', 'Nullable(String)') AS view_type,
    JSONExtract(change, 'rule', 'Nullable(String)') AS rule,
    JSONExtract(change, 'field', 'Nullable(String)') AS field,
    JSONExtract(change, 'lost', 'Nullable(String)') AS lost
FROM changed;

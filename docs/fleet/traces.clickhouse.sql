-- The six tables straight over JSON lines, in ClickHouse: traces/build=…/day=…/*.jsonl. Start clickhouse-local or chdb in the
-- folder that traces/ and predicted/ lie in. Derived from manifest/tables.json by scripts/manifests. Damaged lines are left out.
SET join_use_nulls = 1;
CREATE OR REPLACE VIEW lines AS
SELECT _path AS trace, line AS json
FROM file('traces/**/*.jsonl', 'LineAsString', 'line String')
WHERE isValidJSON(line) SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW records AS
SELECT
    concat(trace, ':', toString(JSONExtractInt(json, 'pid'))) AS run,
    toDate32(extract(trace, 'day=([0-9-]+)')) AS day,
    nullIf(extract(trace, 'build=([^/]+)'), '') AS build,
    trace,
    JSONExtractString(json, 'event') AS event,
    JSONExtractInt(json, 'seq') AS seq,
    if(event = 'device', coalesce(JSONExtract(json, 'simulated', 'Nullable(String)'), JSONExtractString(json, 'device')), NULL)
        AS own_device,
    json
FROM lines;
CREATE OR REPLACE VIEW created AS
SELECT run, seq, own_device, lead(seq, 1, 9000000000000000000) OVER (PARTITION BY run ORDER BY seq) AS until
FROM records
WHERE own_device IS NOT NULL;
CREATE OR REPLACE VIEW placed AS
SELECT r.run AS run, r.day AS day, coalesce(c.own_device, 'unknown') AS device, r.build AS build, r.trace AS trace,
    r.event AS event, r.seq AS seq, r.json AS json
FROM records AS r LEFT JOIN created AS c ON c.run = r.run AND c.seq <= r.seq AND r.seq < c.until;
CREATE OR REPLACE VIEW runs AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    r.trace AS trace,
    JSONExtract(json, 'pid', 'Nullable(Int64)') AS pid,
    JSONExtract(json, 'exe', 'Nullable(String)') AS exe,
    JSONExtract(json, 'app', 'Nullable(String)') AS app,
    JSONExtract(json, 'engine', 'Nullable(String)') AS engine,
    JSONExtract(json, 'api_version', 'Nullable(String)') AS api_version,
    JSONExtract(json, 'version', 'Nullable(String)') AS version,
    JSONExtract(json, 'settings', 'mode', 'value', 'Nullable(String)') AS mode,
    JSONExtract(json, 'settings', 'trace_level', 'value', 'Nullable(String)') AS trace_level,
    nullIf(JSONExtractRaw(json, 'settings'), '') AS settings
FROM (
    SELECT l.run AS run, l.day AS day, coalesce(d.first_device, 'unknown') AS device, l.build AS build, l.trace AS trace, l.json AS json
    FROM records AS l
    JOIN (SELECT run, min(seq) AS first_seq FROM records WHERE event = 'layer' GROUP BY run) AS f ON f.run = l.run AND f.first_seq = l.seq
    LEFT JOIN (SELECT run, argMin(own_device, seq) AS first_device FROM created GROUP BY run) AS d ON d.run = l.run
    WHERE l.event = 'layer'
) AS r;
CREATE OR REPLACE VIEW devices AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'device', 'Nullable(String)') AS name,
    JSONExtract(json, 'simulated', 'Nullable(String)') AS simulated,
    JSONExtract(json, 'driver', 'vendor_id', 'Nullable(Int64)') AS vendor_id,
    JSONExtract(json, 'driver', 'device_id', 'Nullable(Int64)') AS device_id,
    JSONExtract(json, 'driver', 'driver_version', 'Nullable(Int64)') AS driver_version,
    JSONExtract(json, 'driver', 'api_version', 'Nullable(String)') AS api_version,
    JSONExtract(json, 'limits', 'maxSamplerAnisotropy', 'Nullable(Float64)') AS max_sampler_anisotropy,
    JSONExtract(json, 'limits', 'maxSamplerLodBias', 'Nullable(Float64)') AS max_sampler_lod_bias,
    JSONExtract(json, 'limits', 'maxSamplerAllocationCount', 'Nullable(Int64)') AS max_sampler_allocation_count,
    JSONExtract(json, 'limits', 'maxCustomBorderColorSamplers', 'Nullable(Int64)') AS max_custom_border_color_samplers,
    nullIf(JSONExtractRaw(json, 'features'), '') AS features,
    nullIf(JSONExtractRaw(json, 'augmented'), '') AS augmented
FROM placed AS r
WHERE event = 'device';
CREATE OR REPLACE VIEW changes AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'event', 'Nullable(String)') AS event,
    JSONExtract(json, 'fingerprint', 'Nullable(String)') AS fingerprint,
    coalesce(JSONExtract(json, 'name', 'Nullable(String)'), JSONExtract(json, 'names', 'sampler', 'Nullable(String)')) AS sampler_name,
    JSONExtract(json, 'names', 'view', 'Nullable(String)') AS view_name,
    coalesce(JSONExtract(json, 'format', 'Nullable(String)'), JSONExtract(json, 'src_format', 'Nullable(String)')) AS format,
    JSONExtract(json, 'aspect', 'Nullable(String)') AS aspect,
    JSONExtract(json, 'view_type', 'Nullable(String)') AS view_type,
    JSONExtract(json, 'swizzle', 'Nullable(String)') AS swizzle,
    JSONExtract(json, 'path', 'Nullable(String)') AS path,
    JSONExtract(change, 'rule', 'Nullable(String)') AS rule,
    JSONExtract(change, 'catalog', 'Nullable(String)') AS catalog,
    JSONExtract(change, 'vuid', 'Nullable(String)') AS vuid,
    JSONExtract(change, 'field', 'Nullable(String)') AS field,
    if(JSONType(change, 'from') = 'String', JSONExtractString(change, 'from'), nullIf(nullIf(JSONExtractRaw(change, 'from'), 'null'), '')) AS before,
    if(JSONType(change, 'to') = 'String', JSONExtractString(change, 'to'), nullIf(nullIf(JSONExtractRaw(change, 'to'), 'null'), '')) AS after,
    JSONExtract(change, 'because', 'Nullable(String)') AS because,
    JSONExtract(change, 'lost', 'Nullable(String)') AS lost,
    (event <> 'pair' OR JSONExtract(json, 'variant', 'Nullable(String)') IS NOT NULL) AS applied,
    JSONExtract(json, 'lossless', 'Nullable(Bool)') AS lossless
FROM (
    SELECT *, arrayJoin(JSONExtractArrayRaw(json, 'changes')) AS change
    FROM placed
    WHERE event IN ('sampler', 'pair', 'blit', 'conversion', 'shader')
) AS r;
CREATE OR REPLACE VIEW pairs AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'fingerprint', 'Nullable(String)') AS fingerprint,
    coalesce(JSONExtract(json, 'name', 'Nullable(String)'), JSONExtract(json, 'names', 'sampler', 'Nullable(String)')) AS sampler_name,
    JSONExtract(json, 'names', 'view', 'Nullable(String)') AS view_name,
    JSONExtract(json, 'format', 'Nullable(String)') AS format,
    JSONExtract(json, 'aspect', 'Nullable(String)') AS aspect,
    JSONExtract(json, 'view_type', 'Nullable(String)') AS view_type,
    JSONExtract(json, 'swizzle', 'Nullable(String)') AS swizzle,
    JSONExtract(json, 'path', 'Nullable(String)') AS path,
    JSONExtract(json, 'view_class', 'image_type', 'Nullable(String)') AS image_type,
    JSONExtract(json, 'view_class', 'tiling', 'Nullable(String)') AS tiling,
    JSONExtract(json, 'view_class', 'features', 'Nullable(String)') AS features,
    CAST(JSONLength(json, 'changes') AS BIGINT) AS changes,
    (event <> 'pair' OR JSONExtract(json, 'variant', 'Nullable(String)') IS NOT NULL) AS replaced
FROM placed AS r
WHERE event = 'pair';
CREATE OR REPLACE VIEW unresolved AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'what', 'Nullable(String)') AS what,
    JSONExtract(json, 'why', 'Nullable(String)') AS why,
    JSONExtract(json, 'rule', 'Nullable(String)') AS rule,
    JSONExtract(json, 'vuid', 'Nullable(String)') AS vuid,
    JSONExtract(json, 'fingerprint', 'Nullable(String)') AS fingerprint,
    coalesce(JSONExtract(json, 'name', 'Nullable(String)'), JSONExtract(json, 'names', 'sampler', 'Nullable(String)')) AS sampler_name,
    JSONExtract(json, 'names', 'view', 'Nullable(String)') AS view_name,
    JSONExtract(json, 'format', 'Nullable(String)') AS format,
    JSONExtract(json, 'aspect', 'Nullable(String)') AS aspect,
    JSONExtract(json, 'view_type', 'Nullable(String)') AS view_type,
    JSONExtract(json, 'swizzle', 'Nullable(String)') AS swizzle,
    JSONExtract(json, 'path', 'Nullable(String)') AS path
FROM placed AS r
WHERE event = 'unresolved';
CREATE OR REPLACE VIEW exempt AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'what', 'Nullable(String)') AS what,
    nullIf(JSONExtractRaw(json, 'rules'), '') AS rules,
    JSONExtract(json, 'fingerprint', 'Nullable(String)') AS fingerprint,
    coalesce(JSONExtract(json, 'name', 'Nullable(String)'), JSONExtract(json, 'names', 'sampler', 'Nullable(String)')) AS sampler_name,
    JSONExtract(json, 'names', 'view', 'Nullable(String)') AS view_name,
    JSONExtract(json, 'format', 'Nullable(String)') AS format,
    JSONExtract(json, 'aspect', 'Nullable(String)') AS aspect,
    JSONExtract(json, 'view_type', 'Nullable(String)') AS view_type,
    JSONExtract(json, 'path', 'Nullable(String)') AS path,
    nullIf(JSONExtractRaw(json, 'changes'), '') AS changes
FROM placed AS r
WHERE event = 'exempt';
CREATE OR REPLACE VIEW census AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    JSONExtract(json, 't_ns', 'Nullable(Int64)') AS t_ns,
    JSONExtract(json, 'scope', 'Nullable(String)') AS scope,
    JSONExtract(json, 'samplers', 'created', 'Nullable(Int64)') AS samplers_created,
    JSONExtract(json, 'samplers', 'peak', 'Nullable(Int64)') AS samplers_peak,
    JSONExtract(json, 'samplers', 'changed', 'Nullable(Int64)') AS samplers_changed,
    JSONExtract(json, 'views', 'created', 'Nullable(Int64)') AS views_created,
    JSONExtract(json, 'views', 'classes', 'Nullable(Int64)') AS view_classes,
    if(JSONHas(json, 'writes'), arraySum(x -> JSONExtractInt(x.2, 'seen'), JSONExtractKeysAndValuesRaw(json, 'writes')), NULL) AS descriptors_seen,
    if(JSONHas(json, 'writes'), arraySum(x -> JSONExtractInt(x.2, 'rewritten'), JSONExtractKeysAndValuesRaw(json, 'writes')), NULL) AS descriptors_rewritten,
    JSONExtract(json, 'blits_rewritten', 'Nullable(Int64)') AS blits_rewritten,
    JSONExtract(json, 'variants', 'created', 'Nullable(Int64)') AS variants_created,
    JSONExtract(json, 'variants', 'peak', 'Nullable(Int64)') AS variants_peak,
    JSONExtract(json, 'census', 'unique_states', 'peak', 'Nullable(Int64)') AS unique_states_peak,
    JSONExtract(json, 'census', 'headroom', 'maxSamplerAllocationCount', 'Nullable(Int64)') AS headroom_allocation_count,
    JSONExtract(json, 'census', 'headroom', 'maxCustomBorderColorSamplers', 'Nullable(Int64)') AS headroom_custom_border,
    JSONExtract(json, 'census', 'limits', 'maxSamplerAllocationCount', 'asked', 'Nullable(Int64)') AS asked_samplers,
    JSONExtract(json, 'census', 'limits', 'maxCustomBorderColorSamplers', 'asked', 'Nullable(Int64)') AS asked_custom_borders,
    JSONExtract(json, 'separate', 'links', 'Nullable(Int64)') AS separate_links,
    JSONExtract(json, 'separate', 'shadows', 'peak', 'Nullable(Int64)') AS separate_shadows_peak,
    JSONExtract(json, 'separate', 'splits', 'Nullable(Int64)') AS separate_splits,
    JSONExtract(json, 'separate', 'compile_ms', 'Nullable(Float64)') AS separate_compile_ms,
    JSONExtract(json, 'separate', 'learned', 'Nullable(Int64)') AS separate_learned,
    JSONExtract(json, 'passed_through', 'Nullable(Bool)') AS passed_through,
    JSONExtract(json, 'dropped', 'Nullable(Int64)') AS dropped,
    JSONExtract(json, 'left_out', 'records', 'Nullable(Int64)') AS left_out_records,
    JSONExtract(json, 'left_out', 'bytes', 'Nullable(Int64)') AS left_out_bytes
FROM placed AS r
WHERE event = 'summary';

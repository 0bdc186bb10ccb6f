-- The six tables straight over JSON lines, in DuckDB: traces/build=…/day=…/*.jsonl. Start it in the folder that traces/ and
-- predicted/ lie in. Derived from manifest/tables.json by scripts/manifests. Damaged lines are left out.
CREATE OR REPLACE VIEW lines AS
SELECT filename AS trace, json
FROM read_json_objects(
    'traces/**/*.jsonl', format = 'newline_delimited', filename = true, ignore_errors = true, hive_partitioning = false
)
WHERE json IS NOT NULL;
CREATE OR REPLACE VIEW records AS
SELECT
    concat(trace, ':', json_extract_string(json, '$.pid')) AS run,
    CAST(regexp_extract(trace, 'day=([0-9-]+)', 1) AS DATE) AS day,
    nullif(regexp_extract(trace, 'build=([^/]+)', 1), '') AS build,
    trace,
    json_extract_string(json, '$.event') AS event,
    CAST(json_extract_string(json, '$.seq') AS BIGINT) AS seq,
    CASE WHEN json_extract_string(json, '$.event') = 'device'
        THEN coalesce(json_extract_string(json, '$.simulated'), json_extract_string(json, '$.device')) END AS own_device,
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
    CAST(json_extract_string(json, '$.pid') AS BIGINT) AS pid,
    json_extract_string(json, '$.exe') AS exe,
    json_extract_string(json, '$.app') AS app,
    json_extract_string(json, '$.engine') AS engine,
    json_extract_string(json, '$.api_version') AS api_version,
    json_extract_string(json, '$.version') AS version,
    json_extract_string(json, '$.settings.mode.value') AS mode,
    json_extract_string(json, '$.settings.trace_level.value') AS trace_level,
    CAST(json_extract(json, '$.settings') AS VARCHAR) AS settings
FROM (
    SELECT l.run AS run, l.day AS day, coalesce(d.first_device, 'unknown') AS device, l.build AS build, l.trace AS trace, l.json AS json
    FROM records AS l
    JOIN (SELECT run, min(seq) AS first_seq FROM records WHERE event = 'layer' GROUP BY run) AS f ON f.run = l.run AND f.first_seq = l.seq
    LEFT JOIN (SELECT run, min_by(own_device, seq) AS first_device FROM created GROUP BY run) AS d ON d.run = l.run
    WHERE l.event = 'layer'
) AS r;
CREATE OR REPLACE VIEW devices AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.device') AS name,
    json_extract_string(json, '$.simulated') AS simulated,
    CAST(json_extract_string(json, '$.driver.vendor_id') AS BIGINT) AS vendor_id,
    CAST(json_extract_string(json, '$.driver.device_id') AS BIGINT) AS device_id,
    CAST(json_extract_string(json, '$.driver.driver_version') AS BIGINT) AS driver_version,
    json_extract_string(json, '$.driver.api_version') AS api_version,
    CAST(json_extract_string(json, '$.limits.maxSamplerAnisotropy') AS DOUBLE) AS max_sampler_anisotropy,
    CAST(json_extract_string(json, '$.limits.maxSamplerLodBias') AS DOUBLE) AS max_sampler_lod_bias,
    CAST(json_extract_string(json, '$.limits.maxSamplerAllocationCount') AS BIGINT) AS max_sampler_allocation_count,
    CAST(json_extract_string(json, '$.limits.maxCustomBorderColorSamplers') AS BIGINT) AS max_custom_border_color_samplers,
    CAST(json_extract(json, '$.features') AS VARCHAR) AS features,
    CAST(json_extract(json, '$.augmented') AS VARCHAR) AS augmented
FROM placed AS r
WHERE event = 'device';
CREATE OR REPLACE VIEW changes AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.event') AS event,
    json_extract_string(json, '$.fingerprint') AS fingerprint,
    coalesce(json_extract_string(json, '$.name'), json_extract_string(json, '$.names.sampler')) AS sampler_name,
    json_extract_string(json, '$.names.view') AS view_name,
    coalesce(json_extract_string(json, '$.format'), json_extract_string(json, '$.src_format')) AS format,
    json_extract_string(json, '$.aspect') AS aspect,
    json_extract_string(json, '$.view_type') AS view_type,
    json_extract_string(json, '$.swizzle') AS swizzle,
    json_extract_string(json, '$.path') AS path,
    json_extract_string(change, '$.rule') AS rule,
    json_extract_string(change, '$.catalog') AS catalog,
    json_extract_string(change, '$.vuid') AS vuid,
    json_extract_string(change, '$.field') AS field,
    regexp_replace(json_extract_string(change, '$.from'), '([0-9])[.]0([^0-9]|$)', '\1\2', 'g') AS before,
    regexp_replace(json_extract_string(change, '$.to'), '([0-9])[.]0([^0-9]|$)', '\1\2', 'g') AS after,
    json_extract_string(change, '$.because') AS because,
    json_extract_string(change, '$.lost') AS lost,
    (event <> 'pair' OR json_extract_string(json, '$.variant') IS NOT NULL) AS applied,
    CAST(json_extract_string(json, '$.lossless') AS BOOLEAN) AS lossless
FROM (
    SELECT *, unnest(json_extract(json, '$.changes[*]')) AS change
    FROM placed
    WHERE event IN ('sampler', 'pair', 'blit', 'conversion', 'shader')
) AS r;
CREATE OR REPLACE VIEW pairs AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.fingerprint') AS fingerprint,
    coalesce(json_extract_string(json, '$.name'), json_extract_string(json, '$.names.sampler')) AS sampler_name,
    json_extract_string(json, '$.names.view') AS view_name,
    json_extract_string(json, '$.format') AS format,
    json_extract_string(json, '$.aspect') AS aspect,
    json_extract_string(json, '$.view_type') AS view_type,
    json_extract_string(json, '$.swizzle') AS swizzle,
    json_extract_string(json, '$.path') AS path,
    json_extract_string(json, '$.view_class.image_type') AS image_type,
    json_extract_string(json, '$.view_class.tiling') AS tiling,
    json_extract_string(json, '$.view_class.features') AS features,
    CAST(json_array_length(json, '$.changes') AS BIGINT) AS changes,
    (event <> 'pair' OR json_extract_string(json, '$.variant') IS NOT NULL) AS replaced
FROM placed AS r
WHERE event = 'pair';
CREATE OR REPLACE VIEW unresolved AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.what') AS what,
    json_extract_string(json, '$.why') AS why,
    json_extract_string(json, '$.rule') AS rule,
    json_extract_string(json, '$.vuid') AS vuid,
    json_extract_string(json, '$.fingerprint') AS fingerprint,
    coalesce(json_extract_string(json, '$.name'), json_extract_string(json, '$.names.sampler')) AS sampler_name,
    json_extract_string(json, '$.names.view') AS view_name,
    json_extract_string(json, '$.format') AS format,
    json_extract_string(json, '$.aspect') AS aspect,
    json_extract_string(json, '$.view_type') AS view_type,
    json_extract_string(json, '$.swizzle') AS swizzle,
    json_extract_string(json, '$.path') AS path
FROM placed AS r
WHERE event = 'unresolved';
CREATE OR REPLACE VIEW exempt AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.what') AS what,
    CAST(json_extract(json, '$.rules') AS VARCHAR) AS rules,
    json_extract_string(json, '$.fingerprint') AS fingerprint,
    coalesce(json_extract_string(json, '$.name'), json_extract_string(json, '$.names.sampler')) AS sampler_name,
    json_extract_string(json, '$.names.view') AS view_name,
    json_extract_string(json, '$.format') AS format,
    json_extract_string(json, '$.aspect') AS aspect,
    json_extract_string(json, '$.view_type') AS view_type,
    json_extract_string(json, '$.path') AS path,
    CAST(json_extract(json, '$.changes') AS VARCHAR) AS changes
FROM placed AS r
WHERE event = 'exempt';
CREATE OR REPLACE VIEW census AS
SELECT
    r.run AS run,
    r.day AS day,
    r.device AS device,
    r.build AS build,
    CAST(json_extract_string(json, '$.t_ns') AS BIGINT) AS t_ns,
    json_extract_string(json, '$.scope') AS scope,
    CAST(json_extract_string(json, '$.samplers.created') AS BIGINT) AS samplers_created,
    CAST(json_extract_string(json, '$.samplers.peak') AS BIGINT) AS samplers_peak,
    CAST(json_extract_string(json, '$.samplers.changed') AS BIGINT) AS samplers_changed,
    CAST(json_extract_string(json, '$.views.created') AS BIGINT) AS views_created,
    CAST(json_extract_string(json, '$.views.classes') AS BIGINT) AS view_classes,
    CAST(list_sum(CAST(nullif(json_extract(json, '$.writes.*.seen'), []) AS BIGINT[])) AS BIGINT) AS descriptors_seen,
    CAST(list_sum(CAST(nullif(json_extract(json, '$.writes.*.rewritten'), []) AS BIGINT[])) AS BIGINT) AS descriptors_rewritten,
    CAST(json_extract_string(json, '$.blits_rewritten') AS BIGINT) AS blits_rewritten,
    CAST(json_extract_string(json, '$.variants.created') AS BIGINT) AS variants_created,
    CAST(json_extract_string(json, '$.variants.peak') AS BIGINT) AS variants_peak,
    CAST(json_extract_string(json, '$.census.unique_states.peak') AS BIGINT) AS unique_states_peak,
    CAST(json_extract_string(json, '$.census.headroom.maxSamplerAllocationCount') AS BIGINT) AS headroom_allocation_count,
    CAST(json_extract_string(json, '$.census.headroom.maxCustomBorderColorSamplers') AS BIGINT) AS headroom_custom_border,
    CAST(json_extract_string(json, '$.census.limits.maxSamplerAllocationCount.asked') AS BIGINT) AS asked_samplers,
    CAST(json_extract_string(json, '$.census.limits.maxCustomBorderColorSamplers.asked') AS BIGINT) AS asked_custom_borders,
    CAST(json_extract_string(json, '$.separate.links') AS BIGINT) AS separate_links,
    CAST(json_extract_string(json, '$.separate.shadows.peak') AS BIGINT) AS separate_shadows_peak,
    CAST(json_extract_string(json, '$.separate.splits') AS BIGINT) AS separate_splits,
    CAST(json_extract_string(json, '$.separate.compile_ms') AS DOUBLE) AS separate_compile_ms,
    CAST(json_extract_string(json, '$.separate.learned') AS BIGINT) AS separate_learned,
    CAST(json_extract_string(json, '$.passed_through') AS BOOLEAN) AS passed_through,
    CAST(json_extract_string(json, '$.dropped') AS BIGINT) AS dropped,
    CAST(json_extract_string(json, '$.left_out.records') AS BIGINT) AS left_out_records,
    CAST(json_extract_string(json, '$.left_out.bytes') AS BIGINT) AS left_out_bytes
FROM placed AS r
WHERE event = 'summary';

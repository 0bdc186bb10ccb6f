-- What does it cost, by device and build? Descriptors that got another sampler, and samplers that the layer made for them.
SELECT
    device, build, sum(descriptors_seen) AS seen, sum(descriptors_rewritten) AS rewritten,
    floor(100.0 * sum(descriptors_rewritten) / sum(descriptors_seen)) AS percent_rewritten, max(variants_peak) AS most_variants
FROM census
WHERE scope = 'device' AND descriptors_seen > 0
GROUP BY device, build
ORDER BY device, build;

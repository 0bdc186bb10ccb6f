-- What would be lost on a device that is not in the fleet, by what today's runs use? Predictions are joined with the pairs of the
-- latest day's runs, so that a prediction for a pair that nobody uses any more counts nothing.
WITH latest AS (SELECT max(day) AS last_day FROM runs),
used AS (
    SELECT DISTINCT run, fingerprint, format, view_type
    FROM pairs CROSS JOIN latest
    WHERE day = last_day
)
SELECT
    p.device AS device, p.lost AS lost, p.sampler_name AS sampler_name,
    count(DISTINCT p.format) AS formats, count(DISTINCT u.run) AS runs_with_it
FROM predicted AS p
JOIN used AS u ON u.fingerprint = p.fingerprint AND u.format = p.format AND u.view_type = p.view_type
WHERE p.event = 'pair' AND p.lost <> ''
GROUP BY p.device, p.lost, p.sampler_name
ORDER BY device, lost, sampler_name;

-- Which formats lose smoothing, weighted by the runs in which they do?
WITH total AS (SELECT count(*) AS all_runs FROM runs)
SELECT
    format, count(DISTINCT run) AS runs_with_it,
    floor(100.0 * count(DISTINCT run) / max(all_runs)) AS percent_of_runs, count(DISTINCT device) AS devices_with_it
FROM changes CROSS JOIN total
WHERE lost = 'smoothing' AND format IS NOT NULL
GROUP BY format
ORDER BY runs_with_it DESC, format;

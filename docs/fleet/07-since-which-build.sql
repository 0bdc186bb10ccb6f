-- Which of our samplers lose what, on how many devices, since which build, and do they still?
WITH newest AS (SELECT max(build) AS newest_build FROM runs)
SELECT
    sampler_name, lost, count(DISTINCT format) AS formats, count(DISTINCT device) AS devices_with_it,
    min(build) AS first_build, max(build) AS last_build,
    CASE WHEN max(build) = max(newest_build) THEN 'still' ELSE 'mended' END AS verdict
FROM changes CROSS JOIN newest
WHERE sampler_name IS NOT NULL AND lost <> '' AND lost NOT LIKE 'nothing%'
GROUP BY sampler_name, lost
ORDER BY sampler_name, lost;

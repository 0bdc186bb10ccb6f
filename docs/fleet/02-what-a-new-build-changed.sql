-- What is changed since this week that was not last week, and what no longer is? A diff of the last seven days and the seven
-- before, over the devices that have runs in both.
WITH latest AS (SELECT max(day) AS last_day FROM runs),
shared AS (
    SELECT device
    FROM runs CROSS JOIN latest
    WHERE day > last_day - 14
    GROUP BY device
    HAVING min(day) <= min(last_day) - 7 AND max(day) > max(last_day) - 7
)
SELECT
    CASE WHEN max(c.day) > max(last_day) - 7 THEN 'new' ELSE 'gone' END AS verdict,
    rule, field, sampler_name, format, after,
    count(DISTINCT c.device) AS devices_with_it, min(build) AS first_build, max(build) AS last_build
FROM changes AS c CROSS JOIN latest
WHERE c.day > last_day - 14 AND c.device IN (SELECT device FROM shared)
GROUP BY rule, field, sampler_name, format, after
HAVING min(c.day) > max(last_day) - 7 OR max(c.day) <= max(last_day) - 7
ORDER BY verdict, rule, field, sampler_name, format, after;

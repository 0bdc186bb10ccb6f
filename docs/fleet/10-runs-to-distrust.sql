-- Which runs say less than they should: no summary at the end (stopped or killed), records that could not be written or did not
-- fit, a device that was passed through?
WITH told AS (
    SELECT run, count(*) AS summaries,
        sum(dropped) AS dropped_records, sum(left_out_records) AS missing_records,
        sum(CASE WHEN passed_through THEN 1 ELSE 0 END) AS passed
    FROM census
    GROUP BY run
)
SELECT
    r.device AS device, r.build AS build, count(*) AS all_runs,
    sum(CASE WHEN t.summaries IS NULL THEN 1 ELSE 0 END) AS without_end,
    sum(CASE WHEN t.dropped_records > 0 THEN 1 ELSE 0 END) AS with_dropped,
    sum(CASE WHEN t.missing_records > 0 THEN 1 ELSE 0 END) AS with_missing,
    sum(CASE WHEN t.passed > 0 THEN 1 ELSE 0 END) AS passed_through
FROM runs AS r LEFT JOIN told AS t ON t.run = r.run
GROUP BY r.device, r.build
ORDER BY device, build;

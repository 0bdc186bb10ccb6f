-- What was changed, by rule and device?
SELECT device, rule, count(*) AS changes, count(DISTINCT run) AS runs_with_it, count(DISTINCT build) AS builds_with_it
FROM changes
GROUP BY device, rule
ORDER BY device, rule;

-- What is knowingly passed through, and whose sampler is it?
SELECT what, rule, why, sampler_name, count(*) AS records, count(DISTINCT run) AS runs_with_it, count(DISTINCT device) AS devices_with_it
FROM unresolved
GROUP BY what, rule, why, sampler_name
ORDER BY what, rule, why, sampler_name;

-- Is it the application or the device? A valid usage that is broken on every device is the application's fault; one that some
-- devices are content with is about what a device can do.
WITH fleet AS (SELECT count(DISTINCT device) AS all_devices FROM runs)
SELECT
    rule, vuid, count(DISTINCT device) AS devices_with_it,
    CASE WHEN count(DISTINCT device) = max(all_devices) THEN 'application' ELSE 'device' END AS verdict
FROM changes CROSS JOIN fleet
GROUP BY rule, vuid
ORDER BY rule, vuid;

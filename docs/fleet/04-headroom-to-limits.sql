-- How near do runs come to each limit of their device? What 99 of 100 runs leave at least (the 99th percentile of what is used).
WITH peaks AS (
    SELECT c.device AS device, c.run AS run, 'maxSamplerAllocationCount' AS limit_name,
        d.max_sampler_allocation_count AS limit_value, c.headroom_allocation_count AS headroom
    FROM census AS c JOIN devices AS d ON d.run = c.run AND d.device = c.device
    WHERE c.scope = 'device'
    UNION ALL
    SELECT c.device AS device, c.run AS run, 'maxCustomBorderColorSamplers' AS limit_name,
        d.max_custom_border_color_samplers AS limit_value, c.headroom_custom_border AS headroom
    FROM census AS c JOIN devices AS d ON d.run = c.run AND d.device = c.device
    WHERE c.scope = 'device'
),
ranked AS (
    SELECT device, limit_name, limit_value, headroom,
        row_number() OVER (PARTITION BY device, limit_name ORDER BY headroom DESC, run) AS place,
        count(*) OVER (PARTITION BY device, limit_name) AS peaks_of_all
    FROM peaks
)
SELECT device, limit_name, limit_value, headroom AS headroom_99, peaks_of_all
FROM ranked
WHERE 100 * place >= 99 * peaks_of_all AND 100 * (place - 1) < 99 * peaks_of_all
ORDER BY device, limit_name;

-- The six tables as `samplin export` writes them, in ClickHouse. Start clickhouse-local or chdb in the folder that tables/ and
-- predicted/ lie in; for an object store, write s3('https://…/runs/*/*/*.parquet') in place of file(…).
SET join_use_nulls = 1;
CREATE OR REPLACE VIEW runs AS SELECT * FROM file('tables/runs/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW devices AS SELECT * FROM file('tables/devices/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW changes AS SELECT * FROM file('tables/changes/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW pairs AS SELECT * FROM file('tables/pairs/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW unresolved AS SELECT * FROM file('tables/unresolved/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW census AS SELECT * FROM file('tables/census/*/*/*.parquet', 'Parquet') SETTINGS use_hive_partitioning = 0;

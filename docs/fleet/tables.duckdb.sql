-- The six tables as `samplin export` writes them, in DuckDB. Start it in the folder that tables/ and predicted/ lie in; for an
-- object store, put its address (s3://…) in front of the names.
CREATE OR REPLACE VIEW runs AS SELECT * FROM read_parquet('tables/runs/*/*/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW devices AS SELECT * FROM read_parquet('tables/devices/*/*/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW changes AS SELECT * FROM read_parquet('tables/changes/*/*/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW pairs AS SELECT * FROM read_parquet('tables/pairs/*/*/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW unresolved AS SELECT * FROM read_parquet('tables/unresolved/*/*/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW census AS SELECT * FROM read_parquet('tables/census/*/*/*.parquet', hive_partitioning = false);

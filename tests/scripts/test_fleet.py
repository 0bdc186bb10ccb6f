"""Tests of what scripts/fleet-demo is made of, without its engines: those run in scripts/test, with real traces."""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import fleet_sql  # noqa: E402

TABLES = (ROOT / "manifest/tables.json").read_text(encoding="utf-8")


class Questions(unittest.TestCase):
    def test_there_are_ten_and_each_asks(self):
        asked = fleet_sql.questions()
        self.assertEqual([name[:2] for name, _, _ in asked], [f"{number:02}" for number in range(1, 11)])
        for name, question, sql in asked:
            self.assertIn("?", question, name)
            self.assertTrue(sql.startswith(("SELECT", "WITH")) and ";" not in sql, name)

    def test_the_page_has_every_question(self):
        page = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
        for name, _, _ in fleet_sql.questions():
            self.assertIn(f"(fleet/{name})", page)


class Views(unittest.TestCase):
    def test_views_have_the_columns_of_the_tables(self):
        tables = {table["name"]: table for table in json.loads(TABLES)["tables"] if table["of"] != "case"}
        self.assertEqual(len(tables), 7)
        for name in ("duckdb", "clickhouse"):
            text = (ROOT / f"docs/fleet/traces.{name}.sql").read_text(encoding="utf-8")
            for table, described in tables.items():
                view = re.search(rf"CREATE OR REPLACE VIEW {table} AS\nSELECT\n(.*?)\nFROM", text, re.DOTALL)
                columns = re.findall(r" AS (\w+),?$", view[1], re.MULTILINE)
                wanted = [column["name"] for column in described["columns"] if column["name"] != "line"]
                self.assertEqual(columns, wanted, f"{name}: {table}")

    def test_every_type_of_a_server_is_known(self):
        kinds = {column["type"] for table in json.loads(TABLES)["tables"] for column in table["columns"]}
        self.assertEqual(kinds - fleet_sql.TYPES.keys(), set())


class Answers(unittest.TestCase):
    def test_values_of_both_engines_compare(self):
        # ClickHouse writes wide integers as text, and a date as DuckDB's date object prints.
        text = json.dumps(
            {
                "meta": [{"name": "n", "type": "UInt64"}, {"name": "x", "type": "Nullable(Float64)"}, {"name": "t", "type": "String"}],
                "data": [["12", 0.5, "1.0"], ["3", None, "a"]],
            }
        )
        self.assertEqual(fleet_sql.answer_of_json(text), (["n", "x", "t"], [(12, 0.5, "1.0"), (3, None, "a")]))
        self.assertEqual([fleet_sql.plain(v) for v in (True, None, 2.0, 2.5, 7, "7")], [True, None, 2, 2.5, 7, "7"])


if __name__ == "__main__":
    unittest.main()

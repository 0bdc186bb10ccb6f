"""The ten questions of docs/fleet, asked of DuckDB, of ClickHouse inside this process, and of a ClickHouse server."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from layered import ROOT, Missing

FOLDER = ROOT / "docs/fleet"
ENGINES = ("duckdb", "clickhouse")
# The database of a server that the tables go to.
DATABASE = "samplin_fleet"
TYPES = {
    "text": "String",
    "json": "String",
    "count": "Int64",
    "sum": "Int64",
    "number": "Float64",
    "flag": "Bool",
    "day": "Date32",
}


def enter_environment():
    """Starts this program again in a virtual environment below target/ that has both engines; makes it first if need be.

    chdb's own dependencies are for data frames, which nobody asks for here, and would be as large again.
    """
    wanted = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    place = ROOT / "target/fleet-python"
    python, stamp = place / "bin/python", place / "installed"
    if pathlib.Path(sys.prefix).resolve() == place.resolve():
        return
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print("samplin: installing DuckDB and chdb into target/fleet-python (about 650 MB)", file=sys.stderr)
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            said = (made.stdout + made.stderr).strip()
            raise Missing(f"no virtual environment could be made (Debian package python3-venv): {said}")
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        # Whoever has no network is not kept waiting for long.
        install += ["--retries", "2", "--timeout", "20", "-r", str(FOLDER / "requirements.txt")]
        got = subprocess.run(install, capture_output=True, text=True, check=False)
        if got.returncode != 0:
            last = (got.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise Missing(
                "DuckDB and chdb could not be installed: is there a network, and does pip reach its package index?\n"
                f"samplin: pip: {last}"
            )
        stamp.write_text(wanted, encoding="utf-8")
    sys.stdout.flush()
    os.execv(python, [str(python), "-B", *sys.argv])


def statements(name):
    """The statements of a file, without its comments."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("--"))
    return [part.strip() for part in text.split(";\n") if part.strip().rstrip(";")]


def questions():
    """Returns [(file name, question, SQL)]."""
    asked = []
    for path in sorted(FOLDER.glob("[0-9][0-9]-*.sql")):
        comment = [line[2:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("--")]
        asked.append((path.name, " ".join(comment), statements(path.name)[0].rstrip(";")))
    return asked


def plain(value):
    """A value as every engine gives it: counts are integers, dates text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (int, float)):
        return value
    return str(value)


def answer_of_json(text):
    """An answer in ClickHouse's format JSONCompact."""
    answer = json.loads(text)
    numbers = [any(word in column["type"] for word in ("Int", "Float")) for column in answer["meta"]]
    names = [column["name"] for column in answer["meta"]]

    def number(value):
        return value if value is None else float(value)

    rows = [[number(v) if is_number else v for v, is_number in zip(row, numbers)] for row in answer["data"]]
    return names, [tuple(plain(value) for value in row) for row in rows]


class DuckDb:
    """DuckDB over the files in a folder."""

    def __init__(self, folder, source):
        import duckdb

        os.chdir(folder)
        self.connection = duckdb.connect()
        for name in (f"{source}.duckdb.sql", "predicted.duckdb.sql"):
            for statement in statements(name):
                self.connection.execute(statement)

    def ask(self, sql):
        """Returns the names of columns and the rows."""
        cursor = self.connection.execute(sql)
        return [column[0] for column in cursor.description], [tuple(plain(v) for v in row) for row in cursor.fetchall()]


class ClickHouse:
    """ClickHouse inside this process over the files in a folder."""

    def __init__(self, folder, source):
        from chdb import session

        os.chdir(folder)
        self.session = session.Session()
        for name in (f"{source}.clickhouse.sql", "predicted.clickhouse.sql"):
            for statement in statements(name):
                self.session.query(statement)

    def ask(self, sql):
        """Returns the names of columns and the rows."""
        return answer_of_json(str(self.session.query(sql, "JSONCompact")))


class Server:
    """A ClickHouse server, which gets the tables first."""

    def __init__(self, url, folder):
        self.url = url
        self.send(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        tables = json.loads((ROOT / "manifest/tables.json").read_text(encoding="utf-8"))["tables"]
        for table in tables:
            columns = ", ".join(
                f"`{column['name']}` " + (f"Nullable({TYPES[column['type']]})" if column["null"] else TYPES[column["type"]])
                for column in table["columns"]
            )
            name = f"{DATABASE}.{table['name']}"
            self.send(f"DROP TABLE IF EXISTS {name}")
            self.send(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY (device, day)")
            for path in sorted((folder / "tables" / table["name"]).glob("*/*/*.parquet")):
                self.send(f"INSERT INTO {name} FORMAT Parquet", path.read_bytes())
        self.send(f"DROP TABLE IF EXISTS {DATABASE}.predictions")
        self.send(f"CREATE TABLE {DATABASE}.predictions (json String) ENGINE = MergeTree ORDER BY tuple()")
        for path in sorted((folder / "predicted").glob("*.json")):
            row = json.dumps({"json": path.read_text(encoding="utf-8")}).encode()
            self.send(f"INSERT INTO {DATABASE}.predictions FORMAT JSONEachRow", row)
        # The same view over a table instead of over files.
        view = statements("predicted.clickhouse.sql")[0].replace("VIEW predicted", f"VIEW {DATABASE}.predicted")
        self.send(view.replace("file('predicted/*.json', 'JSONAsString', 'json String')", f"{DATABASE}.predictions"))

    def send(self, sql, body=b"", **settings):
        """Runs one statement."""
        parts = urllib.parse.urlsplit(self.url)
        query = dict(urllib.parse.parse_qsl(parts.query)) | {"query": sql} | settings
        host = parts.netloc.rpartition("@")[2]
        address = urllib.parse.urlunsplit((parts.scheme, host, parts.path or "/", urllib.parse.urlencode(query), ""))
        request = urllib.request.Request(address, data=body, method="POST")
        if parts.username:
            request.add_header("X-ClickHouse-User", urllib.parse.unquote(parts.username))
            request.add_header("X-ClickHouse-Key", urllib.parse.unquote(parts.password or ""))
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.read().decode()
        except urllib.error.HTTPError as error:
            raise Missing(f"{host}: {error.read().decode(errors='replace').strip()[:500]}") from None
        except OSError as error:
            raise Missing(f"{host}: {error}") from None

    def ask(self, sql):
        """Returns the names of columns and the rows."""
        return answer_of_json(self.send(f"{sql} FORMAT JSONCompact", database=DATABASE, join_use_nulls="1"))


def engine(name, folder, source):
    """An engine over `tables` or `traces` in a folder."""
    return {"duckdb": DuckDb, "clickhouse": ClickHouse}[name](folder, source)

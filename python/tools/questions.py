"""Runs the questions of docs/corpus.md and writes their answers and the schema there: [--check] [FOLDER]

FOLDER has the tables that `visakit table` wrote; without it they are made of fixtures/objects here.
"""

import re
import sys
from pathlib import Path

import duckdb
import pyarrow

import visakit

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "corpus.md"
QUESTION = re.compile(r"(### \d+\. [^\n]*\n\n```sql\n(.*?);\n```\n\n```text\n).*?```\n", re.S)
SCHEMA = re.compile(r"<!-- schema -->\n.*?<!-- /schema -->", re.S)


def files() -> list[Path]:
    """Objects, and the texts of kernels."""
    found: list[Path] = [*(ROOT / "fixtures" / "objects").glob("*.isa")]
    for folder in ["kernels", "check", "programs", "audit"]:
        found += (ROOT / "fixtures" / folder).glob("*.visaasm")
    return sorted(found, key=lambda file: file.name)


def connect(folder: str | None) -> duckdb.DuckDBPyConnection:
    """The tables as views."""
    database = duckdb.connect()
    names = [name for name, _, _ in visakit.schema()]
    if folder:
        for name in names:
            database.execute(f"CREATE VIEW {name} AS FROM '{folder}/part-*/{name}.parquet'")
        return database
    made = visakit.columns(files())
    for name in names:
        rows = pyarrow.table(made[name])
        database.register(f"{name}_rows", rows)
        database.execute(f"CREATE TABLE {name} AS FROM {name}_rows")
    database.execute("UPDATE objects SET path = regexp_replace(path, '.*/', '')")
    return database


def answers(database: duckdb.DuckDBPyConnection, page: str) -> str:
    """The page with the current answers."""

    def answer(found: re.Match[str]) -> str:
        result = database.execute(found[2])
        head = [column[0] for column in result.description or []]
        rows = [["" if value is None else str(value) for value in row] for row in result.fetchall()]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
        return f"{found[1]}{chr(10).join(lines)}\n```\n"

    return QUESTION.sub(answer, page)


def schema() -> str:
    """The reference of the tables."""
    out = [f"Version {visakit.SCHEMA_VERSION} of the schema.\n"]
    for name, doc, columns in visakit.schema():
        out.append(f"\n### `{name}`\n\n{doc}\n\n| column | type | may be absent | what |\n|---|---|---|---|\n")
        for column, kind, nullable, what in columns:
            out.append(f"| `{column}` | `{kind}` | {'yes' if nullable else ''} | {what} |\n")
    return "".join(out)


def page() -> str:
    """The page as it should be."""
    text = SCHEMA.sub(lambda _: f"<!-- schema -->\n\n{schema()}\n<!-- /schema -->", PAGE.read_text())
    return answers(connect(None), text)


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if arguments:
        for found in QUESTION.finditer(answers(connect(arguments[0]), PAGE.read_text())):
            print(found[0])
    elif "--check" in sys.argv:
        sys.exit(0 if page() == PAGE.read_text() else f"{PAGE} is not up to date: run tools/questions.py")
    else:
        PAGE.write_text(page())

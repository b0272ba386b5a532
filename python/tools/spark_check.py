"""Checks that Spark and DuckDB give the same answers to the questions of docs/corpus.md, over the same files.

Spark decodes the files on its workers, in local mode. Says aloud when it did not run. Exit codes: 0 same or did not run,
1 different; with --needed 1, too, when it did not run.
"""

import os
import shutil
import sys
from typing import Any

import questions


def portable(sql: str) -> str:
    """The question in Spark's dialect: other quotes, and a SELECT before each FROM."""
    return sql.replace('"', "`").replace("(FROM ", "(SELECT 1 FROM ")


def compare(session: Any) -> int:
    import visakit
    import visakit.spark

    # Files are shown without their folders, as on the page.
    paths = [str(file) for file in questions.files()]
    for name, _, _ in visakit.schema():
        frame = visakit.spark.table(session, paths, name)
        if name == "objects":
            from pyspark.sql.functions import regexp_replace

            frame = frame.withColumn("path", regexp_replace("path", ".*/", ""))
        frame.cache().createOrReplaceTempView(name)
    database = questions.connect(None)
    different = 0
    for found in questions.QUESTION.finditer(questions.PAGE.read_text()):
        title = found[1].splitlines()[0]
        of_duckdb = [list(map(str, row)) for row in database.execute(found[2]).fetchall()]
        of_spark = [list(map(str, row)) for row in session.sql(portable(found[2])).collect()]
        same = of_spark == of_duckdb
        different += not same
        print(f"{'same     ' if same else 'DIFFERENT'} {len(of_duckdb)} rows {title}")
        if not same:
            print("Spark:", *of_spark, "DuckDB:", *of_duckdb, sep="\n  ")
    return 1 if different else 0


def main() -> int:
    missing = None
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        missing = str(error)
    if not shutil.which("java"):
        missing = "no java; apt install default-jre-headless"
    if missing:
        print(f"DID NOT RUN: {missing}", file=sys.stderr)
        return int("--needed" in sys.argv)
    # Workers must use the packages of this interpreter.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        return compare(session)
    finally:
        session.stop()


if __name__ == "__main__":
    sys.exit(main())

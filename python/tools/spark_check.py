"""Whether Spark and DuckDB give the same answers: local Spark over fixtures/objects.

Says aloud when it did not run. Exit codes: 0 same or did not run, 1 different.
"""

import os
import shutil
import sys
from pathlib import Path

OBJECTS = Path(__file__).resolve().parent.parent.parent / "fixtures" / "objects"
QUESTION = """SELECT "group", count(*) AS n, sum(CAST(access_bytes AS BIGINT)) AS bytes FROM instructions GROUP BY "group" ORDER BY "group" """


def main() -> int:
    try:
        import duckdb
        import pyarrow
        from pyspark.sql import SparkSession
    except ImportError as missing:
        print(f"DID NOT RUN: {missing}", file=sys.stderr)
        return 0
    if not shutil.which("java"):
        print("DID NOT RUN: no java; apt install default-jre-headless", file=sys.stderr)
        return 0
    import visakit
    import visakit.spark

    # Workers have to find the packages of this interpreter.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    frame = visakit.spark.table(session, f"{OBJECTS}/*.isa", "instructions")
    frame.createOrReplaceTempView("instructions")
    ansi = QUESTION.replace('"group"', "`group`")
    of_spark = [tuple(row) for row in session.sql(ansi).collect()]
    instructions = pyarrow.table(visakit.columns(sorted(OBJECTS.glob("*.isa")), ["instructions"])["instructions"])
    database = duckdb.connect()
    database.register("instructions", instructions)
    of_duckdb = [tuple(row) for row in database.execute(QUESTION).fetchall()]
    session.stop()
    same = [tuple(map(str, r)) for r in of_spark] == [tuple(map(str, r)) for r in of_duckdb]
    print(f"{'same' if same else 'DIFFERENT'}: {len(of_spark)} groups, {sum(r[1] for r in of_spark)} instructions")
    if not same:
        print(of_spark, of_duckdb, sep="\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

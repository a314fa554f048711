"""Rows with answers, read by toolstream in Spark: `spark.py PIPE|FRAME ROWS OUT`.

The program is on the PATH of every worker. PIPE is `rdd.pipe`, FRAME a DataFrame.
"""

import json
import os
import subprocess
import sys

from pyspark.sql import SparkSession

COMMAND = ["toolstream", "classify", "--rows", "body"]


def pipe(spark, rows, out):
    # Without env, the command is run with no PATH.
    answers = spark.sparkContext.textFile(rows).pipe(" ".join(COMMAND), env=os.environ, checkCode=True)
    answers.saveAsTextFile(out)


def frame(spark, rows, out):
    def classify(batches):
        import pandas

        for batch in batches:
            lines = batch.to_json(orient="records", lines=True)
            done = subprocess.run(COMMAND, input=lines, capture_output=True, text=True, check=True)
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            yield pandas.DataFrame(
                {
                    "id": [row["id"] for row in answers],
                    "answer": [json.dumps(row["answer"]) for row in answers],
                }
            )

    read = spark.read.schema("id long, body string").json(rows)
    answers = read.mapInPandas(classify, "id long, answer string")
    answers.write.json(out)


if __name__ == "__main__":
    how, rows, out = sys.argv[1:]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    {"PIPE": pipe, "FRAME": frame}[how](spark, rows, out)
    spark.stop()

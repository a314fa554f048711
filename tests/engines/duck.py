"""Rows with answers, read by toolstream for DuckDB: `duck.py ROWS OUT`.

DuckDB writes the rows of a table to the program's standard input, and reads what comes out.
"""

import subprocess
import sys

import duckdb

rows, out = sys.argv[1:]
table = duckdb.connect()
table.execute(
    "create table rows as select * from "
    "read_json(?, format = 'newline_delimited', columns = {id: 'bigint', body: 'varchar'})",
    [rows],
)
table.execute("copy rows to 'table.ndjson' (format json)")
with open("table.ndjson", "rb") as given, open(out, "wb") as answers:
    command = ["toolstream", "classify", "--rows", "body", "-j", "2"]
    subprocess.run(command, stdin=given, stdout=answers, check=True)
for line in table.execute(
    "select answer.type, count(*), sum(answer.usage.output_tokens) from "
    "read_json(?, format = 'newline_delimited', sample_size = -1, maximum_object_size = 268435456) "
    "group by 1 order by 1",
    [out],
).fetchall():
    print(*line)

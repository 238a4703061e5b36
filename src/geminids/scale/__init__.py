"""Beyond one machine: sessions as tables, in files that every engine reads, and readers that engines run.

| module | what is in it |
|---|---|
| `schema` | the tables, column by column |
| `rows` | a session as rows of all tables |
| `batches` | rows as Arrow, which Parquet, DuckDB and Spark have in common |
| `homes` | homes of many machines below a folder, in pieces of about equal size |
| `places/` | where tables lie and homes are read from: folders, object storage |
| `settling` | what counts once of what stands in several places, in SQL that every engine runs |
| `only` | which rows are wanted: by agent, machine, project, time |
| `engine` | what an engine runs: a piece, as rows of a table |
| `news` | what is new since somebody looked |
| `tables/` | tables written into a folder or a bucket, and read from there |
| `sql/` | SQL over tables, in an engine that reaches nothing else |
| `spark/` | a data source for Apache Spark and what speaks like it |

It uses readers and the library; no floor below uses it. What reads sessions here holds no state, so that it
runs in any process of any machine. Packages of the extra `scale` are loaded only by who needs them.
"""

"""SQL over tables: those of this machine, or those that lie in a folder or a bucket.

The engine is closed before a query of anybody's runs in it: it reads the tables and nothing else, neither
files nor the network nor the environment, and changes nothing. Queries may come from programs and models.

| module | what is in it |
|---|---|
| `database` | the engine, with the tables in it and nothing else |
| `asking` | the thread in which it works, that nobody has to wait for |
| `answers` | the rows of an answer, some at a time, and as files |
| `memory` | a bound on what a query takes |
| `reserved` | names of columns that the engine would take for its own words, and how a query ends |
| `errors` | what is said where a query cannot be answered |
"""

"""Where tables lie and homes are read from: folders on a disk, and in object storage.

| module | what is in it |
|---|---|
| `stores` | a folder that files are written to and read from by name, each whole or not at all |
| `errors` | what is said where that cannot be done |
"""

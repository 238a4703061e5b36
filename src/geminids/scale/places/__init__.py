"""Where tables lie and homes are read from: folders on a disk, and in object storage.

| module | what is in it |
|---|---|
| `stored` | what a store is: a folder of files by name, each whole or not at all |
| `stores` | one on a disk; which one an address names |
| `objects` | one in object storage |
| `requests` | the thread that makes requests to object storage |
| `disks` | homes in folders, buckets and exported copies, as readers look at disks |
| `errors` | what is said where that cannot be done |
"""

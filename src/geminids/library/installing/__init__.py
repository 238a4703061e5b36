"""geminids in the agents: planned first, then written, and taken away again without a trace.

<data folder>/installed/record.json    what was written where
<data folder>/installed/<digest>       settings as they were before
"""

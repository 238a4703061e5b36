"""Sessions as tables of Apache Spark: a Python Data Source that runs our readers in its executors.

    from geminids.scale import spark as geminids

    geminids.register(spark)
    spark.read.format("geminids").option("table", "messages").load("s3://bucket/homes")
    spark.readStream.format("geminids").option("state", "s3://bucket/state").load(…)
    geminids.settled(spark, "s3://bucket/homes", keep="s3://bucket/told")    # copies count once

| module | what is in it |
|---|---|
| `source` | the data source itself, as Spark calls it |
| `options` | what may be asked, and what is said where it may not |
| `plan` | what is read, in pieces of about equal size |
| `partition` | one of them, as Spark hands it on |
| `filters` | conditions of queries that readers heed |
| `streams` | what is new since the last time, each time once |
| `types` | columns as Spark knows them |
| `session` | what is done for a session of Spark: registering, settled views |

Spark is the user's: nothing of it is installed with us. What runs in its executors is what runs at home, and
needs the extra `spark` there.
"""

from geminids.scale.spark.session import register, settled

__all__ = ["register", "settled"]

"""The engine for clusters. Spark itself is imported only where a Spark frame or session comes in."""

from incrowd.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]

"""The engine for clusters: Spark reads, counts, joins and writes; what is decided is decided on the driver.

Its modules are imported only where somebody hands in a Spark frame or asks for Spark. `session` alone needs no PySpark:
it says what to install.
"""

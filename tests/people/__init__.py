"""People with several rows each: what a release says of them, judged by counting them one by one."""

"""From a table to a release: reading, publishing, recipes, saving, opening, checking.

table                           what is published: rows and roles
publish, noisy_counts           the whole path
release, saving, sinks/         what came of it, and the files
recipe_format, recipe           the same as a file, and running it
opening/                        releases read from files
check                           what any table achieves
private_table, by_columns       noisy answers; several narrow tables
"""

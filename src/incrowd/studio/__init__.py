"""`incrowd studio`: the toolkit in a browser, on this machine alone. Needs the extra `incrowd[studio]`.

`server` binds the loopback and ends; `security` decides who may ask; `routes` is the one table of what may be asked;
`projects` hold a recipe with its history for each opened table; `jobs` run long work in processes of their own
(`worker`, `tasks/`). Nothing here computes a number of privacy: all of them come from the rooms below.
"""

"""`python -m incrowd`."""

from incrowd.cli import main

main()

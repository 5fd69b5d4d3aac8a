"""`python -m farthing` is `farthing`."""

from farthing.cli import main

main()

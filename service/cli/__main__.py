"""`python -m service.cli` is `bough`."""

from service.cli.commands import main

main(prog_name="bough")

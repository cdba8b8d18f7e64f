"""`python -m shiftscope.cli`: the command line without its script."""

from shiftscope.cli.app import main

if __name__ == "__main__":
    main()

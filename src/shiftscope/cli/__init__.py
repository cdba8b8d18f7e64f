"""The command line, one module a command."""

from shiftscope.cli.app import main

__all__ = ["main"]

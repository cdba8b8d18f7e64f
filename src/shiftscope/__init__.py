"""shiftscope: where, in whom and in which features two samples differ."""

__version__ = "0.1.0"

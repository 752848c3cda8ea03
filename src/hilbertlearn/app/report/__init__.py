"""One self-contained page on what a model has learnt and how it does on data it is judged on."""

from .page import html, write
from .parts import Section
from .sections import section

__all__ = ["Section", "html", "section", "write"]

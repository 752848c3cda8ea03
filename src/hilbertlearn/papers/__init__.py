"""The papers: methods they compare with, their guarantees as numbers, readers of their data files."""

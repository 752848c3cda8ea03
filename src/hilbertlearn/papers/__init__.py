"""What belongs to the papers: the methods they compare with, and their guarantees as numbers."""

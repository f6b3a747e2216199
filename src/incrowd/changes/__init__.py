"""What becomes of sensitive and kept columns before they are published: rounded, coded, banded, or by chance."""

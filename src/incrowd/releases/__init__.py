"""What is published, in its form, with its guarantees."""

"""What to do about findings: options and numbers that change them, measured by making the release again."""

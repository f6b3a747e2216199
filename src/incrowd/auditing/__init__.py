"""All models, attacks and metrics over one release."""

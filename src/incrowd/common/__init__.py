"""What every room uses and no user sees: randomness, parameters, progress, the registry, plain values, extras."""

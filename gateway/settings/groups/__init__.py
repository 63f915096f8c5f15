"""The groups of settings that `Settings` combines, one module per group."""

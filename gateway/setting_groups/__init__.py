"""The groups of settings that `gateway.settings.Settings` combines, one module per group."""

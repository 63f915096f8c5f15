"""Sends the spans of sampled requests and jobs to a collector of OpenTelemetry."""

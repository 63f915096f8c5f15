"""Traces of sampled requests and jobs, sent to a collector. Off unless the operator names one.

`tracing.py` and `log_fields.py` alone import OpenTelemetry, and only what is configured loads them.
"""

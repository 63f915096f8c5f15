"""Traces of sampled requests and jobs, made by an extension if the operator names a collector."""

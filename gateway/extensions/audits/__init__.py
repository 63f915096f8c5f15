"""Audits of answers, shards and indexes: behind what is served, by schedule, by command."""

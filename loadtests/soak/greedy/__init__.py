"""Tenants that take all they may, beside an ordinary one whose requests are measured."""

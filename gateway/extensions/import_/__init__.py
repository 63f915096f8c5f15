"""Brings documents into a tenant: of an export, and of other stores."""

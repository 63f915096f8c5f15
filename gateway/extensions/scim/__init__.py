"""SCIM 2.0: users and groups that an identity provider provisions (RFC 7643, RFC 7644)."""

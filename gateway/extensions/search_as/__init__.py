"""The extension that lets admins see what another subject or group would find."""

"""`POST /v1/answer` and `POST /v1/compress`."""

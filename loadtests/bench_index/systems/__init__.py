"""The systems that the index is compared with, and Nearhit itself, on the same passages."""

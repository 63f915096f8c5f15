"""Office files for their libraries: packages within limits; tables and hidden text of Word."""

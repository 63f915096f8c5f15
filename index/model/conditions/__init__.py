"""The conditions of a filter, a file each; `Filter` in `index/model/query.py` is their table."""

"""The cache: have we answered this before, and does the answer still hold?"""

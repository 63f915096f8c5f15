"""The extensions of this distribution, a folder each, which `configured` finds.

A folder whose name begins with an underscore is none, but what several of them use.
"""

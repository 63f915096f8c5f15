"""The extensions of this distribution, a folder each; `gateway.installed_extensions` finds them.

A folder whose name begins with an underscore is none, but what several of them use.
"""

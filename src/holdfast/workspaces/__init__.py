"""The git work trees that sessions work in: what is true there, making, saving, getting the work out.

Rule 1: everything in a repository is input, its configuration, hooks, attributes and file names
included: nothing it says is ever executed (git.py, shadow.py).
Rule 2: work is never deleted on doubt: what cannot be told apart from work is work (SPEC P10).
"""

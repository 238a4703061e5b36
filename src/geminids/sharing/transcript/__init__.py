"""How a session is told, once for all who draw or write it: which parts, in what order, in how much detail.

Nothing here draws. It sees the model only, so that faces and exports can share it.
"""

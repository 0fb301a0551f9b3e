"""Programs that run the field's own packages, each in an environment of its own; nothing here is imported.

A worker is started as ``python WORKER IN OUT`` in the folder of the weights, where the names under which a package
looks for a model are folders, so that its own loading code finds them. IN is JSON
``{"references": [...], "generated": [...]}``, OUT becomes a JSON list with one number per pair.
"""

"""JSON Schemas of what the commands print for programs, and what their members mean.

Each output is declared as a class whose members are its members in JSON; docs.make.schemas makes
the files `NAME-VERSION.schema.json` of these classes and of those of the results.
"""

"""JSON Schemas of what the commands print for programs, and what their members mean.

An output is declared once, as a class whose members are its members in JSON: that of the result
(`hlteval.results`), or one of this room where the JSON has other members than the result.
docs.make.schemas makes the files `NAME-VERSION.schema.json` of these classes.
"""

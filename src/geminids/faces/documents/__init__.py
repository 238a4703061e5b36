"""The JSON of the faces: one class for one shape, whether `--json` prints it or the web API answers with it.

A module holds a subject: its classes, and how they are made of the values that the library answers with.
`base.py` has what all of them share. Documents that commands print begin with the name of their schema
(`Printed`); `printed.py` lists them, and the schemas in `docs/` are generated from that list. The OpenAPI
document and the types of the page are made of those that endpoints answer with.

A new field may come at any time; one that goes or changes its meaning makes a new number of the schema.
A number that nobody recorded is null. Costs are dollars at list price, rounded to six places.
"""

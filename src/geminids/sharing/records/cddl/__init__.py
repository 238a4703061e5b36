"""Whether a value has the shape that a schema in CDDL (RFC 8610) tells, and where it first has not.

    schema = Schema.parse(text, "record.cddl")
    schema.mismatch(record)     # None, or where, what was expected and what stands there

    syntax      text ─► the tree of `cddlparser`, with what that parser gets wrong put right, and lines
    compiling   tree ─► nodes: names looked up, generics filled in, what we do not know refused
    nodes       what one value may be                 groups    what a map or a list may hold
    prelude     the names that CDDL brings along      literals, patterns    text of the schema as values
    values      the values themselves: what kinds there are

A node checks a value by a function that is made once and answers yes or no. Only if the answer is no, the
slower way is gone that tells why. Values are those of JSON and of the verifier's own reader of CBOR, which
knows bytes and tags besides: an integer is no float, and a boolean is no integer.

Lists are matched in every way that is possible. Maps are matched as the RFC says: entry by entry, each takes
what it can get, and what an entry with a cut (`:` or `^ =>`) asks for is nothing that a later one could take.
Beyond the RFC there is `.pcre`. Left out, and refused by name: `.bits`, `.cborseq`, the operators of RFC
9165, and the parts of XSD's regular expressions that Python has no words for.

What the reader does not give, no schema can describe: bytes in which something is undefined, a simple value
without a meaning, or a key that is neither a text nor an integer are never what `.cbor` asks for. How many
bits a float was written with is not known, nor whether a small integer was written as a large one.
"""

from __future__ import annotations

from geminids.sharing.records.cddl.schema import Mismatch, Schema
from geminids.sharing.records.errors import SchemaError

__all__ = ["Mismatch", "Schema", "SchemaError"]

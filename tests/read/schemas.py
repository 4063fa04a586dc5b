"""Checks of documents against the published schemas, with a validator that knows nothing of gpusim."""

import json
from functools import cache

from jsonschema import Draft202012Validator

from gpusim.commands.catalog.schema import DOCUMENTS, text


@cache
def validator(name):
    """Return the validator of a document by name, once its schema is checked to be one."""
    schema = json.loads(text(name))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(found, name):
    """Return where plain data violates the schema of a document, and how."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(found)]


def check_document(found, name):
    """Check plain data against the schema of a document."""
    assert faults(found, name) == []


def name_of(document):
    """Return the name under which the type of a document has a schema."""
    place = f"{type(document).__module__}:{type(document).__name__}"
    (name,) = [name for name, each in DOCUMENTS.items() if each == place]
    return name

"""Flask, marshmallow and scikit-learn: a schema that loads many rows."""

from typing import Any

from flask import Flask, Response, jsonify, request
from marshmallow import Schema, fields

from bench.serving.peers.trees import answers, encoder, fetched, schema

_schema = schema()
_fields: dict[str, Any] = {
    name: (fields.String if n else fields.Float)(required=True, allow_none=True)
    for name, n in zip(_schema.names, _schema.n_categories, strict=True)
}
rows_schema = Schema.from_dict(_fields)(many=True)
tree, encode = fetched(), encoder()
names = _schema.names
app = Flask(__name__)


@app.post("/predict")
def predict() -> Response:
    """The predictions."""
    rows = rows_schema.load(request.get_json()["rows"])
    matrix = encode([row[name] for name in names] for row in rows)
    return jsonify(predictions=answers(tree, matrix))

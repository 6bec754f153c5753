"""What goes in and out of the routes for datasets, field by field."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from service.tree.attribute import Kind
from service.web.fields import Moment, Text
from service.web.schemas import ProblemFaultSchema, about

FORMATS = ["csv", "ndjson", "parquet"]
NAMED = "separated by commas"


LIST = "^[^,\\u0000]+(,[^,\\u0000]+)*$"


class Listed(Text):
    """Texts in an address, separated by commas."""

    def __init__(self, **options: Any) -> None:
        metadata = {"pattern": LIST} | options.pop("metadata", {})
        super().__init__(metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        parts = tuple(dict.fromkeys(text.split(",")))
        if "" in parts:
            raise ValidationError("must be texts that are separated by commas")
        return parts


class CsvQuerySchema(Schema):
    """How CSV is to be read; what is left open is inferred."""

    delimiter = Text(
        validate=validate.Length(equal=1),
        metadata=about(
            "Of CSV. Left open, that of comma, semicolon, tab and | which the header has most of."
        ),
    )
    decimal = fields.String(
        validate=validate.OneOf([".", ","]),
        metadata=about("Of numbers in CSV.", default="."),
    )
    nulls = Listed(
        metadata=about(f"What means null in CSV beside the empty field, {NAMED}: `NA,?`.")
    )


class UploadQuerySchema(CsvQuerySchema):
    """How the file is to be read; what is left open is inferred."""

    name = Text(validate=validate.Length(min=1, max=200), metadata=about("Your name for it."))
    format = fields.String(
        validate=validate.OneOf(FORMATS),
        metadata=about("Left open, the Content-Type tells, or else the first bytes."),
    )
    numeric = Listed(metadata=about(f"Columns that must be numbers, {NAMED}."))
    categorical = Listed(
        metadata=about(f"Columns that are categories, whatever they look like, {NAMED}.")
    )


class CountedValueSchema(Schema):
    """How many rows have a value."""

    value = fields.String(required=True)
    rows = fields.Integer(required=True)


class ColumnSchema(Schema):
    """What is known of a column."""

    name = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": [Kind.NUMERIC, Kind.CATEGORICAL]})
    nulls = fields.Integer(required=True, metadata=about("Rows without a value."))
    null_rate = fields.Float(required=True, metadata={"minimum": 0, "maximum": 1})
    distinct = fields.Integer(required=True, metadata=about("Different values."))
    more_distinct = fields.Boolean(
        required=True, metadata=about("Whether there are more, which were not counted.")
    )
    constant = fields.Boolean(required=True, metadata=about("Fewer than two different values."))
    identifier = fields.Boolean(
        required=True, metadata=about("Every row has another value: train without it.")
    )
    minimum = fields.Float(required=True, allow_none=True)
    maximum = fields.Float(required=True, allow_none=True)
    mean = fields.Float(required=True, allow_none=True)
    values = fields.List(
        fields.Nested(CountedValueSchema),
        required=True,
        allow_none=True,
        metadata=about("By first appearance; null of fractions, and where there are too many."),
    )


class DatasetLinksSchema(Schema):
    """Where to go on from a dataset."""

    self = fields.String(required=True)


class DatasetHeadSchema(Schema):
    """An uploaded table, without its columns."""

    id = fields.String(required=True)
    name = fields.String(required=True, allow_none=True)
    format = fields.String(required=True, metadata={"enum": FORMATS})
    rows = fields.Integer(required=True)
    bytes = fields.Integer(required=True, metadata=about("As they were sent."))
    checksum = fields.String(required=True, metadata=about("`sha256:` and that of what was sent."))
    created_at = Moment(required=True)
    links = fields.Nested(DatasetLinksSchema, required=True)


class DatasetSchema(DatasetHeadSchema):
    """An uploaded table, and what is known of its columns."""

    columns = fields.List(fields.Nested(ColumnSchema), required=True)
    warnings = fields.List(
        fields.Nested(ProblemFaultSchema),
        required=True,
        metadata=about("What is odd, though it can be trained on."),
    )

"""What goes in and out of the routes that are not hot, field by field."""

from typing import Any

from marshmallow import Schema, fields, validate

from service.storage.models import ORDERS
from service.tree.attribute import Kind
from service.tree.target import CLASSIFICATION, REGRESSION
from service.web.fields import (
    MOST,
    Decimal,
    Digits,
    Moment,
    Text,
    Truth,
    Whole,
)


def about(description: str, **metadata: Any) -> dict[str, Any]:
    """The metadata of a field that says what it is."""
    return {"description": description, **metadata}


NOT_NEGATIVE = validate.Range(min=0)
TASKS = [CLASSIFICATION, REGRESSION]
NO_CLASSES = "Empty in regression."
AT_ALPHA = "The tree of the cost-complexity sequence at this alpha; else the one that is served."


# --- errors -----------------------------------------------------------------------------------


class ProblemFaultSchema(Schema):
    """One thing that is wrong: it stands at a pointer into the body, or in a parameter."""

    pointer = fields.String(
        metadata=about(
            "JSON pointer (RFC 6901) into the body; of rows that are not JSON as if they were."
        )
    )
    parameter = fields.String(metadata=about("Name of a parameter of the query or the path."))
    line = fields.Integer(metadata=about("Of the file or the rows that were sent, from 1."))
    column = fields.String(metadata=about("Of the file that was sent."))
    detail = fields.String(required=True)


class ProblemSchema(Schema):
    """An error (RFC 9457)."""

    type = fields.String(required=True, metadata=about("Stable, relative URI of the kind."))
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True, metadata=about("The path that was asked for."))
    request_id = fields.String(required=True)
    errors = fields.List(fields.Nested(ProblemFaultSchema))


# --- models -----------------------------------------------------------------------------------


class ModelSchema(Schema):
    """A name with versions."""

    name = fields.String(required=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)
    latest = fields.Integer(required=True, metadata=about("The number of its newest version."))
    aliases = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    warm = fields.Boolean(
        required=True,
        metadata=about("Whether web processes load it at their start, before they are ready."),
    )


class PatchModelSchema(Schema):
    """What is to change about a model; the rest stays as it is."""

    warm = Truth(metadata=about("Have web processes load it at their start, or no longer."))


class AttributeSchema(Schema):
    """One input column."""

    name = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": [kind.value for kind in Kind]})
    values = fields.List(fields.String(), required=True, metadata=about("Its categories."))
    cost = fields.Float(required=True)
    group = fields.String(required=True, allow_none=True)


class VersionSchema(Schema):
    """One trained result; apart from its aliases it never changes."""

    model = fields.String(required=True)
    version = fields.Integer(required=True, attribute="number")
    task = fields.String(required=True, metadata={"enum": TASKS})
    target = fields.String(required=True)
    classes = fields.List(fields.String(), required=True, metadata=about(NO_CLASSES))
    attributes = fields.List(fields.Nested(AttributeSchema), required=True)
    ignored = fields.List(fields.String(), required=True)
    groups = fields.Dict(
        keys=fields.String(), values=fields.Float(), required=True, attribute="group_costs"
    )
    params = fields.Dict(required=True)
    metrics = fields.Dict(
        required=True,
        metadata=about("`evaluation` on rows not trained on, `training` on the others, `notes`."),
    )
    alpha = fields.Float(
        required=True,
        allow_none=True,
        metadata=about("At which its cost-complexity sequence is served; null: it has none."),
    )
    rows = fields.Integer(required=True, attribute="n_rows")
    nodes = fields.Integer(required=True, attribute="n_nodes")
    leaves = fields.Integer(required=True, attribute="n_leaves")
    depth = fields.Integer(required=True)
    job_id = fields.String(required=True)
    aliases = fields.List(fields.String(), required=True)
    created_at = Moment(required=True)


class NodeSchema(Schema):
    """One node row; the condition (operator, and what it compares with) is on the edge to it."""

    node = fields.Integer(required=True)
    parent = fields.Integer(required=True, allow_none=True)
    depth = fields.Integer(required=True)
    branch = fields.Integer(required=True)
    operator = fields.String(required=True, allow_none=True)
    threshold = fields.Float(
        required=True,
        allow_none=True,
        metadata=about("Of an ordinal attribute the rank of the category."),
    )
    category = fields.String(required=True, allow_none=True)
    categories = fields.List(fields.String(), required=True, allow_none=True)
    share = fields.Float(required=True)
    weight = fields.Float(required=True)
    impurity = fields.Float(required=True)
    attribute = fields.String(required=True, allow_none=True)
    split = fields.String(required=True, allow_none=True)
    gain = fields.Float(required=True, allow_none=True)
    distribution = fields.Dict(
        keys=fields.String(),
        values=fields.Float(),
        required=True,
        metadata=about("Empty in regression."),
    )
    mean = fields.Float(required=True, allow_none=True, metadata=about("In regression."))
    variance = fields.Float(required=True, allow_none=True, metadata=about("In regression."))
    alpha_cut = fields.Float(
        required=True, allow_none=True, metadata=about("From this alpha on it is a leaf.")
    )
    state = fields.String(required=True, metadata={"enum": ["inner", "leaf"]})


class PutAliasSchema(Schema):
    """The version that an alias is to name."""

    version = Whole(required=True, validate=validate.Range(min=1, max=MOST))


class AliasSchema(Schema):
    """A name for one version of a model."""

    model = fields.String(required=True)
    alias = fields.String(required=True)
    version = fields.Integer(required=True)


class AliasMoveSchema(Schema):
    """A move of an alias; null: it was removed."""

    version = fields.Integer(required=True, allow_none=True)
    moved_at = Moment(required=True)


# --- lists ------------------------------------------------------------------------------------


def page_of(item: type[Schema]) -> type[Schema]:
    """The schema of one page of such items."""
    name = item.__name__.removesuffix("Schema") + "Page"
    items = fields.List(fields.Nested(item), required=True)
    cursor = fields.String(metadata=about("Asks for the next page; absent on the last."))
    return Schema.from_dict({"items": items, "next_cursor": cursor}, name=name)


class PageQuerySchema(Schema):
    """Which page of a list."""

    limit = Digits(load_default=50, validate=validate.Range(min=1, max=1000))
    cursor = Text(metadata=about("The `next_cursor` of the page before."))


class ModelsQuerySchema(PageQuerySchema):
    """Which models, in which order."""

    name = Text(metadata=about("Only names that contain this."))
    task = fields.String(
        validate=validate.OneOf(TASKS), metadata=about("That of the newest version.")
    )
    order_by = fields.String(load_default="name", validate=validate.OneOf(list(ORDERS)))


class NodesQuerySchema(PageQuerySchema):
    """Which node rows."""

    alpha = Decimal(validate=NOT_NEGATIVE, metadata=about(AT_ALPHA))
    limit = Digits(load_default=100, validate=validate.Range(min=1, max=10_000))


class TreeQuerySchema(Schema):
    """Which part of a tree."""

    alpha = Decimal(validate=NOT_NEGATIVE, metadata=about(AT_ALPHA))
    node = Digits(load_default=0, validate=validate.Range(min=0, max=MOST))
    depth = Digits(load_default=100, validate=validate.Range(min=1, max=100))

"""What an order to train is made of, field by field."""

from marshmallow import Schema, fields, validate

from service.actions.request import EvaluationPlan
from service.tree.attribute import Kind
from service.tree.encode import IGNORED
from service.tree.params import DEFAULT_PRESET
from service.web import components
from service.web.fields import MOST, ByName, Category, Flag, Name, Number, Text, Truth, Whole
from service.web.params import ParamsSchema
from service.web.schemas import (
    NO_CLASSES,
    NOT_NEGATIVE,
    TASKS,
    AttributeSchema,
    ProblemFaultSchema,
    about,
)
from service.web.terms import PRIORITIES, LimitsSchema, WebhookSchema

METHODS = ["none", "hold_out", "cross_validation"]
EVALUATION = EvaluationPlan()


class DeclarationSchema(Schema):
    """What a column is; what is left open is inferred."""

    name = Text(required=True)
    kind = fields.String(validate=validate.OneOf([*Kind, IGNORED]))
    values = fields.List(
        Category(),
        metadata=about("The categories in order; an ordinal one needs them.", uniqueItems=True),
    )
    cost = Number(
        validate=NOT_NEGATIVE,
        metadata=about("What it costs to learn its value; `cost_rule` weighs it.", default=1.0),
    )
    group = Text(metadata=about("One of `groups`: those in it share a cost that is paid once."))


class EvaluationSchema(Schema):
    """How the version is to be evaluated."""

    method = fields.String(
        load_default=EVALUATION.method,
        validate=validate.OneOf(METHODS),
        metadata=about("On rows held out, by stratified cross-validation, or not at all."),
    )
    folds = Whole(
        validate=validate.Range(min=2, max=100),
        metadata=about("Of cross_validation.", default=EVALUATION.folds),
    )
    fraction = Number(
        validate=validate.Range(min=0, min_inclusive=False, max=1, max_inclusive=False),
        metadata=about(
            "The part of the rows that hold_out keeps.",
            default=EVALUATION.fraction,
            exclusiveMinimum=0,
            exclusiveMaximum=1,
        ),
    )
    seed = Whole(
        load_default=EVALUATION.seed,
        validate=validate.Range(min=0, max=MOST),
        metadata=about("Of the rows that are drawn."),
    )
    nulled = Truth(
        load_default=EVALUATION.nulled,
        metadata=about("Whether to tell what it costs if 10, 30, 50 % of an attribute is null."),
    )


class TrainSchema(Schema):
    """An order to train."""

    model = Name(required=True, metadata=about("Under which name the version will be kept."))
    target = Text(required=True, metadata=about("The column to predict."))
    # Not walked by marshmallow: a table has a million values, and is read as one.
    data = fields.Dict(required=True, metadata={"allOf": [components.ref("Table")]})
    task = fields.String(
        validate=validate.OneOf(TASKS),
        metadata=about(
            "Left open, fractions or more than 20 different whole numbers are a regression."
        ),
    )
    attributes = fields.List(fields.Nested(DeclarationSchema), load_default=list)
    classes = fields.List(
        Category(),
        metadata=about(
            "The classes in order; one without a row still counts.",
            minItems=2,
            maxItems=1000,
            uniqueItems=True,
        ),
    )
    weight = Text(metadata=about("The column that holds the weights of the rows."))
    class_weights = ByName(
        metadata=about(
            "By class what its rows' weights are multiplied by in training. Probabilities are "
            "those of the weighted classes; metrics use the rows' own weights."
        ),
    )
    groups = ByName(
        metadata=about("By group the cost that is paid once for all attributes in it."),
    )
    validation_rows = fields.List(
        Whole(validate=validate.Range(min=0, max=MOST)),
        load_default=list,
        metadata=about("The rows, from 0, that hold_out and reduced_error pruning hold out."),
    )
    params = fields.Nested(ParamsSchema, load_default=lambda: {"preset": DEFAULT_PRESET})
    evaluation = fields.Nested(EvaluationSchema, load_default=lambda: EvaluationSchema().load({}))
    priority = Whole(
        load_default=0,
        validate=PRIORITIES,
        metadata=about("Higher ones first; of one model and priority in the order of the orders."),
    )
    limits = fields.Nested(LimitsSchema, load_default=dict)
    webhook = fields.Nested(WebhookSchema)


class TrainQuerySchema(Schema):
    """What to do with the order."""

    validate_only = Flag(load_default=False, metadata=about("Only answer what would be trained."))


class PreviewSchema(Schema):
    """What would be trained."""

    valid = fields.Boolean(required=True, metadata={"enum": [True]})
    model = fields.String(required=True)
    task = fields.String(required=True, metadata={"enum": TASKS})
    attributes = fields.List(fields.Nested(AttributeSchema), required=True)
    classes = fields.List(fields.String(), required=True, metadata=about(NO_CLASSES))
    params = fields.Dict(required=True, metadata=about("All of them, resolved."))
    rows = fields.Integer(required=True)
    warnings = fields.List(
        fields.Nested(ProblemFaultSchema),
        required=True,
        metadata=about("What is odd, though it can be trained on; the version keeps it."),
    )

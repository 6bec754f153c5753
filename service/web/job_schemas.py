"""What is told of jobs and asked for, field by field."""

from marshmallow import Schema, fields, validate

from service.storage.records import DeliveryState, JobKind, JobState
from service.web.fields import Moment, Text
from service.web.schemas import PageQuerySchema, ProblemFaultSchema, about

KINDS = [kind.value for kind in JobKind]
STATES = [state.value for state in JobState]
DELIVERY_STATES = [state.value for state in DeliveryState]


class JobProblemSchema(Schema):
    """Why a job failed."""

    type = fields.String()
    title = fields.String(required=True)
    status = fields.Integer()
    detail = fields.String(required=True)
    errors = fields.List(fields.Nested(ProblemFaultSchema))


class ProgressSchema(Schema):
    """How far a training has come."""

    fraction = fields.Float(required=True, metadata={"minimum": 0, "maximum": 1})
    stage = fields.String(required=True)
    nodes = fields.Integer(required=True)
    rows = fields.Integer(required=True, metadata=about("Trained on, or scored so far."))


class LinksSchema(Schema):
    """Where to go on from a job."""

    self = fields.String(required=True)
    version = fields.String(metadata=about("The version it made, or scores with."))
    result = fields.String(metadata=about("The predictions, once there are any."))


class DeliverySchema(Schema):
    """Whether the webhook of a job has been told of its end."""

    state = fields.String(required=True, metadata={"enum": DELIVERY_STATES})
    attempts = fields.Integer(required=True)
    last_error = fields.String(required=True, allow_none=True)


class JobSchema(Schema):
    """An order to train or to score, and how it fares."""

    id = fields.String(required=True)
    kind = fields.String(required=True, metadata={"enum": KINDS})
    model = fields.String(required=True)
    dataset = fields.String(
        required=True, allow_none=True, metadata=about("The id of the one that it reads.")
    )
    state = fields.String(required=True, metadata={"enum": STATES})
    progress = fields.Nested(ProgressSchema, required=True)
    attempt = fields.Integer(required=True)
    max_attempts = fields.Integer(required=True)
    error = fields.Nested(JobProblemSchema, required=True, allow_none=True)
    version = fields.Integer(required=True, allow_none=True)
    warnings = fields.List(
        fields.Nested(ProblemFaultSchema),
        required=True,
        metadata=about(
            "What was odd about the data: also categories that training did not know, which a"
            " scoring takes for null."
        ),
    )
    cancel_requested = fields.Boolean(required=True)
    priority = fields.Integer(required=True)
    webhook = fields.Nested(
        DeliverySchema, required=True, allow_none=True, metadata=about("Null: it has none.")
    )
    created_at = Moment(required=True)
    started_at = Moment(required=True, allow_none=True)
    finished_at = Moment(required=True, allow_none=True)
    elapsed_seconds = fields.Float(
        required=True,
        allow_none=True,
        metadata=about("Since the current attempt was started, until now or its end."),
    )
    links = fields.Nested(LinksSchema, required=True)


class JobsQuerySchema(PageQuerySchema):
    """Which jobs."""

    state = fields.String(validate=validate.OneOf(STATES))
    model = Text()

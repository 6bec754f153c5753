"""Schemas that are written by hand: those of the hot routes, which no marshmallow walks."""

from typing import Any

from service.web.examples import JOB_ID
from service.web.fields import MOST, NO_NUL
from service.web.names import ALIAS, NAME, SELECTED


def ref(name: str) -> dict[str, str]:
    """A reference to one of these schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _by_name(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
ONE_TABLE = [{"required": ["rows"]}, {"required": ["columns"]}]

TABLE: dict[str, Any] = {
    "rows": _list(ref("Row"), description="One object a row; an absent key and null are the same."),
    "columns": _by_name(
        _list(ref("Value")),
        propertyNames={"pattern": NO_NUL},
        description="One list a column, all equally long.",
    ),
}
SELECTED_MODEL = {
    "type": "string",
    "pattern": SELECTED,
    "description": "`name` (the newest version) or `name@alias`.",
}
QUESTION: dict[str, Any] = {
    "version": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST,
        "description": "A version number, where no alias is given.",
    },
    **TABLE,
    "strict": {
        "type": "boolean",
        "default": False,
        "description": "Whether a category never declared is an error; else it counts as null.",
    },
}
LAYOUT = {
    "layout": {
        "type": "string",
        "enum": ["rows", "columns"],
        "default": "rows",
        "description": "How the predictions are answered.",
    }
}


def _question(*required: str, **properties: Any) -> dict[str, Any]:
    asked = _object(list(required), **properties, **QUESTION)
    return {**asked, "additionalProperties": False, "oneOf": ONE_TABLE}


def _answer(name: str, answers: dict[str, Any]) -> dict[str, Any]:
    return _object(
        ["model", "version", "task", name, "warnings"],
        model=TEXT,
        version={"type": "integer", "minimum": 1},
        task={"type": "string", "enum": ["classification"]},
        **{name: answers},
        warnings=_list(ref("Fault"), description="Values that no category has; each is null."),
    )


PREDICTION: dict[str, Any] = {
    "class": {"type": "string", "description": "The likeliest class, the first of equals."},
    "probabilities": _by_name(PROBABILITY),
    "leaves": {**COUNT, "description": "How many leaves the row reached."},
    "unknown": _list(TEXT, description="The unknown attributes that mattered."),
    "bounds": _by_name(
        _list(PROBABILITY, minItems=2, maxItems=2),
        description="The smallest and largest probability of any leaf reached.",
    ),
    "certain": {"type": "boolean", "description": "Whether only one leaf was reached."},
}
STEP = _object(
    ["node", "attribute", "operator", "value", "given", "share", "weight"],
    node=COUNT,
    attribute=TEXT,
    operator={"type": "string", "enum": ["=", "<=", ">"]},
    value={"type": ["string", "number"]},
    given=ref("Value"),
    share={**PROBABILITY, "description": "The part of known training weight that went this way."},
    weight={**PROBABILITY, "description": "The weight that the row carries after this step."},
)
PATH = _object(
    ["weight", "leaf", "support", "distribution", "steps"],
    weight=PROBABILITY,
    leaf=COUNT,
    support={"type": "number", "description": "The training weight at the leaf."},
    distribution=_by_name(NUMBER),
    steps=_list(ref("Step")),
)
TREE_NODE = _object(
    ["node", "weight", "distribution", "class", "impurity"],
    node=COUNT,
    operator={"type": "string", "enum": ["=", "<=", ">"]},
    value={"type": ["string", "number"]},
    share=PROBABILITY,
    weight=NUMBER,
    distribution=_by_name(NUMBER),
    impurity=NUMBER,
    attribute=TEXT,
    split={"type": "string", "enum": ["multiway", "threshold"]},
    gain=NUMBER,
    truncated={"type": "boolean", "description": "Whether its children were left out."},
    children=_list(ref("TreeNode")),
    **{"class": TEXT},
)
SCHEMAS: dict[str, dict[str, Any]] = {
    "Value": {
        "type": ["string", "number", "boolean", "null"],
        "pattern": NO_NUL,
        "description": "A raw value; null is unknown.",
    },
    "Row": _by_name(ref("Value"), propertyNames={"pattern": NO_NUL}),
    "Table": {
        **_object([], **TABLE),
        "additionalProperties": False,
        "oneOf": ONE_TABLE,
        "description": "Exactly one of `rows` and `columns`.",
    },
    "Fault": _object(["pointer", "detail"], pointer=TEXT, detail=TEXT),
    "PredictRequest": _question("model", model=SELECTED_MODEL, **LAYOUT),
    "ModelPredictRequest": _question(**LAYOUT),
    "ExplainRequest": _question("model", model=SELECTED_MODEL),
    "Prediction": _object(list(PREDICTION), **PREDICTION),
    "PredictionColumns": {
        **_object(
            list(PREDICTION),
            **{
                "class": _list(TEXT),
                "probabilities": _by_name(_list(PROBABILITY)),
                "leaves": _list(COUNT),
                "unknown": _list(_list(TEXT)),
                "bounds": _by_name(
                    _object(
                        ["lowest", "highest"], lowest=_list(PROBABILITY), highest=_list(PROBABILITY)
                    )
                ),
                "certain": _list({"type": "boolean"}),
            },
        ),
        "description": "The same as lists, one value a row.",
    },
    "PredictAnswer": _answer(
        "predictions", {"oneOf": [_list(ref("Prediction")), ref("PredictionColumns")]}
    ),
    "Step": STEP,
    "Path": PATH,
    "Explanation": _object(
        [*PREDICTION, "paths", "omitted_paths"],
        **PREDICTION,
        paths=_list(ref("Path"), description="Heaviest first; all weights sum to 1."),
        omitted_paths={**COUNT, "description": "How many lighter paths are not told."},
    ),
    "ExplainAnswer": _answer("explanations", _list(ref("Explanation"))),
    "TreeNode": TREE_NODE,
}


def _in_path(name: str, example: object, description: str, **schema: Any) -> dict[str, Any]:
    told = {"in": "path", "name": name, "description": description}
    return {**told, "schema": schema, "example": example}


MODEL_IN_PATH = _in_path("name", "melons", "The name of a model.", type="string", pattern=NAME)
ALIAS_IN_PATH = _in_path("alias", "champion", "The name of an alias.", type="string", pattern=ALIAS)
JOB_IN_PATH = _in_path("job_id", JOB_ID, "The id of a job.", type="string", minLength=1)
SELECTED_IN_PATH = _in_path("name", "melons@champion", **SELECTED_MODEL)
VERSION_IN_PATH = _in_path(
    "version", 3, "The number of a version.", type="integer", minimum=1, maximum=MOST
)

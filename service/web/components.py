"""Schemas that are written by hand: those of the hot routes, which no marshmallow walks."""

from typing import Any

from service.tree.nodes import SYMBOLS
from service.web.examples import JOB_ID
from service.web.fields import MOST, NO_NUL
from service.web.names import ALIAS, NAME, SELECTED
from service.web.question import DEFAULT_STRATEGY, STRATEGY_NAMES


def ref(name: str) -> dict[str, str]:
    """A reference to one of these schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _bounds(numbers: dict[str, Any]) -> dict[str, Any]:
    return _object(["lowest", "highest"], lowest=_list(numbers), highest=_list(numbers))


def _by_name(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER_OR_NULL = {"type": ["number", "null"]}
PROBABILITY_OR_NULL = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
TASK = {"type": "string", "enum": ["classification", "regression"]}
OPERATOR = {"type": "string", "enum": list(SYMBOLS.values())}
COMPARED = {
    "type": ["string", "number", "array", "null"],
    "items": TEXT,
    "description": "A category, a threshold, a set of categories, or null for `is null`.",
}
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
    "missing": {
        "type": "string",
        "enum": list(STRATEGY_NAMES),
        "default": DEFAULT_STRATEGY,
        "description": "What becomes of a row that does not know: it goes down every branch by "
        "share (weighted, C4.5; PMML weightedConfidence), its leaves are pooled by their training "
        "weight (aggregate; PMML aggregateNodes), it stops at the split (last_prediction), goes "
        "down the largest branch (default_child), or has no answer (none; PMML nullPrediction).",
    },
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
        task=TASK,
        **{name: answers},
        warnings=_list(ref("Fault"), description="Values that no category has; each is null."),
    )


ROUTE: dict[str, Any] = {
    "leaves": {**COUNT, "description": "How many leaves the row reached; 0: there is no answer."},
    "unknown": _list(TEXT, description="The unknown attributes that mattered."),
    "certain": {
        "type": "boolean",
        "description": "Whether no unknown value mattered, and training rows had reached the leaf.",
    },
}
COST = {
    "cost": {
        **NUMBER_OR_NULL,
        "description": "Where attributes have costs: what the known values cost that were asked "
        "for, each attribute and group paid once, weighted over the paths.",
    }
}
CLASS_PREDICTION: dict[str, Any] = {
    "class": {
        "type": ["string", "null"],
        "description": "The likeliest class, the first of equals; null without an answer.",
    },
    "probabilities": _by_name(PROBABILITY, type=["object", "null"]),
    "bounds": _by_name(
        _list(PROBABILITY, minItems=2, maxItems=2),
        type=["object", "null"],
        description="The smallest and largest probability of any leaf reached.",
    ),
    **ROUTE,
}
NUMBER_PREDICTION: dict[str, Any] = {
    "value": {**NUMBER_OR_NULL, "description": "The weighted mean; null without an answer."},
    "deviation": {
        **NUMBER_OR_NULL,
        "description": "The predictive standard deviation: within the leaves and between them.",
    },
    "bounds": {
        "type": ["array", "null"],
        "items": NUMBER,
        "minItems": 2,
        "maxItems": 2,
        "description": "The smallest and largest mean of any leaf reached.",
    },
    **ROUTE,
}
ROUTE_COLUMNS: dict[str, Any] = {
    "leaves": _list(COUNT),
    "unknown": _list(_list(TEXT)),
    "certain": _list({"type": "boolean"}),
}
COST_COLUMN = {"cost": _list(NUMBER_OR_NULL)}
CLASS_COLUMNS: dict[str, Any] = {
    "class": _list({"type": ["string", "null"]}),
    "probabilities": _by_name(_list(PROBABILITY_OR_NULL)),
    "bounds": _by_name(_bounds(PROBABILITY_OR_NULL)),
    **ROUTE_COLUMNS,
}
NUMBER_COLUMNS: dict[str, Any] = {
    "value": _list(NUMBER_OR_NULL),
    "deviation": _list(NUMBER_OR_NULL),
    "bounds": _bounds(NUMBER_OR_NULL),
    **ROUTE_COLUMNS,
}
STEP = _object(
    ["node", "attribute", "operator", "value", "given", "share", "weight"],
    node=COUNT,
    attribute=TEXT,
    operator=OPERATOR,
    value=COMPARED,
    given=ref("Value"),
    share={**PROBABILITY, "description": "The part of known training weight that went this way."},
    weight={**PROBABILITY, "description": "The weight that the row carries after this step."},
)
SAID = {  # of the training rows at a node
    "distribution": _by_name(NUMBER, description="In classification: the weight of each class."),
    "mean": {**NUMBER, "description": "In regression."},
    "deviation": {**NUMBER, "description": "In regression."},
}
PATH = _object(
    ["weight", "leaf", "support", "steps"],
    weight=PROBABILITY,
    leaf={**COUNT, "description": "The node where it ends."},
    support={"type": "number", "description": "The training weight there."},
    **SAID,
    steps=_list(ref("Step")),
    cost={**NUMBER, "description": "What the known values on it cost, where attributes do."},
)
TREE_NODE = _object(
    ["node", "weight", "impurity"],
    node=COUNT,
    operator=OPERATOR,
    value=COMPARED,
    share=PROBABILITY,
    weight=NUMBER,
    **SAID,
    impurity=NUMBER,
    alpha_cut={**NUMBER, "description": "From this alpha on it is a leaf."},
    attribute=TEXT,
    split={"type": "string", "enum": ["multiway", "threshold", "subset", "one_vs_rest"]},
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
        **_object([], **TABLE, dataset={**TEXT, "description": "The id of a dataset."}),
        "additionalProperties": False,
        "oneOf": [*ONE_TABLE, {"required": ["dataset"]}],
        "description": "Exactly one of `rows`, `columns` and `dataset`.",
    },
    "Fault": _object(["pointer", "detail"], pointer=TEXT, detail=TEXT),
    "PredictRequest": _question("model", model=SELECTED_MODEL, **LAYOUT),
    "ModelPredictRequest": _question(**LAYOUT),
    "ExplainRequest": _question("model", model=SELECTED_MODEL),
    "EvaluateRequest": {
        **_object([], **TABLE, weight={**TEXT, "description": "The column of the rows' weights."}),
        "additionalProperties": False,
        "oneOf": ONE_TABLE,
        "description": "Rows with the target; exactly one of `rows` and `columns`.",
    },
    "EvaluateAnswer": _object(
        ["model", "version", "task", "metrics", "warnings"],
        model=TEXT,
        version={"type": "integer", "minimum": 1},
        task=TASK,
        metrics={"type": "object", "description": "What has no value on these rows is null."},
        warnings=_list(ref("Fault"), description="Values that no category has; each is null."),
    ),
    "ClassPrediction": _object(list(CLASS_PREDICTION), **CLASS_PREDICTION, **COST),
    "NumberPrediction": _object(list(NUMBER_PREDICTION), **NUMBER_PREDICTION, **COST),
    "ClassColumns": {
        **_object(list(CLASS_COLUMNS), **CLASS_COLUMNS, **COST_COLUMN),
        "description": "The same as lists, one value a row.",
    },
    "NumberColumns": {
        **_object(list(NUMBER_COLUMNS), **NUMBER_COLUMNS, **COST_COLUMN),
        "description": "The same as lists, one value a row.",
    },
    "PredictAnswer": _answer(
        "predictions",
        {
            "anyOf": [
                _list({"anyOf": [ref("ClassPrediction"), ref("NumberPrediction")]}),
                ref("ClassColumns"),
                ref("NumberColumns"),
            ]
        },
    ),
    "Step": STEP,
    "Path": PATH,
    "Paths": _object(
        ["paths", "omitted_paths"],
        paths=_list(ref("Path"), description="Heaviest first; all weights sum to 1."),
        omitted_paths={**COUNT, "description": "How many lighter paths are not told."},
    ),
    "Explanation": {
        "allOf": [
            {"anyOf": [ref("ClassPrediction"), ref("NumberPrediction")]},
            ref("Paths"),
        ]
    },
    "ExplainAnswer": _answer("explanations", _list(ref("Explanation"))),
    "TreeNode": TREE_NODE,
}


def _in_path(name: str, example: object, description: str, **schema: Any) -> dict[str, Any]:
    told = {"in": "path", "name": name, "description": description}
    return {**told, "schema": schema, "example": example}


MODEL_IN_PATH = _in_path("name", "melons", "The name of a model.", type="string", pattern=NAME)
ALIAS_IN_PATH = _in_path("alias", "champion", "The name of an alias.", type="string", pattern=ALIAS)
JOB_IN_PATH = _in_path("job_id", JOB_ID, "The id of a job.", type="string", minLength=1)
DATASET_IN_PATH = _in_path("dataset_id", JOB_ID, "The id of a dataset.", type="string", minLength=1)
SELECTED_IN_PATH = _in_path("name", "melons@champion", **SELECTED_MODEL)
VERSION_IN_PATH = _in_path(
    "version", 3, "The number of a version.", type="integer", minimum=1, maximum=MOST
)

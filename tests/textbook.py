"""The textbook's three melon tables, as rows and as datasets."""

import csv
from pathlib import Path
from typing import Any

from service.tree.dataset import Dataset
from service.tree.table import Table, table_of_rows
from service.tree.training import Plan, make_dataset

DATA = Path(__file__).parent / "data"
NUMBERS = {"密度", "含糖率"}
TARGET = "好瓜"


def melons(table: str) -> list[dict[str, Any]]:
    """The rows of a table without the row number; an empty field is null."""
    with (DATA / f"watermelon-{table}.csv").open(encoding="utf-8") as file:
        return [
            {name: _value(name, text) for name, text in row.items() if name != "编号"}
            for row in csv.DictReader(file)
        ]


def _value(name: str, text: str) -> str | float | None:
    if text == "":
        return None
    return float(text) if name in NUMBERS else text


def a_table(rows: list[dict[str, Any]]) -> Table:
    return table_of_rows(rows, ("rows",), max_cells=10_000_000)


def a_dataset(rows: list[dict[str, Any]], **plan: Any) -> Dataset:
    return make_dataset(a_table(rows), Plan(TARGET, **plan))

"""The numbers that the textbook prints for its melons, and its trees node by node."""

from fractions import Fraction

import numpy as np
import pytest

from service.tree.compiled import CompiledTree, compile_tree
from service.tree.context import make_context
from service.tree.criterion import CRITERIA, decrease, entropy, gini
from service.tree.dataset import Dataset, rows_of
from service.tree.encode import Declaration
from service.tree.explain import edge_value
from service.tree.inputs import encode_inputs
from service.tree.learn import learn, study
from service.tree.nodes import SYMBOLS, Operator
from service.tree.params import PRESETS, resolve
from service.tree.parts import Part
from service.tree.predict import predict
from service.tree.pruners import Task
from tests.readable.candidate import Candidate
from tests.readable.grow import candidates
from tests.readable.parts import view
from tests.readable.sprout import divide
from tests.readable.tables import along, in_order
from tests.textbook import TARGET, a_dataset, a_table, melons

THREE_DECIMALS = 0.0005


def whole(data: Dataset) -> Part:
    return Part(np.arange(len(data.target)), data.weights)


def best_of_each(data: Dataset, part: Part, criterion: str = "gain") -> dict[str, Candidate]:
    found = candidates(make_context(data, resolve("id3", {"criterion": criterion})), part)
    return {data.attributes[each.attribute].name: each for each in found}


def gains(data: Dataset, part: Part) -> dict[str, float]:
    return {name: each.gain for name, each in best_of_each(data, part).items()}


def a_part(data: Dataset, name: str, value: str) -> Part:
    number = [attribute.name for attribute in data.attributes].index(name)
    code = data.attributes[number].values.index(value)
    rows = np.flatnonzero(data.values[:, number] == code)
    return Part(rows, data.weights[rows])


def outline(compiled: CompiledTree) -> list[str]:
    """Each node as a line: its condition, share, weight by class, and what it splits on."""
    return [_line(compiled, node) for node in _depth_first(compiled)]


def _line(compiled: CompiledTree, node: int) -> str:
    tree = compiled.tree
    line = "root"
    if node:
        symbol = SYMBOLS[Operator(tree.operator[node])]
        line = f"{symbol}{edge_value(compiled, node)} [{tree.share[node]:.4f}]"
    line += "".join(f" {weight:.4g}" for weight in tree.distribution[node])
    line += " empty" if tree.weight[node] == 0 else ""
    if tree.attribute[node] >= 0:
        line += f" -> {compiled.attributes[tree.attribute[node]].name}"
    return "  " * int(tree.depth[node]) + line


def _depth_first(compiled: CompiledTree) -> list[int]:
    stack, order = [0], []
    while stack:
        node = stack.pop()
        order.append(node)
        first = int(compiled.first_child[node])
        stack.extend(reversed(range(first, first + int(compiled.n_branches[node]))))
    return order


def a_compiled(rows: list, preset: str = "id3") -> CompiledTree:
    data = a_dataset(rows)
    return compile_tree(learn(data, PRESETS[preset]), data.attributes, data.classes)


class TestMelonsComplete:
    """watermelon-2.0: six categorical attributes, no nulls."""

    data = a_dataset(melons("2.0"))

    def test_the_entropy_of_the_melons_is_0998(self) -> None:
        assert float(entropy(np.array([8.0, 9.0]))) == pytest.approx(0.998, abs=THREE_DECIMALS)

    def test_the_gains_are_those_that_are_printed(self) -> None:
        names = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感"]
        printed = dict(zip(names, [0.108, 0.143, 0.141, 0.381, 0.289, 0.006], strict=True))

        assert gains(self.data, whole(self.data)) == pytest.approx(printed, abs=THREE_DECIMALS)

    def test_the_intrinsic_values_are_those_that_are_printed(self) -> None:
        found = best_of_each(self.data, whole(self.data)).values()

        assert [each.split_info for each in found] == pytest.approx(
            [1.580, 1.402, 1.333, 1.447, 1.549, 0.874], abs=THREE_DECIMALS
        )

    def test_the_intrinsic_value_of_the_row_number_is_4087(self) -> None:
        assert float(entropy(np.ones(17))) == pytest.approx(4.087, abs=THREE_DECIMALS)

    def test_the_gini_indices_are_those_that_are_printed(self) -> None:
        root = float(gini(np.array([8.0, 9.0])))
        found = best_of_each(self.data, whole(self.data), "gini").values()

        assert [root - each.gain for each in found] == pytest.approx(
            [0.427, 0.422, 0.424, 0.277, 0.3445, 0.494], abs=THREE_DECIMALS
        )  # the fifth is printed 0.344, cut off and not rounded

    def test_only_texture_and_navel_gain_more_than_the_mean(self) -> None:
        found = best_of_each(self.data, whole(self.data))
        mean = np.mean([each.gain for each in found.values()])
        above = {
            name: each.gain / each.split_info for name, each in found.items() if each.gain > mean
        }

        assert float(mean) == pytest.approx(0.178, abs=THREE_DECIMALS)
        assert above == pytest.approx({"纹理": 0.263, "脐部": 0.187}, abs=THREE_DECIMALS)

    def test_the_gains_below_clear_texture_are_those_that_are_printed(self) -> None:
        printed = {"色泽": 0.043, "根蒂": 0.458, "敲声": 0.331, "脐部": 0.458, "触感": 0.458}
        below = gains(self.data, a_part(self.data, "纹理", "清晰"))

        assert below == pytest.approx(printed, abs=THREE_DECIMALS)

    def test_the_id3_tree_is_the_one_of_the_book(self) -> None:
        assert outline(a_compiled(melons("2.0"))) == [
            "root 8 9 -> 纹理",
            "  =清晰 [0.5294] 7 2 -> 根蒂",
            "    =蜷缩 [0.5556] 5 0",
            "    =稍蜷 [0.3333] 2 1 -> 色泽",
            "      =青绿 [0.3333] 1 0",
            "      =乌黑 [0.6667] 1 1 -> 触感",
            "        =硬滑 [0.5000] 1 0",
            "        =软粘 [0.5000] 0 1",
            "      =浅白 [0.0000] 2 1 empty",
            "    =硬挺 [0.1111] 0 1",
            "  =稍糊 [0.2941] 1 4 -> 触感",
            "    =硬滑 [0.8000] 0 4",
            "    =软粘 [0.2000] 1 0",
            "  =模糊 [0.1765] 0 3",
        ]


class TestMelonsWithNumbers:
    """watermelon-3.0: density and sugar are numeric."""

    data = a_dataset(melons("3.0"))

    def test_density_has_16_cuts_with_the_printed_gains(self) -> None:
        number = [attribute.name for attribute in self.data.attributes].index("密度")
        known = in_order(view(self.data, whole(self.data), self.data.target, number, "fractional"))
        ((_, sides),) = along(known, np.arange(16))
        found = decrease(CRITERIA["gain"], sides)
        cuts = (known.values[:-1] + known.values[1:]) / 2

        assert cuts.tolist() == pytest.approx(
            [0.244, 0.294, 0.3515, 0.3815, 0.420, 0.459, 0.5185, 0.5745,
             0.6005, 0.621, 0.6365, 0.648, 0.6615, 0.6815, 0.708, 0.7465]
        )  # fmt: skip
        assert found.tolist() == pytest.approx(
            [0.056, 0.118, 0.186, 0.262, 0.093, 0.030, 0.004, 0.002,
             0.002, 0.004, 0.030, 0.006, 0.001, 0.024, 0.000, 0.067],
            abs=THREE_DECIMALS,
        )  # fmt: skip

    def test_the_best_cuts_are_those_that_are_printed(self) -> None:
        found = best_of_each(self.data, whole(self.data))

        assert found["密度"].threshold == pytest.approx(0.3815)
        assert found["密度"].gain == pytest.approx(0.262, abs=THREE_DECIMALS)
        assert found["含糖率"].threshold == pytest.approx(0.126)
        assert found["含糖率"].gain == pytest.approx(0.349, abs=THREE_DECIMALS)

    def test_the_id3_tree_is_the_one_of_the_book(self) -> None:
        assert outline(a_compiled(melons("3.0"))) == [
            "root 8 9 -> 纹理",
            "  =清晰 [0.5294] 7 2 -> 密度",
            "    <=0.3815 [0.2222] 0 2",
            "    >0.3815 [0.7778] 7 0",
            "  =稍糊 [0.2941] 1 4 -> 触感",
            "    =硬滑 [0.8000] 0 4",
            "    =软粘 [0.2000] 1 0",
            "  =模糊 [0.1765] 0 3",
        ]

    @pytest.mark.parametrize(
        ("row", "ripe"), [({"纹理": "清晰", "密度": None}, Fraction(7, 9)), ({}, Fraction(8, 17))]
    )
    def test_a_null_is_mixed_as_the_book_has_it(self, row: dict, ripe: Fraction) -> None:
        compiled = a_compiled(melons("3.0"))
        inputs = encode_inputs(compiled, a_table([row]), (TARGET,), strict=True)

        assert predict(compiled, inputs.values).probabilities[0, 0] == pytest.approx(float(ripe))


class TestMelonsWithNulls:
    """watermelon-2.0-missing: rows that do not know go down every branch."""

    data = a_dataset(melons("2.0-missing"))

    def test_the_gains_count_for_the_part_that_is_known(self) -> None:
        names = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感"]
        printed = dict(zip(names, [0.252, 0.171, 0.145, 0.424, 0.289, 0.006], strict=True))

        assert gains(self.data, whole(self.data)) == pytest.approx(printed, abs=THREE_DECIMALS)

    def test_colour_gains_0306_over_the_14_rows_that_know_it(self) -> None:
        known = view(self.data, whole(self.data), self.data.target, 0, "fractional")
        branches = np.zeros((3, 2))
        np.add.at(branches, (known.values.astype(int), known.target), known.weights)

        assert len(known.values) == 14
        assert float(entropy(branches.sum(axis=0))) == pytest.approx(0.985, abs=THREE_DECIMALS)
        assert float(decrease(CRITERIA["gain"], branches)) == pytest.approx(
            0.306, abs=THREE_DECIMALS
        )

    def test_rows_8_and_10_go_down_every_branch_with_7_5_and_3_fifteenths(self) -> None:
        best = best_of_each(self.data, whole(self.data))["纹理"]
        below, _ = divide(self.data, whole(self.data), best, "fractional", least_share=0.0)
        numbers = [sorted(int(row) + 1 for row in part.rows) for part in below]
        divided = [dict(zip(part.rows + 1, part.weights, strict=True)) for part in below]

        assert numbers == [
            [1, 2, 3, 4, 5, 6, 8, 10, 15],
            [7, 8, 9, 10, 13, 14, 17],
            [8, 10, 11, 12, 16],
        ]
        assert [part[8] for part in divided] == pytest.approx([7 / 15, 5 / 15, 3 / 15])
        assert [part[10] for part in divided] == pytest.approx([7 / 15, 5 / 15, 3 / 15])
        assert all(part[row] == 1.0 for part in divided for row in part if row not in (8, 10))

    def test_the_id3_tree_is_the_one_of_the_book(self) -> None:
        assert outline(a_compiled(melons("2.0-missing"))) == [
            "root 8 9 -> 纹理",
            "  =清晰 [0.4667] 6.467 1.467 -> 根蒂",
            "    =蜷缩 [0.6303] 5 0",
            "    =稍蜷 [0.3109] 1.467 1 -> 色泽",
            "      =乌黑 [0.5946] 0.4667 1 -> 触感",
            "        =硬滑 [0.3182] 0.4667 0",
            "        =软粘 [0.6818] 0 1",
            "      =青绿 [0.4054] 1 0",
            "      =浅白 [0.0000] 1.467 1 empty",
            "    =硬挺 [0.0588] 0 0.4667",
            "  =稍糊 [0.3333] 1.333 4.333 -> 敲声",
            "    =浊响 [0.4118] 1.333 1 -> 脐部",
            "      =凹陷 [0.4286] 0 1",
            "      =稍凹 [0.5714] 1.333 0",
            "      =平坦 [0.0000] 1.333 1 empty",
            "    =沉闷 [0.5294] 0 3",
            "    =清脆 [0.0588] 0 0.3333",
            "  =模糊 [0.2000] 0.2 3.2 -> 色泽",
            "    =乌黑 [0.0588] 0.2 0",
            "    =青绿 [0.0588] 0 0.2",
            "    =浅白 [0.8824] 0 3",
        ]

    @pytest.mark.parametrize(
        ("texture", "colour", "touch", "ripe"),
        [
            (None, "浅白", "软粘", 0.6108108108),
            ("清晰", None, None, 0.5945945946),
            ("清晰", "浅白", "硬滑", 0.5945945946),  # an empty branch answers as its parent
            ("清晰", "粉红", "硬滑", 1.0),  # never seen: unknown
        ],
    )
    def test_predictions_are_those_of_the_book(
        self, texture: str | None, colour: str | None, touch: str | None, ripe: float
    ) -> None:
        row = {
            "色泽": colour, "根蒂": "稍蜷", "敲声": "浊响",
            "纹理": texture, "脐部": "稍凹", "触感": touch,
        }  # fmt: skip
        compiled = a_compiled(melons("2.0-missing"))
        inputs = encode_inputs(compiled, a_table([row]), (), strict=False)
        answer = predict(compiled, inputs.values).probabilities[0]

        assert answer.tolist() == pytest.approx([ripe, 1 - ripe], abs=1e-10)

    def test_who_knows_nothing_is_told_the_root(self) -> None:
        compiled = a_compiled(melons("2.0-missing"))
        answer = predict(compiled, np.full((1, 6), np.nan)).probabilities[0]

        assert answer.tolist() == pytest.approx([8 / 17, 9 / 17], abs=1e-12)


def test_the_useful_cuts_stand_where_the_class_changes() -> None:
    degrees = [6.4, 12.8, 23.3, 27.1, 32.0, 35.5]
    rows = [{"t": degree, TARGET: sign} for degree, sign in zip(degrees, "--++--", strict=True)]
    compiled = a_compiled(rows)
    cuts = compiled.threshold[~np.isnan(compiled.threshold)]

    assert sorted(cuts.tolist()) == pytest.approx([18.05, 29.55])


class TestPruning:
    """Ten melons to train on, seven to validate; the navel is declared first, as in the book."""

    validation = np.isin(np.arange(1, 18), [4, 5, 8, 9, 11, 12, 13])
    data = a_dataset(melons("2.0"), declared=(Declaration("脐部"),))

    def compiled(self, pruning: str, **params: object) -> CompiledTree:
        if pruning == "none":
            training = rows_of(self.data, ~self.validation)
            tree = learn(training, resolve("id3", {}))
        else:
            asked = resolve("id3", {"pruning": pruning, **params})
            tree = study(Task(self.data, asked, validation=self.validation)).tree
        return compile_tree(tree, self.data.attributes, self.data.classes)

    def accuracy(self, compiled: CompiledTree) -> float:
        held = rows_of(self.data, self.validation)
        return float((predict(compiled, held.values).classes == held.target).mean())

    def test_the_full_tree_is_the_one_of_the_book(self) -> None:
        compiled = self.compiled("none")

        assert outline(compiled) == [
            "root 5 5 -> 脐部",
            "  =凹陷 [0.4000] 3 1 -> 色泽",
            "    =青绿 [0.2500] 1 0",
            "    =乌黑 [0.5000] 2 0",
            "    =浅白 [0.2500] 0 1",
            "  =稍凹 [0.4000] 2 2 -> 根蒂",
            "    =蜷缩 [0.2500] 0 1",
            "    =稍蜷 [0.7500] 2 1 -> 色泽",
            "      =青绿 [0.3333] 1 0",
            "      =乌黑 [0.6667] 1 1 -> 纹理",
            "        =清晰 [0.5000] 0 1",
            "        =稍糊 [0.5000] 1 0",
            "        =模糊 [0.0000] 1 1 empty",
            "      =浅白 [0.0000] 2 1 empty",
            "    =硬挺 [0.0000] 2 2 empty",
            "  =平坦 [0.2000] 0 2",
        ]
        assert self.accuracy(compiled) == pytest.approx(0.429, abs=THREE_DECIMALS)

    def test_pre_pruning_leaves_a_stump(self) -> None:
        compiled = self.compiled("hold_out")

        assert outline(compiled) == [
            "root 5 5 -> 脐部",
            "  =凹陷 [0.4000] 3 1",
            "  =稍凹 [0.4000] 2 2",
            "  =平坦 [0.2000] 0 2",
        ]
        assert self.accuracy(compiled) == pytest.approx(0.714, abs=THREE_DECIMALS)

    def test_post_pruning_keeps_what_does_not_hurt(self) -> None:
        compiled = self.compiled("reduced_error", prune_ties=False)

        assert outline(compiled) == [
            "root 5 5 -> 脐部",
            "  =凹陷 [0.4000] 3 1",
            "  =稍凹 [0.4000] 2 2 -> 根蒂",
            "    =蜷缩 [0.2500] 0 1",
            "    =稍蜷 [0.7500] 2 1 -> 色泽",
            "      =青绿 [0.3333] 1 0",
            "      =乌黑 [0.6667] 1 1",
            "      =浅白 [0.0000] 2 1 empty",
            "    =硬挺 [0.0000] 2 2 empty",
            "  =平坦 [0.2000] 0 2",
        ]
        assert self.accuracy(compiled) == pytest.approx(0.714, abs=THREE_DECIMALS)

    def test_pruning_on_ties_leaves_the_smallest_tree_of_that_accuracy(self) -> None:
        compiled = self.compiled("reduced_error")

        assert len(compiled.tree) == 4
        assert self.accuracy(compiled) == pytest.approx(0.714, abs=THREE_DECIMALS)

"""All settings, frozen and validated; docs/constants.md has the evidence behind the defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf
from typing import Literal

from shiftscope.errors import (
    ParameterError,
    alpha_fault,
    is_number,
    is_one_of,
    is_positive,
    is_share,
    is_whole,
    kind_fault,
)
from shiftscope.kernels.neighbour_counters import MOST

DEFAULT_K_MAX = 400  # paper, Supp. "Default hyperparameters"
LABELLINGS = 499  # a finer p-value than the usual levels need, in a second or two
PAPER_SCHEDULE = (3000, 1e-2)  # epochs and learning rate (S1)
CORRECTED_SCHEDULE = (1000, 3e-2)  # as far in a third of the steps, with the same outcome


@dataclass(frozen=True)
class ScanParams:
    """Settings of the scan.

    Attributes
    ----------
    n_permutations : int or None
        Random labellings behind every p-value; None takes 1,023 for small data and 255 for large data, or as many as
        `level` needs.
    level : float
        The smallest p-value that is asked for; `compare` sets it to its own.
    n_seeds : int
        Best windows of each labelling that are tried with one feature more; a quarter if they are pairs.
    beam : int
        The most promising of them, which are grown to larger boxes.
    max_features : int
        Features of the largest grown boxes; 3 or less switches growth off where triples are counted.
    max_triples : int
        All triples are counted up to this many features; beyond, they are grown from the best pairs.
    max_pairs : int
        All pairs are counted up to this many features; beyond, only those of as many features at most, which stand
        out most by themselves under any labelling, observed or random. 0 counts single features only.
    max_sets : int
        Most feature sets in the result.
    rows_per_cell : int
        Rows that a cell of the finest grid holds at least, on average; half as many in triples.
    """

    n_permutations: int | None = None
    level: float = 0.005
    n_seeds: int = 512
    beam: int = 32
    max_features: int = 5
    max_triples: int = 40
    max_pairs: int = 2000
    max_sets: int = 50
    rows_per_cell: int = 16

    def __post_init__(self) -> None:
        least = {"n_seeds": 0, "beam": 0, "max_features": 1, "max_triples": 0, "max_pairs": 0}
        least |= {"max_sets": 1, "rows_per_cell": 1}
        faults = [
            f"{name} must be a whole number of at least {fewest}, got {getattr(self, name)!r}"
            for name, fewest in least.items()
            if not is_whole(getattr(self, name), fewest)
        ]
        if not (self.n_permutations is None or is_whole(self.n_permutations, 1)):
            faults.append(f"n_permutations must be a whole number of at least 1 or None, got {self.n_permutations!r}")
        if not is_share(self.level):
            faults.append(f"level must lie strictly between 0 and 1, got {self.level!r}")
        if faults:
            raise ParameterError("; ".join(faults))


@dataclass(frozen=True)
class EqualiseParams:
    """Settings of Algorithm 1; the defaults are the paper's except for `threshold` and `null`.

    Attributes
    ----------
    k_max : int
        Largest neighbourhood K_M, at most 4,094.
    q_tail : float
        Null quantile where the tails begin.
    alpha : float
        Level of each one-sided tail test.
    threshold : {"calibrated", "formula"}
        Judge the tail by random labellings, which respect that scores are dependent: a side is pruned while its KS
        distance or its weighted excess (see `Tail`) rejects at `alpha`. Or judge D by the paper's formula.
    null : {"exact", "simulated"}
        The score's null distribution: dynamic programme, or the paper's Monte Carlo sequences.
    n_permutations : int
        Labellings behind the calibrated threshold.
    step : int or None
        Most extreme points taken per side and pruning step; None takes one for every `1 / STEP_SHARE` surplus points
        in the tail (D m of them), at least one, so that broad shifts need hundreds of steps instead of thousands.
    max_rounds : int
        Most rounds of pruning, each followed by a global recomputation.
    """

    k_max: int = DEFAULT_K_MAX
    q_tail: float = 0.97
    alpha: float = 0.05
    threshold: Literal["calibrated", "formula"] = "calibrated"
    null: Literal["exact", "simulated"] = "exact"
    n_permutations: int = 199
    step: int | None = None
    max_rounds: int = 100

    def __post_init__(self) -> None:
        faults = [
            f"{name} must be a whole number of at least {least}, got {value!r}"
            for name, value, least in (
                ("k_max", self.k_max, 1),
                ("n_permutations", self.n_permutations, 19),
                ("step", 1 if self.step is None else self.step, 1),
                ("max_rounds", self.max_rounds, 1),
            )
            if not is_whole(value, least)
        ]
        if is_whole(self.k_max, MOST + 1):
            faults.append(f"k_max must be at most {MOST}, as far as counters of permutations reach, got {self.k_max!r}")
        faults += [
            f"{name} must lie strictly between 0 and 1, got {value!r}"
            for name, value in (("q_tail", self.q_tail), ("alpha", self.alpha))
            if not is_share(value)
        ]
        if not is_one_of(self.threshold, "calibrated", "formula"):
            faults.append(f"threshold must be 'calibrated' or 'formula', got {self.threshold!r}")
        if not is_one_of(self.null, "exact", "simulated"):
            faults.append(f"null must be 'exact' or 'simulated', got {self.null!r}")
        if not faults and self.threshold == "calibrated" and self.n_permutations + 1 < 1 / self.alpha:
            faults.append(
                f"n_permutations = {self.n_permutations} can never give a p-value of alpha = {self.alpha:g} or less: "
                f"take at least {int(1 / self.alpha)} permutations or a larger alpha"
            )
        if faults:
            raise ParameterError("; ".join(faults))


@dataclass(frozen=True)
class LocaliseParams:
    """Hyperparameters, named as in the paper and with its values (Supp. S1) unless said otherwise.

    Attributes
    ----------
    batch : {"corrected", "paper"}
        The form of the mini-batch objective; see `localise`.
    k : int
        Neighbours, in the soft and in the hard neighbourhoods; fewer where fewer rows are at hand.
    beta : float
        Weight of the rank term in the score of a subset.
    epochs : int, optional
        Steps of the optimiser, one mini-batch each: 3000 in the paper's form, 1000 in the corrected one.
    batch_size : int
        Rows of a mini-batch of the paper's form; `batch_size * query_fraction` of them are queries in both forms.
    query_fraction : float
    background : int
        Rows of a mini-batch of the corrected form that are not queries.
    tau_start, tau_end : float
        Temperature of the first and the last epoch, geometric in between.
    learning_rate : float, optional
        Of Adam: 0.01 in the paper's form; 0.03 in the corrected one, whose gradient is steadier.
    l1 : float
        Penalty on the raw weights.
    folds : int
        Folds of the cross-validation that chooses the number of features.
    """

    batch: Literal["corrected", "paper"] = "corrected"
    k: int = 100
    beta: float = 0.2
    epochs: int | None = None
    batch_size: int = 200
    query_fraction: float = 0.5
    background: int = 2000
    tau_start: float = 1.0
    tau_end: float = 0.1
    learning_rate: float | None = None
    l1: float = 1e-2
    folds: int = 5

    def __post_init__(self) -> None:
        rules = {
            "batch": (is_one_of(self.batch, "corrected", "paper"), "be 'corrected' or 'paper'"),
            "k": (is_whole(self.k, 1), "be a whole number of at least 1"),
            "beta": (is_number(self.beta) and 0 <= self.beta <= 1, "lie in [0, 1]"),
            "epochs": (is_whole(self.schedule[0], 1), "be a whole number of at least 1"),
            "batch_size": (is_whole(self.batch_size, 4), "be a whole number of at least 4"),
            "query_fraction": (is_share(self.query_fraction), "lie in (0, 1)"),
            "background": (is_whole(self.background, 1), "be a whole number of at least 1"),
            "tau_start": (is_positive(self.tau_start), "be a positive number"),
            "tau_end": (
                is_positive(self.tau_end) and not (is_number(self.tau_start) and self.tau_end > self.tau_start),
                "be positive and at most tau_start",
            ),
            "learning_rate": (is_positive(self.schedule[1]), "be a positive number"),
            "l1": (is_number(self.l1) and 0 <= self.l1 < inf, "be zero or positive"),
            "folds": (is_whole(self.folds, 2) and self.folds <= 100, "be a whole number in [2, 100]"),
        }
        faults = [f"{name} must {rule} (got {getattr(self, name)!r})" for name, (ok, rule) in rules.items() if not ok]
        if faults:
            raise ParameterError("; ".join(faults))

    @property
    def schedule(self) -> tuple[int, float]:
        """Epochs and learning rate, with the defaults of the form."""
        epochs, rate = PAPER_SCHEDULE if is_one_of(self.batch, "paper") else CORRECTED_SCHEDULE
        return (
            epochs if self.epochs is None else self.epochs,
            rate if self.learning_rate is None else self.learning_rate,
        )


@dataclass(frozen=True)
class ModeParams:
    """How evidence becomes modes.

    Attributes
    ----------
    least_rows : int
        Fewer rows than this make no mode.
    pruning_anchors : int
        Rows of a mode whose neighbourhoods delimit where its rows are looked for.
    pruning_steps : int
        A step prunes one in so many of the rows that are still too extreme, at least one.
    same_rows : float
        Modes of one side that share a column and this share of the smaller one's rows are one mode.
    climbing_anchors : int
        Most rows whose scores decide which columns a mode of the scan has.
    climbing_rows : int
        Most rows of a box among which these are chosen.
    rescan_labellings : int
        Labellings that put a further scan, of what the modes so far leave, on the scale of the first one.
    scans_per_mode : int
        Scans at most, on average: a mode may come in parts.
    sets_tried : int
        Strongest new sets of one scan that are looked at before it is left.
    levels_alone : float
        Share of a broad set's evidence that its levels alone must have to be told without its numbers.
    chance_column : float
        Of the normal deviate of a broad set: a column that adds no more may be there by chance.
    compact_share : float
        Share of a box's surplus that must lie densely to be told as a compact group.
    level_share : float
        Share of a broad mode's rows that a level must have to be a mode of its own.
    core_share : float
        Share of a mode's rows in its core, which must tell by itself that the sample is in excess there.
    region_rank : int
        The region in which excess is counted reaches to this neighbour of ...
    region_share : float
        ... this share of the mode's rows.
    """

    least_rows: int = 10
    pruning_anchors: int = 100
    pruning_steps: int = 50
    same_rows: float = 0.5
    climbing_anchors: int = 64
    climbing_rows: int = 2048
    rescan_labellings: int = 63
    scans_per_mode: int = 2
    sets_tried: int = 5
    levels_alone: float = 0.9
    chance_column: float = 0.5
    compact_share: float = 0.5
    level_share: float = 0.2
    core_share: float = 0.5
    region_rank: int = 5
    region_share: float = 0.95

    def __post_init__(self) -> None:
        faults = []
        for name, value in vars(self).items():
            if isinstance(getattr(ModeParams, name), int):
                if not is_whole(value, 1):
                    faults.append(f"{name} must be a whole number of at least 1, got {value!r}")
            elif not (is_number(value) and 0.0 < value <= 1.0):
                faults.append(f"{name} must lie above 0 and be at most 1, got {value!r}")
        if faults:
            raise ParameterError("; ".join(faults))


@dataclass(frozen=True)
class CompareParams:
    """Settings of the whole protocol.

    Attributes
    ----------
    alpha : float
        Level of the verdict.
    n_permutations : int or None
        Labellings behind the full space's p-value, which is at least 1 / (n_permutations + 1); None takes 499, or as
        many as `alpha` needs.
    max_iterations : int
        Most localisations per mode before its subspace is taken as it is.
    max_modes : int
        Most modes looked for, in the scan and on each side of the full space.
    full_space_rows : int
        Most rows whose neighbourhoods in the full space are looked at. Of larger pools they are drawn at random, the
        same number from both samples where possible; the scan always counts all rows.
    test_kept : bool
        Compare the rows kept once more, by the same searches, to tell whether they still differ.
    scan : ScanParams or None
        The subspace scan; None looks at the full space only, as the paper does.
    equalise : EqualiseParams
    localise : LocaliseParams
    modes : ModeParams
    """

    alpha: float = 0.01
    n_permutations: int | None = None
    max_iterations: int = 5
    max_modes: int = 5
    full_space_rows: int = 200_000
    test_kept: bool = True
    scan: ScanParams | None = field(default_factory=ScanParams)
    equalise: EqualiseParams = field(default_factory=EqualiseParams)
    localise: LocaliseParams = field(default_factory=LocaliseParams)
    modes: ModeParams = field(default_factory=ModeParams)

    def __post_init__(self) -> None:
        faults = [fault for fault in (alpha_fault(self.alpha),) if fault is not None]
        for name, least in (("n_permutations", 1), ("max_iterations", 1), ("max_modes", 1), ("full_space_rows", 100)):
            value = getattr(self, name)
            if not (is_whole(value, least) or (name == "n_permutations" and value is None)):
                faults.append(f"{name} must be a whole number of at least {least}, got {value!r}")
        if not isinstance(self.test_kept, bool):
            faults.append(f"test_kept must be True or False, got {self.test_kept!r}")
        for name, kind in PARTS.items():
            fault = kind_fault(name, getattr(self, name), kind)
            if fault is not None and not (name == "scan" and self.scan is None):
                faults.append(fault)
        if not faults and self.labellings + 1 < self.searches / self.alpha:
            faults.append(
                f"n_permutations = {self.n_permutations} can never give a p-value of alpha = {self.alpha:g} or less: "
                f"take at least {int(self.searches / self.alpha)} permutations or a larger alpha"
            )
        if faults:
            raise ParameterError("; ".join(faults))

    @property
    def searches(self) -> int:
        """Searches behind the verdict: the full space and, unless switched off, the scan."""
        return 1 if self.scan is None else 2

    @property
    def level(self) -> float:
        """What each search is held against: its share of alpha (Bonferroni)."""
        return self.alpha / self.searches

    @property
    def labellings(self) -> int:
        """Random labellings behind the full space's p-value."""
        return max(LABELLINGS, ceil(1.0 / self.level)) if self.n_permutations is None else self.n_permutations

    @property
    def k_max(self) -> int:
        """Largest neighbourhood K_M."""
        return self.equalise.k_max


PARTS: dict[str, type] = {
    "scan": ScanParams,
    "equalise": EqualiseParams,
    "localise": LocaliseParams,
    "modes": ModeParams,
}  # of `CompareParams`


def changed_settings(params: object) -> dict[str, object]:
    """The settings that are not the usual ones, part by part; what a later version adds changes nothing here."""
    usual, found = type(params)(), {}
    for name, value in vars(params).items():
        default = getattr(usual, name)
        if value != default:
            alike = type(value) is type(default) and type(value) in PARTS.values()
            found[name] = changed_settings(value) if alike else value
    return found

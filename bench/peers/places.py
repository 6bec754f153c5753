"""Where the contenders' programs are; what can be installed is, into .bench/."""

import subprocess
import sys
import venv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import which

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PLACE = ROOT / ".bench"
REQUIREMENTS = HERE / "requirements.txt"
WEKA = Path("/usr/share/java/weka.jar")  # where Debian's package has it
OURS, SCIKIT_LEARN, LIGHTGBM, XGBOOST = "ours", "scikit-learn", "LightGBM", "XGBoost"
YDF, RPART, J48 = "YDF", "rpart", "J48"
TEXT_READERS = (RPART, J48)  # of CSV and ARFF

Command = list[str]


def in_our_environment() -> Command | None:
    """The command of our own learner."""
    return [sys.executable, "-m", "bench.peers.ours"]


def from_an_index(module: str) -> Callable[[], Command | None]:
    """The command of a Python library, in the environment of the peers."""

    def command() -> Command | None:
        python = _environment()
        return None if python is None else [str(python), "-m", f"bench.peers.{module}"]

    return command


@cache
def _environment() -> Path | None:
    """The Python that has the peers in the versions required; None if they cannot be had."""
    python, stamp = PLACE / "venv" / "bin" / "python", PLACE / "venv" / "requirements.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return python
    print(f"installing the peers into {PLACE / 'venv'}", file=sys.stderr, flush=True)
    venv.create(PLACE / "venv", clear=True, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
    ended = subprocess.run(install, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        print(ended.stderr, file=sys.stderr)
        return None
    stamp.write_text(REQUIREMENTS.read_text())
    return python


def of_r() -> Command | None:
    """The command of rpart."""
    program = which("Rscript")
    if program is None or not _succeeds([program, "-e", "library(rpart)"]):
        return None
    return [program, "--vanilla", str(HERE / "rpart.R")]


def of_java() -> Command | None:
    """The command of J48, compiled here."""
    java, compiler, classes = which("java"), which("javac"), PLACE / "java"
    if java is None or compiler is None or not WEKA.exists():
        return None
    source = str(HERE / "Weka.java")
    if not _succeeds([compiler, "-cp", str(WEKA), "-d", str(classes), source]):
        return None
    return [java, "-XX:MaxRAMPercentage=50", "-cp", f"{WEKA}:{classes}", "Weka"]


def _succeeds(command: Command) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


COMMANDS: dict[str, Callable[[], Command | None]] = {
    OURS: in_our_environment,
    SCIKIT_LEARN: from_an_index("scikit_learn"),
    LIGHTGBM: from_an_index("lightgbm"),
    XGBOOST: from_an_index("xgboost"),
    YDF: from_an_index("ydf"),
    RPART: of_r,
    J48: of_java,
}


@cache
def command_of(peer: str) -> Command | None:
    """How the peer is started; None if it is not there."""
    return COMMANDS[peer]()

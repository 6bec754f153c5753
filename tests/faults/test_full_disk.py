"""A full disk: the job fails with a sentence, nothing of it is seen, and room makes all well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITH_MOUNTS = {
    True: ("unshare", "--mount"),
    False: ("unshare", "--user", "--map-current-user", "--keep-caps", "--mount"),
}
WHAT_TO_DO = (
    "This test mounts a small disk and may not. Run it as root (in a container with the capability "
    "SYS_ADMIN), or as a user where user namespaces are allowed "
    "(sysctl kernel.unprivileged_userns_clone=1)."
)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_tree_that_finds_no_room_fails_its_job_and_leaves_nothing(
    engine: str, tmp_path: Path
) -> None:
    alone = WITH_MOUNTS[os.geteuid() == 0]
    probe = [*alone, "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)]
    assert 0 == subprocess.run(probe, capture_output=True).returncode, WHAT_TO_DO

    story = [*alone, sys.executable, "-m", "tests.faults.full_disk", engine, str(tmp_path)]
    told = subprocess.run(story, cwd=ROOT, capture_output=True, text=True, timeout=110)

    assert 0 == told.returncode, told.stdout[-3000:] + told.stderr[-3000:]

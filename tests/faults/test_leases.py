"""Workers that stand still for too long, whose clocks go wrong, or whose helpers die."""

import os
import signal

from tests.faults.checks import violations
from tests.faults.fleet import is_running, send
from tests.faults.system import System, a_name, wait_for


def test_a_worker_that_stood_still_beyond_its_lease_changes_nothing_any_more(
    system: System,
) -> None:
    system.arm("child-grow", "SIGSTOP")
    system.arm("worker-started", "SIGSTOP")
    ordered = system.ordered(a_name())["id"]
    child = system.wait_for_hit("child-grow")
    worker = system.wait_for_hit("worker-started")

    job = system.ended(ordered)
    assert ("succeeded", 2, 1) == (job["state"], job["attempt"], job["version"])
    assert is_running(child)
    fenced = len(system.lines("job lost to another worker"))
    send(worker, signal.SIGCONT)

    wait_for(lambda: not is_running(child), "its child trains on")
    wait_for(
        lambda: len(system.lines("job lost to another worker")) > fenced, "it was not fenced off"
    )
    assert job == system.job(ordered)
    assert is_running(worker)
    assert [] == violations(system.store)


def test_a_worker_that_stood_still_with_its_result_in_hand_cannot_save_it(system: System) -> None:
    system.arm("worker-received", "SIGSTOP")
    ordered = system.ordered(a_name())["id"]
    worker = system.wait_for_hit("worker-received")

    job = system.ended(ordered)
    fenced = len(system.lines("job lost to another worker"))
    send(worker, signal.SIGCONT)

    wait_for(
        lambda: len(system.lines("job lost to another worker")) > fenced, "it was not fenced off"
    )
    assert (2, 1) == (job["attempt"], job["version"])
    assert [] == violations(system.store)


def test_a_fork_server_that_dies_takes_no_training_with_it_and_is_started_again(
    system: System,
) -> None:
    system.arm("child-grow", "SIGSTOP")
    first = system.ordered(a_name())["id"]
    child = system.wait_for_hit("child-grow")
    for pid, called in system.processes().items():
        if "multiprocessing.forkserver" in called and pid != child:
            os.kill(pid, signal.SIGKILL)

    send(child, signal.SIGCONT)
    others = [system.ordered(a_name())["id"] for _ in range(6)]

    job = system.ended(first)
    assert ("succeeded", 1) == (job["state"], job["attempt"])
    assert {"succeeded"} == {system.ended(other)["state"] for other in others}
    assert [] == violations(system.store)

"""What a child tells its parent."""

from multiprocessing import Pipe

from service.jobs.child import make_reporter
from service.storage.records import Progress


def test_a_new_stage_is_told_at_once_and_the_fraction_never_falls() -> None:
    ours, its = Pipe(duplex=False)
    with ours, its:
        report = make_reporter(its)
        for fraction, stage in [(0.2, "grow"), (0.3, "grow"), (0.1, "evaluate"), (0.5, "save")]:
            report(Progress(fraction, stage))
        told = [ours.recv() for _ in range(3)]
        assert not ours.poll()

    assert [Progress(0.2, "grow"), Progress(0.2, "evaluate"), Progress(0.5, "save")] == told

import json
import logging
import subprocess
import sys

from service.logs import JsonFormatter


def test_a_line_is_json_with_everything_that_was_told() -> None:
    line = logged(logging.INFO, "job %s", "claimed", model="瓜", attempt=1)

    assert {"INFO", "bough", "job claimed", "瓜", 1} <= set(line.values())
    assert line["time"].endswith("+00:00")


def test_of_an_exception_only_its_type_and_place_are_told() -> None:
    try:
        raise KeyError("a secret value")
    except KeyError:
        line = logged(logging.ERROR, "broken", exc_info=sys.exc_info())

    assert "KeyError" == line["exception"]
    assert any("test_logs.py" in frame for frame in line["trace"])
    assert "secret" not in json.dumps(line)


def test_a_process_logs_to_stderr_from_its_level_on() -> None:
    program = "import logging; from service.logs import configure_logging; "
    program += "configure_logging('warning'); logging.info('no'); logging.warning('yes')"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert ["yes"] == [json.loads(line)["message"] for line in ended.stderr.splitlines()]


def logged(
    level: int, message: str, *arguments: object, exc_info: object = None, **extra: object
) -> dict[str, object]:
    record = logging.getLogger("bough").makeRecord(
        "bough", level, __file__, 1, message, arguments, exc_info, extra=extra
    )
    return json.loads(JsonFormatter().format(record))


def test_what_is_logged_all_the_time_is_a_line_like_any_other() -> None:
    program = "import logging; from service.logs import configure_logging, info; "
    program += "configure_logging('info'); log = logging.getLogger('bough'); "
    program += "info(log, 'request', {'status': 200}); log.info('request', extra={'status': 200}); "
    program += "log.setLevel('WARNING'); info(log, 'request', {'status': 500})"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]

    assert [line.pop("time")[-6:] for line in lines] == ["+00:00"] * 2
    assert lines[0] == lines[1]


def test_lines_are_gathered_and_written_in_order_by_each_process() -> None:
    program = "import logging, os, sys, time; from service.logs import configure_logging, info; "
    program += "configure_logging('info'); log = logging.getLogger('bough'); "
    program += "info(log, 'a', {}); log.info('b'); info(log, 'c', {}); "
    program += 'time.sleep(0.5); os.write(2, b\'{"message": "d"}\\n\'); '
    program += "child = os.fork(); child and os.waitpid(child, 0); "
    program += "info(log, 'f' if child else 'e', {}); child or time.sleep(0.5); "
    program += "child or os._exit(0)"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert [*"abcdef"] == [json.loads(line)["message"] for line in ended.stderr.splitlines()]


def test_nothing_is_lost_when_more_is_gathered_than_there_is_room_for() -> None:
    program = "import logging; from service import logs; logs.MOST = 10; "
    program += "logs.configure_logging('info'); log = logging.getLogger('bough'); "
    program += "[logs.info(log, str(number), {}) for number in range(1000)]"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    told = [json.loads(line)["message"] for line in ended.stderr.splitlines()]
    assert told == [str(number) for number in range(1000)]

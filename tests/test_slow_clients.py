"""A client that never finishes its request must not hold a thread for ever."""

import socket
from pathlib import Path

from tests.server import running


def test_a_body_that_does_not_come_is_given_up_with_408(tmp_path: Path) -> None:
    with running(tmp_path, read_seconds="0.5") as client:
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address, timeout=20) as slow:
            slow.sendall(
                b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            answer = slow.recv(65536).decode()

        assert answer.startswith("HTTP/1.1 408")
        assert "application/problem+json" in answer
        assert client.get("/livez").status_code == 200

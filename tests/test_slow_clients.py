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


def test_half_a_head_and_an_answer_that_nobody_reads_are_given_up(tmp_path: Path) -> None:
    with running(tmp_path, read_seconds="0.5", web_threads="1") as client:
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address, timeout=20) as slow:
            slow.sendall(b"GET /livez HTTP/1.1\r\nHo")
            assert slow.recv(65536) == b""
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(address)
            deaf.sendall(b"GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n" * 200)
            assert client.get("/livez", timeout=20).status_code == 200

"""The listening socket is one that asyncio answers from at once."""

import asyncio
import socket

from friend_training.web.server import listening


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """asyncio sets TCP_NODELAY only on sockets that name TCP: without it every small answer took 40 ms more."""

    async def nodelay_of_a_connection() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            given = writer.get_extra_info("socket")
            found.set_result(given.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listening("127.0.0.1", 0)
        async with await asyncio.start_server(met, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            answer = await found
            writer.close()
        return answer

    assert asyncio.run(nodelay_of_a_connection()) == 1

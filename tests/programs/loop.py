# asyncio: timers, a thread that wakes the loop, a pair of sockets.
import asyncio
import socket


async def late(i):
    await asyncio.sleep(0.01 * i)
    return i


async def main():
    loop = asyncio.get_running_loop()
    print(await asyncio.gather(*[late(i) for i in range(5)]))
    print(await loop.run_in_executor(None, sum, range(1000)))
    here, there = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=here)
    loop.run_in_executor(None, there.sendall, b"a line\n")
    print(await reader.readline())
    writer.close()
    there.close()


asyncio.run(main())

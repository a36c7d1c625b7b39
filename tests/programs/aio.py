"""Requests of asyncio: one thread, and a lock that a task holds while it waits for a disk."""
import sys

sys.modules["ssl"] = None  # what nothing here uses takes long to load
import asyncio
import microtome


async def serve(number, disk):
    """A request: it computes, waits for the lock, and computes."""
    microtome.request_begin(number)
    total = sum(range(200))
    microtome.request_block(number)
    async with disk:
        microtome.request_join(number)
        if number == 50:
            total += sum(range(20000))
        microtome.request_block(number)
        await asyncio.sleep(0.001)
        microtome.request_join(number)
    microtome.request_end(number)
    return total


async def main():
    """All requests at once."""
    disk = asyncio.Lock()
    print(sum(await asyncio.gather(*(serve(n, disk) for n in range(1, 101)))))


asyncio.run(main())

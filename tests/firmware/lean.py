#!/usr/bin/env python3
"""Copies OVMF without what no test needs: lean.py FIRMWARE COPY.

The search for a TPM: QEMU without one reads zeros where it would be, which OVMF takes for a TPM that does not answer; it
spins for 2.7 s of every boot, and under -icount for 30 s of CPU time.  And what is never started, of which every boot
unpacks and loads all: shell, setup, TLS, PXE, iSCSI, disks.  A module that is left out of the first volume becomes padding; the
second one becomes shorter.  Of firmware that looks otherwise a true copy is made.  Formats: UEFI Platform Initialization
Specification 1.7, volume 3, "Firmware File System", "Firmware Volume" and "GUIDed section".
"""
import lzma
import struct
import sys
import uuid

LZMA_SECTION = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf").bytes_le
TCG2_CONFIG_PEI = uuid.UUID("8ad3148f-945f-46b4-8acd-71469ea73945").bytes_le
LEFT_OUT = {
    uuid.UUID(name).bytes_le
    for name in """
    7c04a583-9e3e-4f1c-ad65-e05268d0b4d1 462caa21-7614-4503-836e-8ab6f4662331 ebf342fe-b1d3-4ef8-957c-8048606ff671
    e660ea85-058e-4b55-a54b-f02f83a24707 f0e6a44f-7195-41c3-ac64-54f202cd0a21 3aceb0c0-3c72-11e4-9a56-74d435052646
    7ca1024f-eb17-11e5-9dba-28d2447c4829 86cddf93-4872-4597-8af9-a35ae4d3725f 5bedb5cc-d830-4eb2-8742-2d4cc9b54f2c
    b95e9fda-26de-48d2-8807-1f9107ac5e3a ecebcb00-d9c8-11e4-af3d-8cdcd426c973 2366c20f-e15a-11e3-8bf1-e4115b28bc50
    b219e140-dffc-11e3-b956-0022681e6906 1a7e4468-2f55-4a56-903c-01265eb7622b 95e3669d-34be-4775-a651-7ea41b69d89e
    99f03b99-98d8-49dd-a8d3-3219d0ffe41e d912c7bc-f098-4367-92ba-e911083c7b0e fdff263d-5f68-4591-87ba-b768f445a9af
    4d9cbef0-15a0-4d0c-83db-5213e710c23f a5683620-7998-4bb2-a377-1c1e31e1e215 19618bce-55ae-09c6-37e9-4ce04084c7a1
    a487a478-51ef-48aa-8794-7bee2a0562f1 2f30da26-f51b-4b6f-85c4-31873c281bca 28a03ff4-12b3-4305-a417-bb1a4f94081e
    7bd9ddf7-8b83-488e-aec9-24c78610289c 5be3bdf4-53cf-46a3-a6a9-73c34a6e5ee3 5e523cb4-d397-4986-87bd-a6dd8b22f455
    """.split()
}
SECTION_GUID = 4  # where the GUID is in the section's header
SECTION_DATA = 20  # where the offset of the data is
SECTION_HEADER = 4  # of any other section
VOLUME_LENGTH = 32
VOLUME_HEADER_LENGTH = 48
VOLUME_CHECKSUM = 50
VOLUME_EXTENSION = 52
VOLUME_BLOCKS = 56
FILE_HEADER = 24
FILE_HEADER_CHECKSUM = 16
FILE_TYPE = 18
FILE_SIZE = 20
TYPE_PEIM = 0x06
TYPE_PAD = 0xF0
DICTIONARY = 1 << 24


def size_of(data, at):
    """Returns a length of three bytes."""
    return int.from_bytes(data[at : at + 3], "little")


def round_up(number, unit):
    """Returns the next multiple of a unit."""
    return (number + unit - 1) // unit * unit


def remove_search(volumes):
    """Makes padding of the module in the unpacked volumes."""
    at = volumes.find(TCG2_CONFIG_PEI)
    if at < 0 or volumes[at + FILE_TYPE] != TYPE_PEIM:
        raise ValueError("it has no search for a TPM")
    volumes[at + FILE_TYPE] = TYPE_PAD
    checksum = volumes[at + FILE_HEADER_CHECKSUM]
    volumes[at + FILE_HEADER_CHECKSUM] = (checksum - TYPE_PAD + TYPE_PEIM) % 256
    end = at + size_of(volumes, at + FILE_SIZE)
    volumes[at + FILE_HEADER : end] = b"\xff" * (end - at - FILE_HEADER)


def files_begin(volume):
    """Returns where the first file of a volume is."""
    extension = struct.unpack_from("<H", volume, VOLUME_EXTENSION)[0]
    if not extension:
        return struct.unpack_from("<H", volume, VOLUME_HEADER_LENGTH)[0]
    return round_up(extension + struct.unpack_from("<I", volume, extension + 16)[0], 8)


def shorten(volume):
    """Returns the volume without the files that are left out, and without the room at its end."""
    at = files_begin(volume)
    kept = bytearray(volume[:at])
    while volume[at : at + FILE_HEADER] not in (b"\xff" * FILE_HEADER, b""):
        size = round_up(size_of(volume, at + FILE_SIZE), 8)
        if size < FILE_HEADER:
            raise ValueError("it has a file of another kind")
        if bytes(volume[at : at + 16]) not in LEFT_OUT:
            kept += volume[at : at + size]
        at += size
    block = struct.unpack_from("<I", kept, VOLUME_BLOCKS + 4)[0]
    kept += b"\xff" * (round_up(len(kept) + FILE_HEADER, block) - len(kept))
    struct.pack_into("<Q", kept, VOLUME_LENGTH, len(kept))
    struct.pack_into("<I", kept, VOLUME_BLOCKS, len(kept) // block)
    struct.pack_into("<H", kept, VOLUME_CHECKSUM, 0)
    words = struct.unpack_from("<%dH" % (struct.unpack_from("<H", kept, VOLUME_HEADER_LENGTH)[0] // 2), kept)
    struct.pack_into("<H", kept, VOLUME_CHECKSUM, -sum(words) % 65536)
    return kept


def shorten_last(volumes):
    """Shortens the last of the volumes, each of which is a section."""
    at = 0
    while at + size_of(volumes, at) < len(volumes):
        at = round_up(at + size_of(volumes, at), 4)
        if size_of(volumes, at) < SECTION_HEADER:
            raise ValueError("it has a section of another kind")
    kept = shorten(volumes[at + SECTION_HEADER :])
    volumes[at + SECTION_HEADER :] = kept
    volumes[at : at + 3] = (len(kept) + SECTION_HEADER).to_bytes(3, "little")


def pack(volumes):
    """Packs as EDK II does: with the length in the header."""
    how = {"id": lzma.FILTER_LZMA1, "dict_size": DICTIONARY, "nice_len": 273, "mf": lzma.MF_BT4, "depth": 1000}
    packed = bytearray(lzma.compress(volumes, format=lzma.FORMAT_ALONE, filters=[how]))
    packed[5:13] = struct.pack("<Q", len(volumes))
    return packed


def lean(firmware):
    """Returns the firmware without what no test needs."""
    guid = firmware.find(LZMA_SECTION)
    if guid < SECTION_GUID:
        raise ValueError("it has no packed section")
    section = guid - SECTION_GUID
    begin = section + struct.unpack_from("<H", firmware, section + SECTION_DATA)[0]
    end = section + size_of(firmware, section)
    volumes = bytearray(lzma.decompress(firmware[begin:end], format=lzma.FORMAT_ALONE))
    remove_search(volumes)
    shorten_last(volumes)
    packed = pack(volumes)
    if len(packed) > end - begin:
        raise ValueError("it does not fit in its place when packed again")
    return firmware[:begin] + packed + bytes(end - begin - len(packed)) + firmware[end:]


def main():
    """Writes the copy."""
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        firmware = file.read()
    try:
        firmware = lean(firmware)
    except (ValueError, struct.error, lzma.LZMAError) as error:
        print(f"{source}: used as it is: {error}", file=sys.stderr)
    with open(target, "wb") as file:
        file.write(firmware)


main()

#!/usr/bin/env python3
"""Copies OVMF without its search for a TPM: without_tpm.py FIRMWARE COPY.

QEMU without a TPM reads zeros where one would be, which OVMF takes for a TPM that does not answer: it spins for 2.7 s
of every boot, and under -icount for 30 s of CPU time. The module that searches is turned into padding, which is all that
differs. Of firmware that looks otherwise a true copy is made. Formats: UEFI Platform Initialization Specification 1.7,
volume 3, "Firmware File System" and "GUIDed section".
"""
import lzma
import struct
import sys
import uuid

LZMA_SECTION = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf").bytes_le
TCG2_CONFIG_PEI = uuid.UUID("8ad3148f-945f-46b4-8acd-71469ea73945").bytes_le
SECTION_GUID = 4  # where the GUID is in the section's header
SECTION_DATA = 20  # where the offset of the data is
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


def pack(volumes):
    """Packs as EDK II does: with the length in the header."""
    how = {"id": lzma.FILTER_LZMA1, "dict_size": DICTIONARY, "nice_len": 273, "mf": lzma.MF_BT4, "depth": 1000}
    packed = bytearray(lzma.compress(volumes, format=lzma.FORMAT_ALONE, filters=[how]))
    packed[5:13] = struct.pack("<Q", len(volumes))
    return packed


def without_search(firmware):
    """Returns the firmware without the search."""
    guid = firmware.find(LZMA_SECTION)
    if guid < SECTION_GUID:
        raise ValueError("it has no packed section")
    section = guid - SECTION_GUID
    begin = section + struct.unpack_from("<H", firmware, section + SECTION_DATA)[0]
    end = section + size_of(firmware, section)
    volumes = bytearray(lzma.decompress(firmware[begin:end], format=lzma.FORMAT_ALONE))
    remove_search(volumes)
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
        firmware = without_search(firmware)
    except (ValueError, struct.error, lzma.LZMAError) as error:
        print(f"{source}: used as it is: {error}", file=sys.stderr)
    with open(target, "wb") as file:
        file.write(firmware)


main()

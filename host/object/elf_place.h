/* Where an ELF file's bytes are mapped, and where mapped code is in the file.
 *
 * Addresses are link-time addresses.  ELF files are hostile input: offsets are not checked against
 * the file, so reading there may fail.  Never prints.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Finds the address of the file's byte at `offset`.  Returns false if no segment loads it. */
bool elf_place_address(Elf *elf, uint64_t offset, uint64_t *address);

/* Finds the code at `address` in the file, and how many bytes of its segment follow.  Returns false
 * if it is not in this file: files of debug information leave the code out. */
bool elf_place_code(Elf *elf, uint64_t address, uint64_t *offset, uint64_t *bytes);

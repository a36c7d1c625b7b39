/* Where an ELF file's bytes are mapped, and where mapped code is in the file.
 *
 * Addresses are those that the file was linked for.  ELF files are hostile input: offsets are the
 * file's word, so reading there may fail.  Never prints.
 */
#ifndef HOST_OBJECT_ELF_PLACE_H
#define HOST_OBJECT_ELF_PLACE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The address of the file's byte at `offset`; false when no segment loads it. */
bool elf_place_address(Elf *elf, uint64_t offset, uint64_t *address);

/* Where the code at `address` is in the file, and how many bytes follow of its segment.  False when
 * it is not in this file: files of debug information leave the code out.
 */
bool elf_place_code(Elf *elf, uint64_t address, uint64_t *offset, uint64_t *bytes);

#endif

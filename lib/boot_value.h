/* The values of microtome.conf (lib/boot_conf.h): numbers, sizes, times, addresses, names, paths.
 * Freestanding, hostile input.  Each returns false, with the result untouched, for what is none.
 */
#ifndef LIB_BOOT_VALUE_H
#define LIB_BOOT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boot_text { /* not NUL-terminated */
    const char *at;
    size_t bytes;
};

bool boot_value_is(struct boot_text text, const char *word);
bool boot_value_number(struct boot_text text, uint64_t *number); /* decimal */
bool boot_value_hex32(struct boot_text text, uint32_t *number); /* 1 to 8 digits, 0x or not */
bool boot_value_size(struct boot_text text, uint64_t *bytes); /* 512, 64K, 100M, 2G */
bool boot_value_time(struct boot_text text,
                     uint64_t *ns); /* 500ms, 10s, 2m, 1h; a unit is needed */
bool boot_value_ipv4(struct boot_text text, uint32_t *address); /* network byte order */
bool boot_value_ipv4_port(struct boot_text text, uint32_t *address, uint16_t *port); /* [:PORT] */
bool boot_value_ipv4_bits(struct boot_text text, uint32_t *address, uint32_t *netmask);

/* Printable ASCII without a NUL: copied, with one. */
bool boot_value_text(struct boot_text text, char *out, size_t room);

/* A name that every file system and the collector take: letters, digits, '-', '_', '.', the first
 * no '.'.  boot_value_sanitise makes one of anything, with '_' for what is not allowed; false: no
 * letter or digit is left of it. */
bool boot_value_name(struct boot_text text, char *out, size_t room);
bool boot_value_sanitise(struct boot_text text, char *out, size_t room);

/* \DIRECTORY\FILE of a FAT partition, from its root; slashes become backslashes. */
bool boot_value_path(struct boot_text text, char *out, size_t room);

#endif

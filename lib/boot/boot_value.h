/* Parses the values of microtome.conf (lib/boot/boot_conf.h): numbers, sizes, times, addresses,
 * names, paths.  Freestanding; the input is hostile.  Each function returns false for an invalid
 * value and leaves the result untouched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boot_text { /* not NUL-terminated */
    const char *at;
    size_t bytes;
};

bool boot_value_is(struct boot_text text, const char *word);
bool boot_value_number(struct boot_text text, uint64_t *number); /* decimal */
bool boot_value_hex32(struct boot_text text, uint32_t *number); /* 1 to 8 digits, 0x is optional */
bool boot_value_size(struct boot_text text, uint64_t *bytes); /* 512, 64K, 100M, 2G */
bool boot_value_time(struct boot_text text, uint64_t *ns); /* 500ms, 10s, 2m, 1h; requires a unit */
bool boot_value_ipv4(struct boot_text text, uint32_t *address); /* network byte order */
bool boot_value_ipv4_port(struct boot_text text, uint32_t *address, uint16_t *port); /* [:PORT] */
bool boot_value_ipv4_bits(struct boot_text text, uint32_t *address, uint32_t *netmask);

/* Copies printable ASCII without a NUL, and adds a NUL. */
bool boot_value_text(struct boot_text text, char *out, size_t room);

/* Copies a name that every file system and the collector accept: letters, digits, '-', '_', '.',
 * not first a '.'.  boot_value_sanitise makes such a name of any text, with '_' for what is not
 * allowed; it returns false if no letter or digit is left. */
bool boot_value_name(struct boot_text text, char *out, size_t room);
bool boot_value_sanitise(struct boot_text text, char *out, size_t room);

/* \DIRECTORY\FILE of a FAT partition, from its root; slashes become backslashes. */
bool boot_value_path(struct boot_text text, char *out, size_t room);

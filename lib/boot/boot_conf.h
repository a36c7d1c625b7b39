/* microtome.conf: what a bootable stick does.  Written by `hr usb`, readable and editable by
 * people, parsed by the loader (boot/uefi/) and by the host.
 *
 * Lines "key = value"; [run] starts a run; '#' at the start or after a blank starts a comment.  CR
 * LF is fine.  Keys before the first [run], each at most once:
 *   version = 1                            comes first
 *   kernel = \microtome\guest.elf          kernel-bytes = N   kernel-crc32c = HEX
 *   output = stick | network               (default stick)
 *   end = power-off | reboot | wait        (default power-off)
 *   firmware = keep | exit                 keep (the default): boot services stay alive;
 *                                          exit: with output = network only
 *   memory = SIZE | all                    the kernel's and the program's; K, M, G, T
 *                                          (default 1G, or half of what a smaller machine has)
 *   buffer = SIZE | all                    the trace's until it leaves (default: what is left)
 *   part = SIZE                            files on the stick are at most so long
 *                                          (64K to 4095M, the default)
 *   machine = NAME                         names the results (default: from SMBIOS)
 *   progress = \microtome\progress.txt     a file with a character for each run (below), so that
 *                                          one that ended is left out when the stick is started
 *                                          again; with firmware = keep only
 *   collector = ADDRESS[:PORT]             IPv4; with output = network
 *   address = dhcp | ADDRESS/BITS          gateway = ADDRESS
 *   token = TEXT                           printable ASCII, no blanks and no #
 * Keys of a run:
 *   archive = \microtome\runs\NAME.cpio    bytes = N   crc32c = HEX
 *   name = NAME                            (default: the archive's, with '_' for what no name has)
 *   repeat = N                             (default 1, at most 10000)
 *   timeout = TIME                         ns, us, ms, s, m, h (default: the archive's, of
 *                                          hr pack --timeout, else none)
 * The file of progress begins with a character for each run, in their order: '.' it waits; '1' to
 * '3' it was started so often and did not end, after which it is left out; '+' it ended.
 *
 * Names have letters, digits, '-', '_' and '.' (not first).  An unknown key is an error: a misspelt
 * one would be silently without effect.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BOOT_CONF_RUNS_MAX 256
#define BOOT_CONF_MEMORY_BYTES_MIN (32ull << 20)
#define BOOT_CONF_BUFFER_BYTES_MIN (1ull << 20)
#define BOOT_CONF_REPEAT_MAX 10000u
#define BOOT_CONF_PATH_BYTES 128
#define BOOT_CONF_NAME_BYTES 64
#define BOOT_CONF_BYTES_MAX (1u << 20) /* of the file */
#define BOOT_CONF_STARTS_MAX 3u /* of a run that does not end */
#define BOOT_CONF_WAITS '.' /* in the file of progress */
#define BOOT_CONF_ENDED '+'
#define BOOT_CONF_ALL UINT64_MAX
#define BOOT_CONF_USUAL 0u /* memory: 1 GiB, or half of what there is, if that is less */

enum boot_conf_end { BOOT_CONF_POWER_OFF, BOOT_CONF_REBOOT, BOOT_CONF_WAIT };

struct boot_conf_file {
    char path[BOOT_CONF_PATH_BYTES]; /* with backslashes, from the partition's root */
    uint64_t bytes;
    uint32_t crc32c;
    uint32_t line; /* the line of the text that names the file */
};

struct boot_conf_run {
    struct boot_conf_file archive;
    char name[BOOT_CONF_NAME_BYTES];
    uint32_t repeat;
    uint64_t timeout_ns; /* 0: the archive's, if it has one */
};

struct boot_conf {
    struct boot_conf_file kernel;
    uint32_t network; /* 1: output = network */
    uint32_t end; /* enum boot_conf_end */
    uint32_t exit_firmware; /* 1: firmware = exit */
    uint64_t memory_bytes, buffer_bytes, part_bytes; /* BOOT_CONF_ALL, _USUAL */
    char machine[BOOT_CONF_NAME_BYTES];
    char progress[BOOT_CONF_PATH_BYTES]; /* "": none */
    uint32_t collector, address, netmask, gateway; /* network byte order; address 0: DHCP */
    uint16_t port;
    char token[BOOT_CONF_NAME_BYTES];
    uint32_t run_count;
    struct boot_conf_run runs[BOOT_CONF_RUNS_MAX];
};

struct boot_conf_error {
    uint32_t line; /* counted from 1; 0: the whole file */
    char text[160]; /* what is wrong, with a remedy where there is one */
};

/* Parses `bytes` bytes of text, which need not end with a NUL.  Returns 0, or -EINVAL with *error
 * filled.  On success *conf holds the values of all keys or their defaults, and is consistent: it
 * has at least one run, names that a file can have, and sizes within 64 bits.
 */
int boot_conf_parse(const char *text, size_t bytes, struct boot_conf *conf,
                    struct boot_conf_error *error);

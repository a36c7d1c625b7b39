/* microtome.conf: what is accepted, defaults, and what is refused with which line and remedy. */
#include "lib/boot/boot_conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define HEAD                            \
    "version = 1\n"                     \
    "kernel = \\microtome\\guest.elf\n" \
    "kernel-bytes = 1000\n"             \
    "kernel-crc32c = 12345678\n"
#define RUN                                    \
    "[run]\n"                                  \
    "archive = \\microtome\\runs\\sort.cpio\n" \
    "bytes = 4096\n"                           \
    "crc32c = 0xdeadBEEF\n"

static struct boot_conf conf;
static struct boot_conf_error error;

/* Parses a copy in a block of exactly its size, so that ASan sees any read past it. */
static int parse_bytes(const char *text, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    int status;

    assert_non_null(copy);
    memcpy(copy, text, bytes);
    memset(&conf, 0x5a, sizeof conf);
    memset(&error, 0x5a, sizeof error);
    status = boot_conf_parse(copy, bytes, &conf, &error);
    free(copy);
    return status;
}

static int parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void assert_refused(const char *text, uint32_t line, const char *part)
{
    assert_int_equal(parse(text), -EINVAL);
    if (error.line != line || !strstr(error.text, part))
        fail_msg("line %u: %s; wanted line %u: %s", error.line, error.text, line, part);
}

static void takes_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(HEAD RUN), 0);
    assert_string_equal(conf.kernel.path, "\\microtome\\guest.elf");
    assert_int_equal(conf.kernel.bytes, 1000);
    assert_int_equal(conf.kernel.crc32c, 0x12345678);
    assert_int_equal(conf.kernel.line, 2);
    assert_int_equal(conf.network, 0);
    assert_int_equal(conf.end, BOOT_CONF_POWER_OFF);
    assert_int_equal(conf.exit_firmware, 0);
    assert_true(conf.memory_bytes == BOOT_CONF_USUAL);
    assert_true(conf.buffer_bytes == BOOT_CONF_ALL);
    assert_true(conf.part_bytes == 4095ull << 20);
    assert_string_equal(conf.machine, "");
    assert_string_equal(conf.token, "");
    assert_int_equal(conf.port, 4817);
    assert_int_equal(conf.run_count, 1);
    assert_string_equal(conf.runs[0].archive.path, "\\microtome\\runs\\sort.cpio");
    assert_int_equal(conf.runs[0].archive.bytes, 4096);
    assert_int_equal(conf.runs[0].archive.crc32c, 0xdeadbeef);
    assert_int_equal(conf.runs[0].archive.line, 6);
    assert_string_equal(conf.runs[0].name, "sort");
    assert_int_equal(conf.runs[0].repeat, 1);
    assert_int_equal(conf.runs[0].timeout_ns, 0);
}

static void takes_every_key(void **state)
{
    (void)state;
    assert_int_equal(parse(HEAD "output = network\nend = wait\nfirmware = exit\nmemory = 512M\n"
                                "buffer = 2G\npart = 64K\nmachine = lab-1.x\n"
                                "collector = 192.168.1.10:99\naddress = 192.168.1.20/24\n"
                                "gateway = 192.168.1.1\ntoken = a # b\n" RUN
                                "name = a.b_c-d\nrepeat = 10000\ntimeout = 90s\n" RUN
                                "timeout = 2h\n"),
                     0);
    assert_int_equal(conf.network, 1);
    assert_int_equal(conf.end, BOOT_CONF_WAIT);
    assert_int_equal(conf.exit_firmware, 1);
    assert_true(conf.memory_bytes == 512ull << 20);
    assert_true(conf.buffer_bytes == 2ull << 30);
    assert_true(conf.part_bytes == 64ull << 10);
    assert_string_equal(conf.machine, "lab-1.x");
    assert_memory_equal(&conf.collector, "\xc0\xa8\x01\x0a", 4);
    assert_int_equal(conf.port, 99);
    assert_memory_equal(&conf.address, "\xc0\xa8\x01\x14", 4);
    assert_memory_equal(&conf.netmask, "\xff\xff\xff\x00", 4);
    assert_memory_equal(&conf.gateway, "\xc0\xa8\x01\x01", 4);
    assert_string_equal(conf.token, "a");
    assert_int_equal(conf.run_count, 2);
    assert_string_equal(conf.runs[0].name, "a.b_c-d");
    assert_int_equal(conf.runs[0].repeat, 10000);
    assert_true(conf.runs[0].timeout_ns == 90000000000ull);
    assert_string_equal(conf.runs[1].name, "sort");
    assert_true(conf.runs[1].timeout_ns == 7200000000000ull);
}

static void takes_what_editors_write(void **state)
{
    (void)state;
    assert_int_equal(parse("\xef\xbb\xbf# stick\r\n\r\n  version=1  # the first\r\n"
                           "kernel = /microtome/guest.elf\r\nkernel-bytes\t=\t1\r\n"
                           "kernel-crc32c = a\r\nmemory = all\r\naddress = dhcp\r\n"
                           "token = x#y\r\n [run] \r\n"
                           "archive = \\a b+(1).CPIO\r\nbytes = 1\r\ncrc32c = 00000000"),
                     0);
    assert_string_equal(conf.kernel.path, "\\microtome\\guest.elf");
    assert_true(conf.memory_bytes == BOOT_CONF_ALL);
    assert_string_equal(conf.token, "x#y");
    assert_string_equal(conf.runs[0].archive.path, "\\a b+(1).CPIO");
    assert_string_equal(conf.runs[0].name, "a_b_1_.CPIO");
}

static void refuses_structure(void **state)
{
    (void)state;
    assert_refused("", 0, "version = ... is missing");
    assert_refused(HEAD, 0, "no [run]");
    assert_refused("kernel = \\x\n" HEAD RUN, 1, "version = 1 must be the first key");
    assert_refused("version = 2\n", 1, "version = 2 is not a version that this loader knows");
    assert_refused(HEAD "colour = blue\n" RUN, 5, "unknown key: colour");
    assert_refused(HEAD RUN "repaet = 2\n", 9, "unknown key: repaet");
    assert_refused(HEAD "bytes = 1\n" RUN, 5, "bytes belongs to a run");
    assert_refused(HEAD RUN "end = wait\n", 9, "end is not a run's");
    assert_refused(HEAD "end = wait\nend = wait\n" RUN, 6, "end is given twice");
    assert_refused(HEAD RUN "repeat = 2\n" RUN "repeat = 2\nrepeat = 3\n", 15, "given twice");
    assert_refused(HEAD "nonsense\n" RUN, 5, "nonsense is neither key = value nor [run]");
    assert_refused(HEAD "[runs]\n" RUN, 5, "[runs] is neither");
    assert_refused(HEAD "token =\n" RUN, 5, "lacks a value");
    assert_refused("version = 1\nkernel = \\x\nkernel-bytes = 1\n" RUN, 4,
                   "kernel-crc32c = ... is");
    assert_refused(HEAD "[run]\nbytes = 1\ncrc32c = 1\n", 5, "archive = ... is missing in this");
    assert_refused(HEAD "[run]\narchive = \\x\ncrc32c = 1\n" RUN, 5, "bytes = ... is missing");
    assert_int_equal(parse_bytes("v\0e\0r\0", 6), -EINVAL);
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.text, "not plain text"));
}

static void refuses_values(void **state)
{
    static const struct {
        const char *line;
        const char *part;
    } bad[] = {
        {"output = usb\n", "write stick or network"},
        {"end = poweroff\n", "write power-off, reboot or wait"},
        {"firmware = leave\n", "write keep or exit"},
        {"memory = 31M\n", "memory = 31M is no size for memory"},
        {"memory = 1GB\n", "1G, or all"},
        {"memory = 99999999999999999999\n", "no size"},
        {"memory = 18000000000000M\n", "no size"},
        {"buffer = -1\n", "no size for the buffer"},
        {"buffer = 1000K\n", "no size for the buffer"},
        {"part = all\n", "64K to 4095M"},
        {"part = 4G\n", "64K to 4095M"},
        {"machine = .hidden\n", "is not a name"},
        {"machine = a/b\n", "is not a name"},
        {"collector = lab.example\n", "IPv4 address"},
        {"collector = 1.2.3\n", "IPv4 address"},
        {"collector = 1.2.3.256\n", "IPv4 address"},
        {"collector = 1.2.3.4:0\n", "IPv4 address"},
        {"collector = 1.2.3.4:65536\n", "IPv4 address"},
        {"collector = 1.2.3.4:\n", "IPv4 address"},
        {"collector = 0.0.0.0\n", "IPv4 address"},
        {"address = 10.0.0.1\n", "dhcp or an IPv4 address"},
        {"address = 10.0.0.1/33\n", "dhcp or an IPv4 address"},
        {"address = 10.0.0.1/0\n", "dhcp or an IPv4 address"},
        {"gateway = 10.0.0\n", "is not a gateway"},
        {"progress = progress.txt\n", "is not a path"},
        {"token = \xc3\xa4\n", "is not a token"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1024];

        snprintf(text, sizeof text, HEAD "%s" RUN, bad[i].line);
        assert_refused(text, 5, bad[i].part);
    }
}

static void refuses_values_of_runs(void **state)
{
    static const struct {
        const char *line;
        const char *part;
    } bad[] = {
        {"name = a b\n", "is not a name"},
        {"repeat = 0\n", "1 to 10000"},
        {"repeat = 10001\n", "1 to 10000"},
        {"repeat = 18446744073709551617\n", "1 to 10000"},
        {"timeout = 10\n", "with its unit"},
        {"timeout = 0s\n", "with its unit"},
        {"timeout = 6000000h\n", "with its unit"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1024];

        snprintf(text, sizeof text, HEAD RUN "%s", bad[i].line);
        assert_refused(text, 9, bad[i].part);
    }
    assert_refused(HEAD "[run]\narchive = runs\\x.cpio\n", 6, "is not a path");
    assert_refused(HEAD "[run]\narchive = \\runs\\\n", 6, "is not a path");
    assert_refused(HEAD "[run]\narchive = \\a*\n", 6, "is not a path");
    assert_refused(HEAD "[run]\narchive = \\x\nbytes = 0\n", 7, "not a file's length");
    assert_refused(HEAD "[run]\narchive = \\x\nbytes = 1\ncrc32c = 123456789\n", 8,
                   "8 hexadecimal");
    assert_refused(HEAD "[run]\narchive = \\x\nbytes = 1\ncrc32c = 0x\n", 8, "8 hexadecimal");
    assert_refused(HEAD "[run]\narchive = \\++\nbytes = 1\ncrc32c = 1\n", 6, "add name = NAME");
}

static void refuses_contradictions(void **state)
{
    (void)state;
    assert_refused(HEAD "firmware = exit\n" RUN, 5, "add output = network");
    assert_refused(HEAD "output = network\ncollector = 10.0.0.1\nfirmware = exit\n"
                        "progress = \\p.txt\n" RUN,
                   8, "take progress, or firmware, out");
    assert_int_equal(parse(HEAD "progress = \\p.txt\n" RUN), 0);
    assert_string_equal(conf.progress, "\\p.txt");
    assert_refused(HEAD "output = network\n" RUN, 5, "needs collector = ADDRESS");
    assert_refused(HEAD "gateway = 10.0.0.1\n" RUN, 5, "gateway needs address");
    assert_refused(HEAD "address = 10.0.0.2/24\ngateway = 10.0.1.1\n" RUN, 6, "is outside of");
    assert_refused(HEAD "output = network\naddress = 10.0.0.2/24\ncollector = 10.0.1.1\n" RUN, 7,
                   "add gateway");
    assert_int_equal(parse(HEAD "collector = 10.0.1.1\naddress = 10.0.0.2/24\n" RUN), 0);
}

/* Texts and runs of the largest size; one more is refused. */
static void keeps_limits(void **state)
{
    size_t room = 64 * 1024, used;
    char *text = malloc(room), name[65];

    (void)state;
    assert_non_null(text);
    used = (size_t)snprintf(text, room, HEAD);
    for (int i = 0; i < BOOT_CONF_RUNS_MAX; i++)
        used += (size_t)snprintf(text + used, room - used, RUN);
    assert_int_equal(parse(text), 0);
    assert_int_equal(conf.run_count, BOOT_CONF_RUNS_MAX);
    snprintf(text + used, room - used, RUN);
    assert_refused(text, 4 + 4 * BOOT_CONF_RUNS_MAX + 1, "at most 256");

    memset(name, 'n', sizeof name);
    name[63] = '\0';
    snprintf(text, room, HEAD "machine = %s\n" RUN, name);
    assert_int_equal(parse(text), 0);
    assert_string_equal(conf.machine, name);
    name[63] = 'n';
    name[64] = '\0';
    snprintf(text, room, HEAD "machine = %s\n" RUN, name);
    assert_refused(text, 5, "is not a name");
    free(text);

    text = calloc(1, BOOT_CONF_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, '\n', BOOT_CONF_BYTES_MAX + 1);
    assert_int_equal(boot_conf_parse(text, BOOT_CONF_BYTES_MAX + 1, &conf, &error), -EINVAL);
    assert_non_null(strstr(error.text, "too long"));
    free(text);
}

/* What a file says is shown only as printable text, and cut where there is no room. */
static void shows_hostile_text(void **state)
{
    char text[8192];

    (void)state;
    assert_refused("\x1b[2J = 1\n", 1, "unknown key: ?[2J:");
    memset(text, 'k', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_refused(text, 1, "kkk... is neither");
    assert_true(strlen(error.text) < sizeof error.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_defaults),           cmocka_unit_test(takes_every_key),
        cmocka_unit_test(takes_what_editors_write), cmocka_unit_test(refuses_structure),
        cmocka_unit_test(refuses_values),           cmocka_unit_test(refuses_values_of_runs),
        cmocka_unit_test(refuses_contradictions),   cmocka_unit_test(keeps_limits),
        cmocka_unit_test(shows_hostile_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

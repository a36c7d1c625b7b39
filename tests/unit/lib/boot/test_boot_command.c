/* lib/boot/boot_command.c: the kernel's command line. */
#include "tests/unit/test.h"

#include <string.h>

#include "lib/boot/boot_command.h"

static struct boot_info boot;
static uint64_t buffer_bytes;

static void parse(const char *text)
{
    memset(&boot, 0, sizeof boot);
    strcpy(boot.command_line, text);
    boot_command_parse(&boot, &buffer_bytes);
}

static void test_nothing(void **state)
{
    (void)state;
    parse("");
    assert_int_equal(boot.output, BOOT_OUTPUT_VIRTIO);
    assert_int_equal(buffer_bytes, 0);
    parse("   console=ttyS0 quiet = ==  ");
    assert_int_equal(boot.output, BOOT_OUTPUT_VIRTIO);
}

static void test_everything(void **state)
{
    static const uint8_t collector[] = {10, 0, 2, 2}, address[] = {192, 168, 1, 20};
    static const uint8_t netmask[] = {255, 255, 255, 0}, gateway[] = {192, 168, 1, 1};
    static const uint8_t id[16] = {0x78, 0x56, 0x34, 0x12};

    (void)state;
    parse("output=network collector=10.0.2.2:99 address=192.168.1.20/24 gateway=192.168.1.1 "
          "token=a=b machine=m-1 run=r.1 id=12345678 buffer=64M");
    assert_int_equal(boot.output, BOOT_OUTPUT_TCP);
    assert_memory_equal(&boot.network.collector, collector, 4);
    assert_int_equal(boot.network.port, 99);
    assert_memory_equal(&boot.network.address, address, 4);
    assert_memory_equal(&boot.network.netmask, netmask, 4);
    assert_memory_equal(&boot.network.gateway, gateway, 4);
    assert_string_equal(boot.network.token, "a=b");
    assert_string_equal(boot.network.machine, "m-1");
    assert_string_equal(boot.network.run, "r.1");
    assert_memory_equal(boot.network.id, id, sizeof id);
    assert_int_equal(buffer_bytes, 64 << 20);
}

static void test_defaults(void **state)
{
    (void)state;
    parse("address=dhcp collector=10.0.2.2");
    assert_int_equal(boot.network.port, 4817);
    assert_int_equal(boot.network.address, 0);
    assert_int_equal(boot.output, BOOT_OUTPUT_VIRTIO);
}

static void test_bad_values(void **state)
{
    (void)state;
    parse("output=net collector=10.0.2.2:99999 address=1.2.3.4 gateway=x machine=../etc run= id=g "
          "buffer=64MM outputs=network");
    assert_int_equal(boot.output, BOOT_OUTPUT_VIRTIO);
    assert_int_equal(boot.network.collector, 0);
    assert_int_equal(boot.network.address, 0);
    assert_int_equal(boot.network.gateway, 0);
    assert_string_equal(boot.network.machine, "");
    assert_string_equal(boot.network.run, "");
    assert_int_equal(boot.network.id[0], 0);
    assert_int_equal(buffer_bytes, 0);
}

static void test_last_counts(void **state)
{
    (void)state;
    parse("machine=a machine=b run=r run=/ collector=10.0.2.2 collector=x buffer=1M buffer=x "
          "address=10.0.2.3/8 address=dhcp gateway=10.0.2.1 gateway=none token=a token=");
    assert_string_equal(boot.network.machine, "b");
    assert_string_equal(boot.network.run, "");
    assert_string_equal(boot.network.token, "");
    assert_int_equal(boot.network.collector, 0);
    assert_int_equal(boot.network.address, 0);
    assert_int_equal(boot.network.gateway, 0);
    assert_int_equal(buffer_bytes, 0);
}

static void test_full_line(void **state)
{
    (void)state;
    memset(&boot, 0, sizeof boot);
    memset(boot.command_line, 'x', sizeof boot.command_line - 1);
    memcpy(boot.command_line + sizeof boot.command_line - 12, " buffer=16M", 11);
    boot_command_parse(&boot, &buffer_bytes);
    assert_int_equal(buffer_bytes, 16 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),   cmocka_unit_test(test_everything),
        cmocka_unit_test(test_defaults),  cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_full_line), cmocka_unit_test(test_last_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

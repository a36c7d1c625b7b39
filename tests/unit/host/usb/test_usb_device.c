/* Which block devices may be overwritten. */
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/usb/usb_device.h"
#include "tests/unit/host/tree.h"

static struct tree tree;
static struct run_failure failure;
static struct usb_device device;

#define SDB "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/host6/block/sdb"
#define SDC "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/block/sdc"

static void link_to(const char *name, const char *target)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/sys/dev/block/%s", tree.root, name);
    assert_int_equal(symlink(target, path), 0);
}

/* A stick of 8 GB, sdb, with a partition, and a disk that is built in, sdc. */
static int set_up(void **state)
{
    (void)state;
    tree_init(&tree);
    tree_put(&tree, "proc/self/mountinfo",
             "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
             "30 21 0:40 / /srv rw - btrfs /dev/sdd1 rw\n");
    tree_put(&tree, "proc/swaps",
             "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1 0 -2\n");
    tree_put(&tree, "sys/dev/block/x", "");
    tree_put(&tree, SDB "/dev", "8:16\n");
    tree_put(&tree, SDB "/removable", "1\n");
    tree_put(&tree, SDB "/ro", "0\n");
    tree_put(&tree, SDB "/size", "15728640\n");
    tree_put(&tree, SDB "/queue/logical_block_size", "512\n");
    tree_put(&tree, SDB "/device/vendor", "ACME    \n");
    tree_put(&tree, SDB "/device/model", "Stick 3.0       \n");
    tree_put(&tree, SDB "/holders/.keep", "");
    tree_put(&tree, SDB "/sdb1/partition", "1\n");
    tree_put(&tree, SDB "/sdb1/dev", "8:17\n");
    tree_put(&tree, SDB "/sdb1/size", "1\n");
    tree_put(&tree, SDB "/sdb1/holders/.keep", "");
    tree_put(&tree, SDC "/dev", "8:32\n");
    tree_put(&tree, SDC "/removable", "0\n");
    tree_put(&tree, SDC "/size", "15728640\n");
    tree_put(&tree, SDC "/device/model", "Disk\n");
    link_to("8:16", "../../../" SDB);
    link_to("8:17", "../../../" SDB "/sdb1");
    link_to("8:32", "../../../" SDC);
    failure = (struct run_failure){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_free(&tree);
    return 0;
}

static int find(unsigned int minor_number)
{
    return usb_device_find(&device, tree.root, "/dev/given", makedev(8, minor_number), &failure);
}

static void refuse(unsigned int minor_number, const char *words)
{
    assert_int_equal(find(minor_number), -1);
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
    if (strstr(failure.text, words) == NULL)
        assert_string_equal(failure.text, words);
}

static void a_stick_is_taken(void **state)
{
    (void)state;
    assert_int_equal(find(16), 0);
    assert_string_equal(device.name, "sdb");
    assert_string_equal(device.model, "ACME Stick 3.0");
    assert_int_equal(device.bytes, 15728640ull * 512);
}

static void a_disk_on_usb_is_removable(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/removable", "0\n");
    assert_int_equal(find(16), 0);
}

static void a_partition_is_refused(void **state)
{
    (void)state;
    refuse(17, "is a partition; the whole disk is needed: /dev/sdb");
}

static void what_is_built_in_is_refused(void **state)
{
    (void)state;
    refuse(32, "/dev/given (Disk) is neither removable nor on USB");
}

static void an_unknown_device_is_refused(void **state)
{
    (void)state;
    refuse(48, "the system knows no device 8:48");
}

static void a_read_only_stick_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/ro", "1\n");
    refuse(16, "read-only");
}

static void an_empty_reader_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/size", "0\n");
    refuse(16, "no medium");
}

static void large_sectors_are_refused(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/queue/logical_block_size", "4096\n");
    refuse(16, "sectors of 4096 bytes");
}

static void a_mounted_partition_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, "proc/self/mountinfo",
             "21 1 254:0 / / rw - ext4 /dev/root rw\n"
             "36 21 8:17 / /media/me/STICK rw,nosuid shared:20 - vfat /dev/sdb1 rw\n");
    refuse(16, "/dev/sdb1 is mounted on /media/me/STICK; unmount it with 'umount /media/me/STICK'");
}

static void a_mounted_disk_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, "proc/self/mountinfo", "36 21 8:16 / /mnt rw - vfat /dev/sdb rw\n");
    refuse(16, "/dev/sdb is mounted on /mnt");
}

/* btrfs shows a number of its own. */
static void a_mount_by_name_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, "proc/self/mountinfo", "36 21 0:55 / /mnt rw - btrfs /dev/sdb1 rw\n");
    refuse(16, "/dev/sdb1 is mounted on /mnt");
}

static void other_mounts_do_not_matter(void **state)
{
    (void)state;
    tree_put(&tree, "proc/self/mountinfo", "36 21 8:161 / /mnt rw - vfat /dev/sdb12 rw\n");
    assert_int_equal(find(16), 0);
}

static void without_mountinfo_nothing_is_overwritten(void **state)
{
    char path[PATH_MAX];

    (void)state;
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", tree.root);
    assert_int_equal(unlink(path), 0);
    refuse(16, "cannot tell whether /dev/given is mounted");
}

static void swap_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, "proc/swaps", "Filename Type\n/dev/sdb1      partition 1 0 -2\n");
    refuse(16, "/dev/sdb1 is in use as swap space; turn that off with 'swapoff /dev/sdb1'");
}

static void a_held_disk_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/holders/md0/x", "");
    refuse(16, "is a part of md0");
}

static void a_held_partition_is_refused(void **state)
{
    (void)state;
    tree_put(&tree, SDB "/sdb1/holders/dm-3/x", "");
    refuse(16, "is a part of dm-3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stick_is_taken),
        TEST(a_disk_on_usb_is_removable),
        TEST(a_partition_is_refused),
        TEST(what_is_built_in_is_refused),
        TEST(an_unknown_device_is_refused),
        TEST(a_read_only_stick_is_refused),
        TEST(an_empty_reader_is_refused),
        TEST(large_sectors_are_refused),
        TEST(a_mounted_partition_is_refused),
        TEST(a_mounted_disk_is_refused),
        TEST(a_mount_by_name_is_refused),
        TEST(other_mounts_do_not_matter),
        TEST(without_mountinfo_nothing_is_overwritten),
        TEST(swap_is_refused),
        TEST(a_held_disk_is_refused),
        TEST(a_held_partition_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of host/machine/machine_peak.c: a peak is found again for its own processor alone. */
#include "host/machine/machine_peak.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

static const struct machine_peak peak = {1000.5, 900, 1500, 80.25};
static char cache[] = "/tmp/test-peak.XXXXXX";

static struct trace_info info;
static struct trace_text texts[] = {{(char *)"machine.model", (char *)"CPU"},
                                    {(char *)"machine.hypervisor", (char *)"none"}};

static int make_cache(void **state)
{
    (void)state;
    info.texts = texts;
    info.text_count = 2;
    texts[0].value = (char *)"CPU";
    return mkdtemp(cache) == NULL || setenv("XDG_CACHE_HOME", cache, 1) != 0;
}

/* The path of the one file that the folder has. */
static char *only_file(void)
{
    static char path[600];
    char folder[300];
    struct dirent *entry;
    DIR *directory;

    path[0] = 0;
    snprintf(folder, sizeof folder, "%s/microtome", cache);
    directory = opendir(folder);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        if (strncmp(entry->d_name, "peak-", 5) == 0) {
            assert_int_equal(path[0], 0);
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        }
    closedir(directory);
    return path;
}

static int remove_cache(void **state)
{
    char folder[300];

    (void)state;
    if (only_file()[0] != 0)
        unlink(only_file());
    snprintf(folder, sizeof folder, "%s/microtome", cache);
    return rmdir(folder) != 0 || rmdir(cache) != 0;
}

static void is_found_for_its_processor(void **state)
{
    struct machine_peak found = {0};

    (void)state;
    assert_false(machine_peak_load(&info, &found));
    assert_int_equal(machine_peak_store(&info, &peak), 0);
    assert_int_equal(machine_peak_store(&info, &peak), 0); /* again */
    assert_true(machine_peak_load(&info, &found));
    assert_true(found.read_per_us == 1000.5 && found.write_per_us == 900);
    assert_true(found.copy_per_us == 1500 && found.latency_ns == 80.25);
    texts[0].value = (char *)"another CPU";
    assert_false(machine_peak_load(&info, &found));
    texts[0].value = (char *)"CPU";
}

static void damaged_files_are_no_peak(void **state)
{
    static const char *const wrong[] = {"",
                                        "CPU||none\n",
                                        "CPU||none\n read 1 write x",
                                        "CPU||none\n read 0 write 0 copy 1 latency 1\n",
                                        "CPU||none\n read nan write nan copy 1 latency 1\n",
                                        "PUC||none\n read 1 write 1 copy 1 latency 1\n"};
    struct machine_peak found;

    (void)state;
    assert_int_equal(machine_peak_store(&info, &peak), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FILE *file = fopen(only_file(), "w");

        assert_non_null(file);
        fputs(wrong[i], file);
        fclose(file);
        assert_false(machine_peak_load(&info, &found));
    }
}

static void an_unknown_processor_has_none(void **state)
{
    struct machine_peak found;

    (void)state;
    info.text_count = 0;
    assert_int_equal(machine_peak_store(&info, &peak), -ENODATA);
    assert_false(machine_peak_load(&info, &found));
    info.text_count = 2;
}

/* A folder has the peak's name, so that the new file cannot get it. */
static void a_failure_leaves_nothing(void **state)
{
    char place[600];

    (void)state;
    assert_int_equal(machine_peak_store(&info, &peak), 0);
    strcpy(place, only_file());
    assert_int_equal(unlink(place), 0);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_int_equal(machine_peak_store(&info, &peak), -EISDIR);
    assert_string_equal(only_file(), place);
    assert_int_equal(rmdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_for_its_processor),
        cmocka_unit_test(damaged_files_are_no_peak),
        cmocka_unit_test(an_unknown_processor_has_none),
        cmocka_unit_test(a_failure_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}

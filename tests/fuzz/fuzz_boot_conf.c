/* Fuzzes the parser of microtome.conf: what it accepts is consistent, and survives being written.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "lib/boot/boot_conf.h"
#include "lib/boot/boot_value.h"
#include "tests/fuzz/fuzz.h"

static bool is_name(const char *name, size_t room)
{
    size_t bytes = strnlen(name, room);
    char copy[BOOT_CONF_NAME_BYTES];

    return bytes < room && boot_value_name((struct boot_text){name, bytes}, copy, sizeof copy);
}

static void check_file(const struct boot_conf_file *file)
{
    size_t bytes = strnlen(file->path, sizeof file->path);
    char copy[BOOT_CONF_PATH_BYTES];

    fuzz_check(bytes > 1 && bytes < sizeof file->path && file->path[0] == '\\');
    fuzz_check(boot_value_path((struct boot_text){file->path, bytes}, copy, sizeof copy));
    fuzz_check(strcmp(copy, file->path) == 0 && !strchr(copy, '/'));
    fuzz_check(file->bytes > 0 && file->line > 0);
}

static void check_conf(const struct boot_conf *conf)
{
    check_file(&conf->kernel);
    fuzz_check(conf->run_count >= 1 && conf->run_count <= BOOT_CONF_RUNS_MAX);
    fuzz_check(conf->end <= BOOT_CONF_WAIT && conf->port != 0);
    fuzz_check(conf->machine[0] == '\0' || is_name(conf->machine, sizeof conf->machine));
    fuzz_check(strnlen(conf->token, sizeof conf->token) < sizeof conf->token);
    fuzz_check(conf->memory_bytes == BOOT_CONF_USUAL || conf->memory_bytes >= 32 << 20);
    fuzz_check(conf->buffer_bytes >= 1 << 20);
    fuzz_check(conf->part_bytes >= 65536 && conf->part_bytes < 1ull << 32);
    fuzz_check(!conf->network || conf->collector != 0);
    fuzz_check(!conf->exit_firmware || conf->network);
    for (uint32_t i = 0; i < conf->run_count; i++) {
        check_file(&conf->runs[i].archive);
        fuzz_check(conf->runs[i].repeat >= 1 && conf->runs[i].repeat <= 10000);
        fuzz_check(is_name(conf->runs[i].name, sizeof conf->runs[i].name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct boot_conf conf;
    struct boot_conf_error error;
    int status = boot_conf_parse((const char *)data, size, &conf, &error);

    fuzz_check(status == 0 || status == -EINVAL);
    if (status == 0) {
        check_conf(&conf);
        return 0;
    }
    fuzz_check(error.text[0] != '\0');
    fuzz_check(strnlen(error.text, sizeof error.text) < sizeof error.text);
    for (const char *p = error.text; *p; p++)
        fuzz_check(*p >= ' ' && *p <= '~');
    return 0;
}

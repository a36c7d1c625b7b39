/* hr pack: writes an archive of a program, its arguments and its files. */
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/pack/pack.h"

static int write_file(const struct pack *pack, const struct options *o,
                      const struct launch_machine *machine, struct run_failure *failure)
{
    const struct output_file_wish wish = {
        .kind = OUTPUT_ARCHIVE, .force = o->force, .input = &pack->program.status};
    struct output_file file;
    int result;

    if (output_file_open(&file, o->output, &wish, failure) != 0)
        return -1;
    result = pack_write(pack, o, machine, file.fd, failure);
    return output_file_finish(&file, result == 0, failure) == 0 ? result : -1;
}

static int pack(const struct options *o, struct run_failure *failure)
{
    struct launch_machine machine;
    struct pack contents;
    int result;

    if (launch_choose(o, &machine, failure) != 0)
        return -1;
    result = pack_collect(&contents, o, &machine, failure);
    if (result == 0) {
        pack_print(&contents, o, stderr);
        result = write_file(&contents, o, &machine, failure);
    }
    pack_free(&contents);
    return result;
}

int pack_command(int argc, char **argv)
{
    struct run_failure failure = {0};
    struct options options;

    if (options_parse(&options, true, argc, argv, &failure) == 0)
        (void)pack(&options, &failure);
    if (failure.exit_status != 0)
        error_print("%s", failure.text);
    return failure.exit_status;
}

/* A QEMU plugin that counts executed instructions: an independent check of Microtome's counts.
 * -plugin count.so,out=FILE: at exit FILE holds "USER KERNEL", told apart by the address's top bit.
 */
#include <stdio.h>
#include <string.h>

#include "plugin/qemu_plugin.h"

int qemu_plugin_version = 1;

static uint64_t executed[2]; /* user, kernel; exact with one CPU */
static char out_path[4096];

static void count_block(uint64_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t kernel = qemu_plugin_insn_vaddr(insn) >> 63;

        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &executed[kernel], 1);
    }
}

static void write_counts(uint64_t id, void *data)
{
    FILE *out = fopen(out_path, "w");

    (void)id;
    (void)data;
    if (!out)
        return;
    fprintf(out, "%llu %llu\n", (unsigned long long)executed[0], (unsigned long long)executed[1]);
    fclose(out);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0)
        return -1;
    snprintf(out_path, sizeof(out_path), "%s", argv[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
    qemu_plugin_register_atexit_cb(id, write_counts, NULL);
    return 0;
}

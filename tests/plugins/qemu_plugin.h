/* The few functions of QEMU's plugin interface (version 1) that the tests use; Debian ships no
 * header. QEMU manual, "Developer Information", "QEMU TCG Plugins".  Called by QEMU or provided by
 * it.
 */
#ifndef TESTS_PLUGINS_QEMU_PLUGIN_H
#define TESTS_PLUGINS_QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info; /* qemu_info_t: not looked at */

enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

/* Provided by the plugin. */
extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* Provided by QEMU. */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*translated)(uint64_t id,
                                                              struct qemu_plugin_tb *tb));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*at_exit)(uint64_t id, void *data),
                                    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t value);

#endif

/* The few functions of QEMU's plugin interface that Microtome uses, because Debian ships no header.
 * QEMU manual, "Developer Information", "QEMU TCG Plugins".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info { /* qemu_info_t */
    const char *target;
    int version_min;
    int version; /* version of the interface that this QEMU offers */
    bool system;
    int cpus;
    int cpus_max;
};

enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 }; /* QEMU 7.2 swaps 1 and 2 */

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
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          void (*executed)(unsigned cpu, void *data), int flags,
                                          void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            void (*executed)(unsigned cpu, void *data), int flags,
                                            void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                      void (*accessed)(unsigned cpu, uint32_t access,
                                                       uint64_t address, void *data),
                                      int flags, int kind, void *data);
void qemu_plugin_outs(const char *text);

/* Exists up to version 1 (QEMU 4.2 to 8.2). */
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t value);

/* Declared as since version 3: copies the bytes to `to` and returns their number.  Up to version 2
 * it returns a pointer to the bytes.
 */
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t room);

/* Exists since version 2.  It is not called; its presence tells the versions apart. */
void *qemu_plugin_scoreboard_new(size_t bytes) __attribute__((weak));

/* Puts into the trace what the program's compilers at run time said about their code: perf maps
 * (perf-PID.map) and jitdumps (jit-PID.dump), in whatever directory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Adds the files to META chunks.  Context: service, after the program has ended, before trace_end.
 */
void fs_jit_send(void);

/* Returns the enum hr_jit_kind of a file's name, with its process id; 0: it is none. */
uint32_t fs_jit_kind(const char *name, uint32_t name_bytes, uint32_t *pid);

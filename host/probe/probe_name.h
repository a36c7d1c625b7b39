/* Compares names of symbols with what a user asks for. */
#pragma once

#include <stdbool.h>

#include "host/probe/probe_file.h"
#include "host/probe/probe_spec.h"

/* Returns whether the symbol has the name, or one that fits the glob: as the linker knows it, with
 * or without its version, or demangled, with or without types. */
bool probe_name_fits(struct probe_symbol *symbol, const struct probe_spec *spec);

/* Returns how many bytes of a symbol's name are before its version. */
int probe_name_bytes(const struct probe_symbol *symbol);

/* Returns whether the symbol is that of an old version, which only programs linked long ago use:
 * name@VERSION, where the current one is name@@VERSION. */
bool probe_name_is_old(const struct probe_symbol *symbol);

/* Demangles names of C++ and of both schemes of Rust.
 *
 * Rust's hashes are left out.  Names are hostile input: time, depth and size are bounded, and a
 * name beyond these bounds is not demangled.  Never prints.
 */
#pragma once

/* Returns the demangled name, which the caller frees; NULL if the name is not mangled, its
 * demangled form is useless, or memory ran out. */
char *symbols_demangle(const char *name);

/* Demangles names of C++ and of both schemes of Rust.
 *
 * Rust's hashes are left out.  Names are hostile input: time, depth and size are bounded, and a
 * name beyond these bounds is not demangled.  Never prints.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_DEMANGLE_H
#define HOST_SYMBOLS_SYMBOLS_DEMANGLE_H

/* Returns the demangled name, which the caller frees; NULL if the name is not mangled, its
 * demangled form is useless, or memory ran out.
 */
char *symbols_demangle(const char *name);

#endif

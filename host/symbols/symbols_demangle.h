/* The names that compilers made of names: C++ and both of Rust's, back to what was written.
 *
 * Rust's hashes are left out.  Names are hostile input: time, depth and size are bounded, and what
 * goes beyond stays as it is.  Never prints.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_DEMANGLE_H
#define HOST_SYMBOLS_SYMBOLS_DEMANGLE_H

/* The name for people, to be freed; NULL: it is no mangled name, or one of no use, or there is no
 * memory.
 */
char *symbols_demangle(const char *name);

#endif

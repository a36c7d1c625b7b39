/* Finds CPython among the files of a run, and where it keeps its frames (hr run --python). */
#pragma once

#include "host/pack/list/pack_list.h"
#include "lib/program/python_layout.h"

struct pack_python {
    char name[NAME_MAX + 1]; /* without folders, of the file that holds _PyRuntime */
    struct python_layout layout;
};

/* Looks at one file.  Returns 0; -ENOENT: it is not CPython, or has no symbols; -ENOTSUP: CPython
 * of a version whose frames are not known. */
int pack_python_look(const char *path, struct pack_python *python);

/* Looks at the program and the libraries of the list.  Returns 0 or what pack_python_look returns.
 */
int pack_python_find(const struct pack_list *list, struct pack_python *python);

/* Looks at the first word of a command, such as that of `sh -c`, that names an interpreter: by its
 * path, or in the directories of `path`, which may be NULL.  Likewise. */
int pack_python_word(const char *command, const char *path, struct pack_python *python);

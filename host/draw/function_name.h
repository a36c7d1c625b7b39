/* Which functions of a trace an option's argument names.
 *
 * People name a C++ function without its parameters, its return type, its template arguments, and
 * often without its namespace and class.  The best match counts: who writes all of a name gets that
 * function alone.  Names are raw.
 */
#ifndef HOST_DRAW_FUNCTION_NAME_H
#define HOST_DRAW_FUNCTION_NAME_H

#include <stdbool.h>

#include "host/base/nearest.h"

#define FUNCTION_NAMES_LISTED 8u

enum function_match {
    FUNCTION_OTHER,
    FUNCTION_BASE, /* "push_back" or "Class::push_back" for "ns::Class::push_back(int)" */
    FUNCTION_QUALIFIED, /* "ns::Class::push_back" for it */
    FUNCTION_FULL,
};

/* How well `wanted`, which may end in "@OBJECT" and begin with "[kernel] ", names a function.
 * `object` may be NULL. */
enum function_match function_matches(const char *wanted, const char *name, const char *object);

/* Compares what a name would be called by with what is wanted. */
void function_offer_nearest(struct nearest *nearest, const char *name);

/* Writes "(...)" for the parameters, or "<...>" for the template arguments, of a name as reports
 * show it. */
void function_hide_parameters(char *name);
void function_hide_templates(char *name);

struct function_choice {
    const char *wanted; /* not owned */
    enum function_match best;
    const char *names[FUNCTION_NAMES_LISTED]; /* different ones with the best match; not owned */
    unsigned int count;
    bool more; /* than there is room for */
    struct nearest nearest;
};

void function_choice_init(struct function_choice *choice, const char *wanted);

/* `name` must live as long as the choice. */
void function_choice_offer(struct function_choice *choice, const char *name, const char *object);

/* After all were offered: the name that is meant; NULL when there is none or more than one, which
 * is said, with `option` before it ("" or "--function ") and `where` no such name was seen.
 */
const char *function_choice_name(const struct function_choice *choice, const char *option,
                                 const char *where);

/* Whether a function is one that function_choice_name gave. */
bool function_choice_has(const struct function_choice *choice, const char *name,
                         const char *object);

#endif

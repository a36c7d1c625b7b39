/* Decides which functions of a trace an option's argument names.
 *
 * People name a C++ function without its parameters, return type and template arguments, and often
 * without its namespace and class.  The best match counts: a complete name selects that function
 * alone.  Names are raw.
 */
#pragma once

#include <stdbool.h>

#include "host/base/nearest.h"

#define FUNCTION_NAMES_LISTED 8u

enum function_match {
    FUNCTION_OTHER,
    FUNCTION_BASE, /* "push_back" or "Class::push_back" for "ns::Class::push_back(int)" */
    FUNCTION_QUALIFIED, /* "ns::Class::push_back" for "ns::Class::push_back(int)" */
    FUNCTION_FULL,
};

/* Returns how well `wanted` names a function.  It may end in "@OBJECT" and begin with "[kernel] ".
 * `object` may be NULL. */
enum function_match function_matches(const char *wanted, const char *name, const char *object);

/* Offers a function's name, as people would write it, to `nearest`. */
void function_offer_nearest(struct nearest *nearest, const char *name);

/* Replace the parameters of a name, as reports show it, by "(...)", or its template arguments by
 * "<...>". */
void function_hide_parameters(char *name);
void function_hide_templates(char *name);

struct function_choice {
    const char *wanted; /* not owned */
    enum function_match best;
    const char *names[FUNCTION_NAMES_LISTED]; /* different names with the best match; not owned */
    unsigned int count;
    bool more; /* there are more such names than fit */
    struct nearest nearest;
};

void function_choice_init(struct function_choice *choice, const char *wanted);

/* `name` must live as long as the choice. */
void function_choice_offer(struct function_choice *choice, const char *name, const char *object);

/* After all offers, returns the one name that is meant.  If there is none or more than one, reports
 * that and returns NULL; `option` ("" or "--function ") precedes the wanted name in the message,
 * and `where` says where it was looked for. */
const char *function_choice_name(const struct function_choice *choice, const char *option,
                                 const char *where);

/* Returns whether this is the function that function_choice_name returned. */
bool function_choice_has(const struct function_choice *choice, const char *name,
                         const char *object);

/* How many items an array has that is no pointer. */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif

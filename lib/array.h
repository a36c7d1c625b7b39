/* How many items an array has that is no pointer. */
#pragma once

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

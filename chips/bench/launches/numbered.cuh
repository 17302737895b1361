/* A line for each launch: its number, and what it is. */
#pragma once

#include <cstdio>

static int number;
template <class... T> static void is(const char *form, T... t) {
    printf("%d\t", number++), printf(form, t...), printf("\n");
}

// SPDX-License-Identifier: GPL-3.0-or-later
/* What belongs together: a forest of numbers, each with its parent, roots with themselves. Trees
 * that are united have the smallest number of all as their root, in whatever order that is done. */
#ifndef PL_BASE_UNION_FIND_H
#define PL_BASE_UNION_FIND_H

#include <stdint.h>

/* The root of i's tree, which gets flatter on the way. */
static inline uint32_t pl_union_find_root(uint32_t* parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline void pl_union_find_unite(uint32_t* parent, uint32_t a, uint32_t b)
{
    a = pl_union_find_root(parent, a), b = pl_union_find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif

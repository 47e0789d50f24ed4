// SPDX-License-Identifier: GPL-3.0-or-later
/* Union-find (disjoint sets) over indices. A root is its own parent, and is always the smallest
 * index of its set: the result does not depend on the order of unions. */
#ifndef PL_BASE_UNION_FIND_H
#define PL_BASE_UNION_FIND_H

#include <stdint.h>

/* The root of i's set, with path halving. */
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

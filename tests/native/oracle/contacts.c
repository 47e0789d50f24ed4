// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters by asking every pair of them, as published code does (Jones et al.
 * 2015, section 3.4): spheres first, then every member of the one against the sphere of the other
 * in its rest space. */
#include "native/oracle/oracle.h"

#include <stdlib.h>

uint8_t* reference_shares(const reference* body)
{
    const reference_level* level = &body->level[0];
    size_t n = level->clusters;
    uint8_t* shares = calloc(n, n);
    uint32_t* seen = calloc(body->particles, sizeof *seen);
    if (!shares || !seen)
        abort();
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t m = level->begin[a]; m < level->begin[a + 1]; ++m)
            seen[level->member[m].index] = a + 1;
        for (uint32_t b = 0; b < n; ++b)
            for (uint32_t m = level->begin[b]; m < level->begin[b + 1] && !shares[a * n + b]; ++m)
                shares[a * n + b] = seen[level->member[m].index] == a + 1;
    }
    free(seen);
    return shares;
}

/* Members of "from" that are inside of the sphere of "to". */
static uint64_t count_inside(const reference* from, uint32_t a, const reference_cluster* to,
                             mat3 inverse, double* depth)
{
    const reference_level* level = &from->level[0];
    uint64_t inside = 0;
    for (uint32_t m = level->begin[a]; m < level->begin[a + 1]; ++m)
    {
        vec3 rest = m3_mulv(inverse, v3_sub(from->x[level->member[m].index], to->x));
        double over = to->width_max - v3_length(rest);
        if (over > 0)
            ++inside, *depth += over;
    }
    return inside;
}

uint64_t reference_brute_force(uint32_t count, reference* const* bodies, uint8_t* const* shares,
                               double* depth)
{
    uint64_t inside = 0;
    for (uint32_t p = 0; p < count; ++p)
        for (uint32_t q = 0; q < count; ++q)
        {
            const reference_level *one = &bodies[p]->level[0], *other = &bodies[q]->level[0];
            for (uint32_t b = 0; b < other->clusters; ++b)
            {
                const reference_cluster* to = &other->cluster[b];
                mat3 inverse = m3_inverse(to->f);
                for (uint32_t a = 0; a < one->clusters; ++a)
                {
                    const reference_cluster* from = &one->cluster[a];
                    double reach = from->width_max + to->width_max;
                    vec3 way = v3_sub(from->x, to->x);
                    if (v3_dot(way, way) > reach * reach ||
                        (p == q && shares[p][(size_t)a * one->clusters + b]))
                        continue;
                    inside += count_inside(bodies[p], a, to, inverse, depth);
                }
            }
        }
    return inside;
}

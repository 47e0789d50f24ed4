// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/edit_check.h"

#include "native/support/test.h"

#include <body/edit/edit.h>

uint64_t check_quanta(const pl_body* body)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        sum += body->particles.quanta[s];
    return sum;
}

vec3 check_momentum(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    vec3 sum = v3(0, 0, 0);
    for (uint32_t s = 0; s < p->slot_count; ++s)
        sum = v3_mad(sum, v3(p->v[0][s], p->v[1][s], p->v[2][s]), p->mass[s]);
    return sum;
}

/* Mass, centre and A_rr of a cluster, by asking every particle. */
static void check_cluster(pl_body* body, pl_edit* edit, uint32_t cluster)
{
    const pl_clusters* k = &body->clusters;
    const pl_particles* p = &body->particles;
    double mass = 0, widest = 0;
    vec3 centre = v3(0, 0, 0);
    mat3 arr = m3_zero();
    for (int pass = 0; pass < 2; ++pass)
    {
        for (uint32_t s = 0; s < p->slot_count; ++s)
        {
            uint32_t n;
            const pl_member* m = pl_edit_members(edit, s, &n);
            double sum = 0, mw = 0;
            vec3 r = v3(0, 0, 0);
            for (uint32_t i = 0; i < n; ++i)
            {
                sum += (double)m[i].kernel * k->fade[m[i].cluster];
                if (m[i].cluster == cluster)
                    mw = (double)p->mass[s] * m[i].kernel * k->fade[cluster],
                    r = v3_fromd(m[i].rest);
            }
            if (!(mw > 0))
                continue;
            mw /= sum;
            if (pass == 0)
                mass += mw, centre = v3_mad(centre, r, mw);
            else
            {
                vec3 offset = v3_sub(r, centre);
                arr = m3_add(arr, m3_scale(m3_outer(offset, offset), mw));
                widest = fmax(widest, v3_length(offset));
            }
        }
        if (pass == 0 && mass > 0)
            centre = v3_scale(centre, 1 / mass);
    }
    CHECK_MSG(fabs(k->mass[cluster] - mass) <= 1e-5 * mass, "cluster %u: mass %g, not %g", cluster,
              k->mass[cluster], mass);
    if (!(mass > 0))
    {
        CHECK(k->fade[cluster] == 0 && k->part_begin[cluster] == k->part_begin[cluster + 1]);
        return;
    }
    CHECK(v3_length(v3_sub(centre, v3_from(k->rest[cluster]))) < 1e-5);
    CHECK(fabs(widest - k->width_max[cluster]) < 1e-5);
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (int i = 0; i < 6; ++i)
        CHECK_MSG(fabs(k->arr[cluster][i] - arr.m[at[i][0]][at[i][1]]) <=
                      1e-5 * m3_trace(arr) + 1e-12 * mass,
                  "cluster %u: A_rr %d is %g, not %g", cluster, i, k->arr[cluster][i],
                  arr.m[at[i][0]][at[i][1]]);
    double parts = 0;
    for (uint32_t i = k->part_begin[cluster]; i < k->part_begin[cluster + 1]; ++i)
        parts += k->part[i].mass * k->fade[cluster];
    CHECK(fabs(parts - mass) <= 1e-6 * mass);
}

void check_body(pl_body* body)
{
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 0, &edit) == PLIANT_OK);
    double sum = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        check_cluster(body, edit, c);
        sum += body->clusters.mass[c];
    }
    CHECK(fabs(sum - body->mass) < 1e-5 * body->mass);
    for (uint32_t l = 1; l < body->level_count; ++l)
    {
        double level = 0;
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            level += body->clusters.mass[c];
        CHECK_MSG(fabs(level - body->mass) < 1e-5 * body->mass, "level %u has a mass of %g, not %g",
                  l, level, body->mass);
    }
    pl_edit_abandon(edit);
}

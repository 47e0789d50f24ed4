// SPDX-License-Identifier: GPL-3.0-or-later
/* Splitting the clusters of a body along a plane, as fracture does it, for the tests of contacts.
 */
#ifndef PLIANT_TEST_CUTTING_H
#define PLIANT_TEST_CUTTING_H

#include "native/support/contact_bodies.h"

#include <body/cut_query.h>
#include <body/edit/edit.h>
#include <fracture/cuts/cuts.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BREAK_MOST = 4096
};

static inline bool break_above(vec3 x, vec3 normal, vec3 point)
{
    return v3_dot(v3_sub(x, point), normal) > 0;
}

static inline vec3 break_cluster_place(const pl_body* body, uint32_t c)
{
    return v3_add(v3_fromd(body->origin), v3_from(body->clusters.x[c]));
}

/* Gives the clusters of a particle that are across the plane from it to a copy. Returns the copy's
 * slot, or UINT32_MAX if there is none. */
static inline uint32_t break_particle(pl_edit* edit, pl_body* body, uint32_t slot, uint32_t cluster,
                                      uint32_t fresh, vec3 normal, vec3 point)
{
    uint32_t count, kept = 0, moved = 0, copy = UINT32_MAX;
    pl_member stay[64], go[64];
    bool above = break_above(contact_world(body, slot), normal, point);
    const pl_member* members = pl_edit_members(edit, slot, &count);
    double all = 0, gone = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_member m = members[i];
        bool own = m.cluster == cluster;
        bool same =
            own || break_above(break_cluster_place(body, m.cluster), normal, point) == above;
        if (own && above)
            m.cluster = fresh;
        all += m.kernel;
        gone += same ? 0 : m.kernel;
        uint32_t at = same ? kept++ : moved++;
        pl_member* list = same ? stay : go;
        for (; at > 0 && list[at - 1].cluster > m.cluster; --at)
            list[at] = list[at - 1];
        list[at] = m;
    }
    if (moved)
    {
        uint64_t quanta = body->particles.quanta[slot];
        uint64_t share = (uint64_t)((double)quanta * gone / all);
        CHECK_OK(pl_edit_divide(edit, slot, PL_CLAMP(share, 1, quanta - 1), &copy));
        CHECK_OK(pl_edit_set(edit, copy, go, moved));
    }
    CHECK_OK(pl_edit_set(edit, slot, stay, kept));
    return copy;
}

/* Splits a cluster along a plane in the world; false if one side would have no more than
 * that share of its members. Fits must belong to
 * where the particles are. */
static inline bool break_cluster(pl_body* body, uint32_t cluster, vec3 normal, vec3 point,
                                 double least)
{
    pl_edit* edit = NULL;
    uint32_t count, fresh, split, above = 0, *slots = malloc(BREAK_MOST * sizeof *slots);
    uint32_t* copies = malloc(BREAK_MOST * sizeof *copies);
    pl_cut_plane plane = pl_pose_cut(body, cluster, normal, point);
    CHECK_OK(pl_edit_begin(body, 1, &edit));
    const uint32_t* list = pl_edit_slots(edit, cluster, &count);
    CHECK(list && count < BREAK_MOST);
    memcpy(slots, list, count * sizeof *slots);
    for (uint32_t i = 0; i < count; ++i)
        above += break_above(contact_world(body, slots[i]), normal, point);
    bool both = above > least * count && count - above > least * count;
    if (both)
    {
        CHECK_OK(pl_edit_add_cluster(edit, cluster, &fresh));
        for (uint32_t i = 0; i < count; ++i)
            copies[i] = break_particle(edit, body, slots[i], cluster, fresh, normal, point);
        CHECK_OK(pl_edit_end(edit, NULL));
        CHECK_OK(pl_cuts_plane(body, &plane, &split));
        for (uint32_t i = 0; i < count; ++i)
        {
            const uint32_t* id = body->particles.id;
            bool up = break_above(contact_world(body, slots[i]), normal, point);
            CHECK_OK(pl_cuts_note(body, id[slots[i]], split, up));
            if (copies[i] != UINT32_MAX)
                CHECK_OK(pl_cuts_note(body, id[copies[i]], split, !up));
        }
    }
    else
        pl_edit_abandon(edit);
    free(slots);
    free(copies);
    return both;
}

/* Splits every cluster that a plane passes through, one after the other. Returns how many. */
static inline uint32_t break_clusters(const contact_scene* s, pl_body* body, vec3 normal,
                                      vec3 point, double least)
{
    uint32_t splits = 0, before = body->level_begin[1];
    for (uint32_t c = 0; c < before; ++c)
    {
        CHECK_OK(pl_scene_refresh(s->scene));
        if (body->clusters.fade[c] > 0)
            splits += break_cluster(body, c, normal, point, least);
    }
    return splits;
}

/* Cuts all that is not where "spared" points to, clean and at once: particles go to the side that
 * they are on, and clusters become two. Returns how many splits there are. */
static inline uint32_t cut_body(const contact_scene* s, pl_body* body, vec3 normal, vec3 point,
                                vec3 spared)
{
    pl_edit* edit = NULL;
    uint32_t before = body->level_begin[1], slots = body->particles.slot_count, count, splits = 0;
    CHECK_OK(pl_scene_refresh(s->scene));
    uint32_t* fresh = calloc(before, sizeof *fresh);
    pl_cut_plane* planes = calloc(before, sizeof *planes);
    CHECK_OK(pl_edit_begin(body, 1, &edit));
    for (uint32_t c = 0; c < before; ++c)
    {
        if (!(body->clusters.fade[c] > 0))
            continue;
        const uint32_t* list = pl_edit_slots(edit, c, &count);
        uint32_t above = 0;
        for (uint32_t i = 0; i < count; ++i)
            above += break_above(contact_world(body, list[i]), normal, point);
        if (above == 0 || above == count ||
            v3_dot(v3_sub(break_cluster_place(body, c), point), spared) > 0)
            continue;
        planes[c] = pl_pose_cut(body, c, normal, point);
        CHECK_OK(pl_edit_add_cluster(edit, c, &fresh[c]));
    }
    uint32_t(*noted)[2] = malloc((size_t)slots * 64 * sizeof *noted), notes = 0;
    for (uint32_t slot = 0; slot < slots; ++slot)
    {
        pl_member own[64];
        const pl_member* members = pl_edit_members(edit, slot, &count);
        bool above = break_above(contact_world(body, slot), normal, point);
        if (!(body->particles.mass[slot] > 0))
            continue;
        for (uint32_t i = 0; i < count; ++i)
        {
            pl_member m = members[i];
            if (m.cluster < before && fresh[m.cluster])
            {
                noted[notes][0] = slot, noted[notes++][1] = m.cluster;
                m.cluster = above ? fresh[m.cluster] : m.cluster;
            }
            uint32_t at = i;
            for (; at > 0 && own[at - 1].cluster > m.cluster; --at)
                own[at] = own[at - 1];
            own[at] = m;
        }
        CHECK_OK(pl_edit_set(edit, slot, own, count));
    }
    CHECK_OK(pl_edit_end(edit, NULL));
    for (uint32_t c = 0; c < before; ++c)
        if (fresh[c])
        {
            CHECK_OK(pl_cuts_plane(body, &planes[c], &fresh[c]));
            ++splits;
        }
    for (uint32_t i = 0; i < notes; ++i)
    {
        bool above = break_above(contact_world(body, noted[i][0]), normal, point);
        CHECK_OK(pl_cuts_note(body, body->particles.id[noted[i][0]], fresh[noted[i][1]], above));
    }
    free(noted);
    free(planes);
    free(fresh);
    return splits;
}

#endif

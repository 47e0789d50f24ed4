// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ghosts (cuts.c) are not there to be touched as long as they are about where the crack left them:
 * beside a particle of their piece that is. They carry mass all the same. In a body that flows, a
 * piece that has few other particles would be drawn out by them, through any wall: those that are
 * too far from all that had the material beside them are touched like others.
 */
#include "body/rest_query.h"
#include "fracture/cuts/cuts.h"
#include "geometry/point_tree.h"

#include <string.h>

/* In spacings: how far from a ghost its anchor may be, at rest and now. */
#define LEASH 2.0
enum
{
    MOST_FOUND = 24 /* of the particles around a ghost, those of its piece may be few */
};

typedef struct solids
{
    uint32_t count;
    uint32_t* slot;
    vec3* rest;
} solids;

static void list_solids(const pl_body* body, solids* s)
{
    const pl_particles* p = &body->particles;
    for (uint32_t i = 0; i < p->slot_count; ++i)
        if (p->mass[i] > 0 && body->cuts.ghost[i] == PL_GHOST_NOT)
        {
            s->slot[s->count] = i;
            s->rest[s->count++] = pl_rest_of(body, i);
        }
}

/* The nearest particle of a ghost's own piece, at rest, that is there to be touched. */
static void find_anchors(const pl_body* body, const solids* s, const pl_point_tree* tree,
                         uint32_t* anchor)
{
    const pl_cuts* cuts = &body->cuts;
    double within = LEASH * LEASH * body->spacing * body->spacing;
    for (uint32_t i = 0; i < body->particles.slot_count; ++i)
    {
        pl_nearest_point found[MOST_FOUND];
        anchor[i] = PL_NO_PARTICLE;
        if (!(body->particles.mass[i] > 0) || cuts->ghost[i] == PL_GHOST_NOT)
            continue;
        uint32_t count = pl_point_tree_query(tree, pl_rest_of(body, i), within, MOST_FOUND, found);
        for (uint32_t n = 0; n < count && anchor[i] == PL_NO_PARTICLE; ++n)
            if (cuts->home[s->slot[found[n].index]] == cuts->home[i])
                anchor[i] = s->slot[found[n].index];
    }
}

static pl_status make_anchors(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t slots = body->particles.slot_count;
    solids s = {0, PL_BARE(uint32_t, slots), PL_BARE(vec3, slots)};
    pl_point_tree* tree = NULL;
    cuts->anchor = PL_BARE(uint32_t, slots);
    bool fine = s.slot && s.rest && cuts->anchor;
    if (fine)
        list_solids(body, &s);
    fine = fine && (!s.count || (tree = pl_point_tree_create(s.count, s.rest)));
    if (fine && tree)
        find_anchors(body, &s, tree, cuts->anchor);
    else if (fine)
        memset(cuts->anchor, 0xff, slots * sizeof *cuts->anchor);
    else
    {
        pl_free(cuts->anchor);
        cuts->anchor = NULL;
    }
    pl_point_tree_destroy(tree);
    pl_free(s.slot);
    pl_free(s.rest);
    return fine ? PLIANT_OK : pl_fail_memory(slots * sizeof *s.rest);
}

static bool is_near(const pl_body* body, uint32_t slot, uint32_t anchor)
{
    const pl_particles* p = &body->particles;
    double square = 0, leash = LEASH * body->spacing;
    for (int k = 0; k < 3 && anchor != PL_NO_PARTICLE; ++k)
    {
        double d = (double)p->x[k][slot] - p->x[k][anchor];
        square += d * d;
    }
    return anchor != PL_NO_PARTICLE && square <= leash * leash;
}

pl_status pl_ghosts_follow(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    if (!cuts->plane_count || !body->plastic)
        return PLIANT_OK; /* otherwise none gets far */
    if (!cuts->anchor)
        PL_TRY(make_anchors(body));
    for (uint32_t i = 0; i < body->particles.slot_count; ++i)
        if (cuts->ghost[i] == PL_GHOST || cuts->ghost[i] == PL_GHOST_FAR)
            cuts->ghost[i] = is_near(body, i, cuts->anchor[i]) ? PL_GHOST : PL_GHOST_FAR;
    return PLIANT_OK;
}

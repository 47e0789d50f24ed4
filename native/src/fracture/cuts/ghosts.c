// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contacts of ghosts (cuts.c). A ghost has no contacts as long as it is near its anchor: the
 * nearest particle of its piece that owns material. It still has mass, so in a body that flows
 * ghosts can pull a piece with few other particles through a collider. Ghosts that are too far from
 * their anchor therefore have contacts like other particles.
 */
#include "body/rest_query.h"
#include "fracture/cuts/cuts.h"
#include "geometry/point_tree.h"

#include <string.h>

/* In spacings: largest distance of a ghost from its anchor, at rest and now. */
#define LEASH 2.0
enum
{
    MOST_FOUND = 24 /* query size: few of the particles around a ghost may be of its piece */
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

/* Sets the anchor of each ghost: the nearest solid particle of its piece at rest. */
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
        return PLIANT_OK; /* without flow ghosts stay near their anchors */
    if (!cuts->anchor)
        PL_TRY(make_anchors(body));
    for (uint32_t i = 0; i < body->particles.slot_count; ++i)
        if (cuts->ghost[i] == PL_GHOST || cuts->ghost[i] == PL_GHOST_FAR)
            cuts->ghost[i] = is_near(body, i, cuts->anchor[i]) ? PL_GHOST : PL_GHOST_FAR;
    return PLIANT_OK;
}

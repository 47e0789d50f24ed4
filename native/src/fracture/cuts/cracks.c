// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Crack surfaces node_sums the pieces of a body. Material belongs to the piece that has the nearest
 * particle (cuts.c), so a crack runs midway node_sums the particles of two pieces:
 *
 *        o    o  |  .   .      w = exp(-d^2 / 2 s^2): for two rows of particles a spacing h apart
 *          o     |    .        s^2 / h ln(sum w_o / sum w_.) is the distance from the middle; with
 *        o    o  |  .   .      more of them the surface is smooth.
 *
 * The nearest particle of each node of the rest SDF grid does not change and is found once. The
 * distance to the crack is recomputed for nodes near particles with cuts.
 */
#include "base/elementary.h"
#include "body/cut_query.h"
#include "body/validity.h"
#include "fracture/cuts/cuts.h"

#include <float.h>
#include <string.h>

/* In spacings: search radius for particles, and s. */
#define REACH 2.0
#define SMOOTHNESS 0.55
#define STEPS 512 /* of the table of w */

/* Callback for every node within a distance of a point, with the squared distance. */
typedef void (*node_fn)(void* context, size_t node, float square);

static void each_node(const pl_rest_sdf* shape, vec3 r, double reach, node_fn call, void* context)
{
    double cell = 1 / shape->per_cell;
    const double at[3] = {r.x, r.y, r.z};
    uint32_t from[3], to[3];
    for (int k = 0; k < 3; ++k)
    {
        double low = (at[k] - reach - shape->lower[k]) * shape->per_cell;
        double high = (at[k] + reach - shape->lower[k]) * shape->per_cell;
        from[k] = (uint32_t)PL_CLAMP(low, 0, (double)shape->size[k]); /* r may be from a bad file */
        to[k] = (uint32_t)PL_CLAMP(high, 0, shape->size[k] - 1.0);
    }
    for (uint32_t z = from[2]; z <= to[2]; ++z)
        for (uint32_t y = from[1]; y <= to[1]; ++y)
            for (uint32_t x = from[0]; x <= to[0]; ++x)
            {
                double dx = at[0] - shape->lower[0] - cell * x;
                double dy = at[1] - shape->lower[1] - cell * y;
                double dz = at[2] - shape->lower[2] - cell * z,
                       square = dx * dx + dy * dy + dz * dz;
                if (square <= reach * reach)
                    call(context, x + (size_t)shape->size[0] * (y + (size_t)shape->size[1] * z),
                         (float)square);
            }
}

static size_t count_nodes(const pl_rest_sdf* shape)
{
    return (size_t)shape->size[0] * shape->size[1] * shape->size[2];
}

static bool is_there(const pl_particles* p, uint32_t id)
{
    return p->slot_of[id] < p->slot_count && p->id[p->slot_of[id]] == id;
}

/* ------------------------------------------------------------------ the nearest particle */

typedef struct nearest_search
{
    uint32_t* nearest;
    float* square;
    uint32_t id;
} nearest_search;

static void offer(void* context, size_t node, float square)
{
    const nearest_search* n = context;
    if (!(square < n->square[node]))
        return;
    n->square[node] = square;
    n->nearest[node] = n->id;
}

/* Nodes without a particle in reach take the label of a neighbour, swept along each axis in both
 * directions. */
static void spread_labels(const pl_rest_sdf* shape, uint32_t* nearest)
{
    const size_t step[3] = {1, shape->size[0], (size_t)shape->size[0] * shape->size[1]};
    size_t nodes = count_nodes(shape);
    for (int axis = 0; axis < 3; ++axis)
    {
        for (size_t n = 0; n < nodes; ++n)
            if (nearest[n] == UINT32_MAX && n / step[axis] % shape->size[axis] > 0)
                nearest[n] = nearest[n - step[axis]];
        for (size_t n = nodes; n-- > 0;)
            if (nearest[n] == UINT32_MAX &&
                n / step[axis] % shape->size[axis] + 1 < shape->size[axis])
                nearest[n] = nearest[n + step[axis]];
    }
}

static pl_status find_nearest(pl_body* body)
{
    const pl_rest_sdf* shape = &body->rest_sdf;
    const pl_particles* p = &body->particles;
    pl_cuts* cuts = &body->cuts;
    size_t nodes = count_nodes(shape);
    nearest_search n = {PL_NEW(uint32_t, nodes), PL_NEW(float, nodes), 0};
    cuts->other = PL_NEW(uint32_t, nodes);
    cuts->crack = PL_NEW(float, nodes);
    if (n.nearest && n.square && cuts->other && cuts->crack)
    {
        for (size_t i = 0; i < nodes; ++i)
        {
            n.nearest[i] = cuts->other[i] = UINT32_MAX;
            n.square[i] = FLT_MAX;
            cuts->crack[i] = (float)(PL_CRACK_REACH * shape->spacing);
        }
        for (n.id = 0; n.id < p->id_count; ++n.id)
        {
            if (p->parent[n.id] == n.id && is_there(p, n.id))
                each_node(shape, pl_rest_of(body, p->slot_of[n.id]), REACH * shape->spacing, offer,
                          &n);
        }
        spread_labels(shape, n.nearest);
        /* in a corrupt snapshot no particle may be near any node */
        for (size_t i = 0; i < nodes; ++i)
            n.nearest[i] = n.nearest[i] == UINT32_MAX ? 0 : n.nearest[i];
        cuts->nearest = n.nearest;
        n.nearest = NULL;
    }
    bool fine = cuts->nearest != NULL;
    pl_free(n.nearest);
    pl_free(n.square);
    return fine ? PLIANT_OK : pl_fail_memory(nodes * 12);
}

/* ------------------------------------------------------------------ distances to cracks */

/* The sums of w for the FEW pieces with the largest sums, of a node near a crack. */
enum
{
    FEW = 4
};
typedef struct node_sums
{
    uint32_t piece[FEW];
    float sum[FEW];
} node_sums;

typedef struct crack_update
{
    pl_cuts* cuts;
    const pl_rest_sdf* shape;
    uint32_t* place; /* by node: 1 + its index in the list, or 0 */
    node_sums* list;
    uint32_t* node;
    size_t count, capacity, node_capacity;
    uint32_t piece;
    float per_square; /* table steps per unit of squared distance */
    float weight[STEPS + 1];
    bool failed;
} crack_update;

static void mark_node(void* context, size_t node, float square)
{
    crack_update* p = context;
    (void)square;
    if (p->place[node] || p->failed)
        return;
    if (!pl_grow((void**)&p->list, &p->capacity, p->count + 1, sizeof *p->list) ||
        !pl_grow((void**)&p->node, &p->node_capacity, p->count + 1, sizeof *p->node))
    {
        p->failed = true;
        return;
    }
    p->list[p->count] = (node_sums){{0}, {0}};
    p->node[p->count] = (uint32_t)node;
    p->place[node] = (uint32_t)++p->count;
}

static void offer_piece(void* context, size_t node, float square)
{
    const crack_update* p = context;
    if (!p->place[node])
        return;
    node_sums* b = &p->list[p->place[node] - 1];
    float w = p->weight[PL_MIN((uint32_t)(square * p->per_square), (uint32_t)STEPS)];
    /* sorted by sum, largest first; a piece beyond FEW replaces the least */
    int at = 0;
    while (at < FEW - 1 && b->sum[at] > 0 && b->piece[at] != p->piece)
        ++at;
    if (b->piece[at] != p->piece)
        b->piece[at] = p->piece, b->sum[at] = 0;
    w += b->sum[at];
    for (; at > 0 && b->sum[at - 1] < w; --at)
        b->piece[at] = b->piece[at - 1], b->sum[at] = b->sum[at - 1];
    b->piece[at] = p->piece, b->sum[at] = w;
}

static void mark_nodes(const pl_body* body, crack_update* p)
{
    const pl_particles* k = &body->particles;
    for (uint32_t id = 0; id < p->cuts->id_count; ++id)
        if (p->cuts->last[id] && is_there(k, id))
            each_node(p->shape, pl_rest_of(body, k->slot_of[id]),
                      PL_CRACK_REACH * p->shape->spacing, mark_node, p);
}

/* Whether any of the eight nodes around a point is in the list. */
static bool is_near(const crack_update* p, vec3 r)
{
    const double at[3] = {r.x, r.y, r.z};
    const size_t step[3] = {1, p->shape->size[0], (size_t)p->shape->size[0] * p->shape->size[1]};
    size_t node = 0;
    for (int k = 0; k < 3; ++k)
    {
        double along = (at[k] - p->shape->lower[k]) * p->shape->per_cell;
        node += step[k] * (size_t)PL_CLAMP(along, 0, p->shape->size[k] - 2.0);
    }
    for (int i = 0; i < 8; ++i)
        if (p->place[node + (i & 1 ? step[0] : 0) + (i & 2 ? step[1] : 0) + (i & 4 ? step[2] : 0)])
            return true;
    return false;
}

static void measure_nodes(crack_update* p)
{
    double h = p->shape->spacing, most = PL_CRACK_REACH * h, scale = SMOOTHNESS * SMOOTHNESS * h;
    for (size_t i = 0; i < p->count; ++i)
    {
        const node_sums* b = &p->list[i];
        uint32_t node = p->node[i], piece = p->cuts->owner[p->cuts->nearest[node]];
        float own = 0, other = 0;
        p->cuts->other[node] = PL_NO_PIECE;
        for (int n = FEW - 1; n >= 0; --n)
            if (b->sum[n] > 0 && b->piece[n] == piece)
                own = b->sum[n];
            else if (b->sum[n] > 0)
                other = b->sum[n], p->cuts->other[node] = b->piece[n];
        double apart = own > 0 && other > 0 ? scale * pl_log((double)own / other) : most;
        p->cuts->crack[node] = (float)PL_CLAMP(apart, -most, most);
    }
}

pl_status pl_cracks_refresh(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    const pl_particles* k = &body->particles;
    if (!cuts->plane_count || (cuts->nearest && body->valid.cracks))
        return PLIANT_OK;
    if (!cuts->nearest)
        PL_TRY(find_nearest(body));
    size_t nodes = count_nodes(&body->rest_sdf);
    crack_update p = {.cuts = cuts, .shape = &body->rest_sdf, .place = PL_NEW(uint32_t, nodes)};
    double most = REACH * REACH * p.shape->spacing * p.shape->spacing * (1 + 1e-6);
    p.per_square = (float)(STEPS / most);
    for (int i = 0; i <= STEPS; ++i)
        p.weight[i] = (float)pl_exp(-.5 * REACH * REACH / (SMOOTHNESS * SMOOTHNESS) * i / STEPS);
    p.failed = !p.place;
    if (!p.failed)
        mark_nodes(body, &p);
    for (uint32_t id = 0; id < k->id_count && !p.failed; ++id)
    {
        p.piece = cuts->owner[id];
        if (p.piece == PL_NO_PIECE || !is_there(k, id))
            continue;
        vec3 r = pl_rest_of(body, k->slot_of[id]);
        if (is_near(&p, r))
            each_node(p.shape, r, REACH * p.shape->spacing, offer_piece, &p);
    }
    if (!p.failed)
        measure_nodes(&p);
    bool failed = p.failed;
    pl_free(p.place);
    pl_free(p.list);
    pl_free(p.node);
    pl_cracks_made(body, !failed);
    return failed ? pl_fail_memory(nodes * 4) : PLIANT_OK;
}

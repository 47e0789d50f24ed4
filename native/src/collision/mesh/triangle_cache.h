// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which triangles of a mesh collider the particles of a body may meet.
 *
 *   tree ──► chunk: the triangles ──► those of its particles that ──► eight of them: triangles
 *            around its particles     are near any, in order of       that lie around these
 *                                     place
 *
 * Blocks of a chunk hold particles with common clusters, from anywhere in the chunk. So those that
 * are near triangles are copied together, eight neighbours after eight; their boxes are small, and
 * so are their lists. The others are in boxes, one for each block, that no triangle touches. Lists
 * are made for boxes that are somewhat wider than needed and stay until somebody leaves a box: at
 * rest the tree is not walked at all. What a substep does follows from the triangles that a
 * particle meets, never from the rest of a list or from who else is in its eight, so lists are no
 * part of the state.
 *
 * Part of the state is, for solids, who is known to be outside. Paths are not let through the
 * surface, so this stays true without asking again; all others are asked in each substep.
 */
#ifndef PL_COLLISION_MESH_TRIANGLE_CACHE_H
#define PL_COLLISION_MESH_TRIANGLE_CACHE_H

#include "body/body.h"
#include "collision/mesh/mesh_collider.h"

/* A box as (upper x y z, 0, -lower x y z, 0): one compare tells whether it holds another. */
typedef struct pl_span
{
    float at[8];
} pl_span;

/* A triangle at the end of a substep, relative to the body's origin: one cache line. Unit normals
 * and how far the planes are from the origin. */
typedef struct pl_facet
{
    float normal[4];
    float edge[3][4]; /* in the plane, outward */
} pl_facet;

typedef struct pl_facet_corners
{
    float a[4], b[4], c[4]; /* b and c from a */
} pl_facet_corners;

/* What it did in the substep: a point that was at p moved by row p + row[3]. */
typedef struct pl_motion
{
    float row[3][4];
    float turn; /* how far it turned and stretched */
    float reserved[3];
} pl_motion;

#define PL_LOT 16
#define PL_FEW_FACETS 95
#define PL_PACKED_FLOATS 10
#define PL_NO_MEMBER UINT32_MAX

/* What is remembered of eight particles that hardly move (lanes.simd.c). */
typedef struct pl_settled
{
    float at[3][8];
    float others[8]; /* no other facet is nearer to that place */
    float first[8];  /* the nearest facet; negative: none that near */
    float second[8]; /* the next one; negative: none */
    float beyond[8]; /* no facet but these two is nearer */
    pl_span around;  /* what the facets were last looked for in; those are in there: */
    uint32_t count;
    uint32_t some[PL_FEW_FACETS];
} pl_settled;

typedef struct pl_triangle_cache_chunk
{
    uint32_t facet_count, entry_count;
    size_t triangle_capacity, swept_capacity, box_capacity, facet_capacity, corners_capacity,
        motion_capacity, entry_capacity, some_capacity, lot_capacity;
    pl_span around;     /* what the facets were collected for */
    pl_span bounds;     /* of all of them, as swept */
    uint32_t* some;     /* facets around a few blocks, while lists are made */
    uint32_t* triangle; /* in tree order, ascending */
    pl_span* swept;     /* of each, over the frame: (lower, 0, -upper, 0) */
    pl_span* lot;       /* around PL_LOT of them after each other */
    pl_span* box;       /* the same over the substep */
    pl_facet* facet;
    pl_facet_corners* corners;
    pl_motion* motion;
    /* By block of the chunk. */
    uint8_t* known;   /* a bit for each particle that has a mass, in this substep */
    uint8_t* near;    /* a bit for each that is in an eight */
    pl_span* clear;   /* what the others are in, without triangles */
    uint8_t* strayed; /* some are not in there any more */
    /* By eight neighbours; "member" are their places in the chunk. */
    uint32_t eight_count;
    uint32_t* member;
    size_t member_capacity;
    uint64_t* key;         /* scratch: where they are along a curve */
    float* packed;         /* PL_PACKED_FLOATS for each: mass, start, x, v */
    uint32_t *begin, *end; /* its list */
    uint32_t* entry;       /* numbers of facets */
    pl_span* listed;       /* what its list was made for */
    uint8_t* movable;      /* in this substep */
    pl_settled* settled;
    size_t settled_capacity;
    uint8_t* left; /* it is not in what its list was made for */
    bool made, facets_made;
    uint32_t nodes, tested; /* in this substep: nodes of the tree, triangles looked at */
} pl_triangle_cache_chunk;

/* One body and one mesh. */
typedef struct pl_triangle_cache
{
    const pl_mesh_collider* mesh;
    uint32_t chunk_count, block_count;
    uint8_t* outside; /* by block of slots, a bit for each lane: known to be outside. Saved. */
    pl_triangle_cache_chunk* chunks;
    /* What the lists belong to. */
    double origin[3];
    uint64_t epoch;
} pl_triangle_cache;

/* Before a frame: what is missing is made, lists that do not fit any more are dropped. */
pl_status pl_triangle_cache_prepare(pl_body* body, const pl_mesh_collider* mesh);
/* NULL: there is none. */
pl_triangle_cache* pl_triangle_cache_find(const pl_body* body, const pl_mesh_collider* mesh);
pl_status pl_triangle_cache_add(pl_body* body, const pl_mesh_collider* mesh,
                                pl_triangle_cache** near);
void pl_triangle_cache_drop(pl_body* body, const pl_mesh_collider* mesh);
void pl_triangle_cache_free_all(pl_body* body);
/* The particles are somewhere else: nothing is known of their sides. */
void pl_triangle_cache_forget(pl_body* body);
/* Adds what the last substep looked at, and begins anew. */
void pl_triangle_cache_count(const pl_body* body, uint64_t* nodes, uint64_t* triangles);
void pl_triangle_cache_forget_chunk(const pl_body* body, uint32_t chunk);
/* After chunks were added. */
pl_status pl_triangle_cache_resize(pl_body* body);
/* A particle was copied to a free slot, which is in this chunk. */
void pl_triangle_cache_copy(const pl_body* body, uint32_t from, uint32_t to, uint32_t chunk);

/* One chunk in one substep. */
typedef struct pl_triangle_cache_job
{
    const pl_collider* collider;
    const pl_body* body;
    uint32_t chunk;
    const struct pl_mesh_kernels* kernels;
    double t0, t1;
    float dt;
    const float* mass; /* of the chunk, as all that follow; 0: not to be moved */
    float *start[3], *x[3], *v[3];
    bool started;           /* start is filled; otherwise there is room, and it is x - dt v */
    pl_moved_blocks* moved; /* notes those that are; or NULL */
} pl_triangle_cache_job;

/* In double, and rounded once: at rest it is the same for ever. */
static inline float pl_start_of(float x, float v, float dt)
{
    return (float)((double)x - (double)dt * v);
}

/* How many particles touch. False: out of memory. */
bool pl_triangle_cache_resolve(const pl_triangle_cache_job* job, uint32_t* touched);

/* triangle_cache_lists.c: makes lists that do not fit any more, and copies the particles that have
 * some: "packed" is the same job for these. False: out of memory. */
bool pl_triangle_cache_lists(const pl_triangle_cache_job* job, pl_triangle_cache_chunk* chunk,
                             float shift, pl_triangle_cache_job* packed);

/* facets.c: a box around a triangle, as (lower, 0, -upper, 0) with nothing cut off by
 * rounding; the facets of a chunk in a substep. False: out of memory. */
struct pl_moving_view;
pl_span pl_facet_box(const pl_box* box);
bool pl_facets_make(const struct pl_moving_view* view, pl_triangle_cache_chunk* chunk);

/* ------------------------------------------------------------------ lanes (lanes.simd.c) */

typedef struct pl_mesh_lanes
{
    const pl_span* box;
    const pl_facet* facet;
    const pl_facet_corners* corners;
    const pl_motion* motion; /* NULL: the mesh stands still */
    const uint32_t* list;
    uint32_t count;
    float thickness, friction, restitution, dt, shift; /* shift: the farthest that a vertex goes */
    const pl_running* running;
    unsigned lanes; /* which of the eight */
    const float* start[3];
    float *x[3], *v[3];
    pl_settled* settled; /* NULL: the mesh moves */
    /* Out: who was touched; who must be looked at one by one, and was not moved. */
    unsigned touched, unsure;
    uint32_t tested;
} pl_mesh_lanes;

/* Particles for which lists are needed, eight after eight. */
typedef struct pl_mesh_paths
{
    uint32_t blocks;
    const float* mass;
    const float* const* start; /* NULL: x - dt v */
    float *const *x, *const *v;
    float dt;
    float thickness, shift;
    const uint8_t* without; /* by block: bits of those that do not count; or NULL */
    /* Out, by block: a bit for each particle that has a mass; some that count are not in what is
     * listed. */
    uint8_t *movable, *left;
} pl_mesh_paths;

typedef struct pl_mesh_kernels
{
    /* Whether each block's box, with all that a substep needs around it, is in what is listed. */
    bool (*within)(const pl_mesh_paths* paths, const pl_span* listed);
    /* The box of one block; without particles: an empty one. */
    pl_span (*span)(const pl_mesh_paths* paths, uint32_t block);
    /* Bits of those particles of a block whose own boxes, widened by "margin", one of the listed
     * triangles touches. */
    unsigned (*touching)(const pl_mesh_paths* paths, uint32_t block, const pl_span* box,
                         const uint32_t* list, uint32_t count, float margin);
    /* Numbers from a list (NULL: all up to count) whose boxes touch the span. */
    uint32_t (*sift)(const pl_span* box, const uint32_t* list, uint32_t count, const pl_span* span,
                     uint32_t* out);
    void (*resolve)(pl_mesh_lanes* job);
} pl_mesh_kernels;

const pl_mesh_kernels* pl_mesh_kernels_for(uint32_t simd);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Cache of the mesh-collider triangles near the particles of a body.
 *
 *   tree ──► chunk: the triangles ──► those of its particles that ──► eight of them: triangles
 *            around its particles     are near any, in order of       that lie around these
 *                                     place
 *
 * Blocks of a chunk hold particles with common clusters, scattered over the chunk. So particles
 * near triangles are repacked in eights of neighbours, whose AABBs and lists are small. The others
 * have one AABB per block, which no triangle touches. Lists have a margin and stay valid until a
 * particle leaves its box: at rest the tree is not traversed at all. The result of a substep
 * depends only on the triangles that a particle meets, never on the rest of a list or of an eight,
 * so the lists are not part of the state.
 *
 * Part of the state, for solids, are the particles known to be outside. Paths never pass through
 * the surface, so this stays true without a query; the side of all others is queried in each
 * substep.
 */
#ifndef PL_COLLISION_MESH_TRIANGLE_CACHE_H
#define PL_COLLISION_MESH_TRIANGLE_CACHE_H

#include "body/body.h"
#include "collision/mesh/mesh_collider.h"

/* An AABB as (upper x y z, 0, -lower x y z, 0): one compare tests containment. */
typedef struct pl_span
{
    float at[8];
} pl_span;

/* A triangle at the end of a substep, relative to the body's origin: one cache line. Unit normals
 * and plane distances from the origin. */
typedef struct pl_facet
{
    float normal[4];
    float edge[3][4]; /* in the plane, outward */
} pl_facet;

typedef struct pl_facet_corners
{
    float a[4], b[4], c[4]; /* b and c relative to a */
} pl_facet_corners;

/* Its motion in the substep: a point at p moved by row p + row[3]. */
typedef struct pl_motion
{
    float row[3][4];
    float turn; /* Frobenius norm of the linear part */
    float reserved[3];
} pl_motion;

#define PL_LOT 16
#define PL_FEW_FACETS 95
#define PL_PACKED_FLOATS 10
#define PL_NO_MEMBER UINT32_MAX

/* Cached search result of eight particles that hardly move (lanes.simd.c). */
typedef struct pl_settled
{
    float at[3][8];
    float others[8]; /* lower bound of the distance to facets but the first */
    float first[8];  /* nearest facet; negative: none in range */
    float second[8]; /* second nearest; negative: none */
    float beyond[8]; /* lower bound of the distance to facets but these two */
    pl_span around;  /* span of the last narrowed list, and its facets: */
    uint32_t count;
    uint32_t some[PL_FEW_FACETS];
} pl_settled;

typedef struct pl_triangle_cache_chunk
{
    uint32_t facet_count, entry_count;
    size_t triangle_capacity, swept_capacity, box_capacity, facet_capacity, corners_capacity,
        motion_capacity, entry_capacity, some_capacity, lot_capacity;
    pl_span around;     /* span for which the facets were collected */
    pl_span bounds;     /* of all facets, swept over the frame */
    uint32_t* some;     /* scratch: facets around a few blocks */
    uint32_t* triangle; /* in tree order, ascending */
    pl_span* swept;     /* of each facet, over the frame */
    pl_span* lot;       /* around PL_LOT consecutive facets */
    pl_span* box;       /* the same over the substep */
    pl_facet* facet;
    pl_facet_corners* corners;
    pl_motion* motion;
    /* By block of the chunk. */
    uint8_t* known;   /* bit mask of particles with mass, in this substep */
    uint8_t* near;    /* bit mask of particles that are in an eight */
    pl_span* clear;   /* box of the others, free of triangles */
    uint8_t* strayed; /* some of them have left the box */
    /* By eight; "member" are indices in the chunk. */
    uint32_t eight_count;
    uint32_t* member;
    size_t member_capacity;
    uint64_t* key;         /* scratch: Morton keys */
    float* packed;         /* PL_PACKED_FLOATS for each: mass, start, x, v */
    uint32_t *begin, *end; /* its list */
    uint32_t* entry;       /* numbers of facets */
    pl_span* listed;       /* span for which its list was made */
    uint8_t* movable;      /* by eight: mask of particles to resolve in this substep */
    pl_settled* settled;
    size_t settled_capacity;
    uint8_t* left; /* it has left that span */
    bool made, facets_made;
    uint32_t nodes, tested; /* statistics of this substep: tree nodes, triangles tested */
} pl_triangle_cache_chunk;

/* One body and one mesh. */
typedef struct pl_triangle_cache
{
    const pl_mesh_collider* mesh;
    uint32_t chunk_count, block_count;
    uint8_t* outside; /* by block of slots, a bit per lane: known to be outside; saved */
    pl_triangle_cache_chunk* chunks;
    /* The lists are valid for: */
    double origin[3];
    uint64_t epoch;
} pl_triangle_cache;

/* Before a frame: creates the cache if it is missing and drops invalid lists. */
pl_status pl_triangle_cache_prepare(pl_body* body, const pl_mesh_collider* mesh);
/* NULL if there is none. */
pl_triangle_cache* pl_triangle_cache_find(const pl_body* body, const pl_mesh_collider* mesh);
pl_status pl_triangle_cache_add(pl_body* body, const pl_mesh_collider* mesh,
                                pl_triangle_cache** near);
void pl_triangle_cache_drop(pl_body* body, const pl_mesh_collider* mesh);
void pl_triangle_cache_free_all(pl_body* body);
/* After particles were moved: their sides are unknown. */
void pl_triangle_cache_forget(pl_body* body);
/* Adds the statistics of the last substep and resets them. */
void pl_triangle_cache_count(const pl_body* body, uint64_t* nodes, uint64_t* triangles);
void pl_triangle_cache_forget_chunk(const pl_body* body, uint32_t chunk);
/* After chunks were added. */
pl_status pl_triangle_cache_resize(pl_body* body);
/* After a particle was copied to a free slot of this chunk. */
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
    bool started;           /* start is valid; otherwise it is allocated and means x - dt v */
    pl_moved_blocks* moved; /* records moved particles; or NULL */
} pl_triangle_cache_job;

/* In double with a single rounding: stable at rest. */
static inline float pl_start_of(float x, float v, float dt)
{
    return (float)((double)x - (double)dt * v);
}

/* Counts touching particles. False: out of memory. */
bool pl_triangle_cache_resolve(const pl_triangle_cache_job* job, uint32_t* touched);

/* triangle_cache_lists.c: refreshes invalid lists and copies their particles; "packed" is the same
 * job for the copies. False: out of memory. */
bool pl_triangle_cache_lists(const pl_triangle_cache_job* job, pl_triangle_cache_chunk* chunk,
                             float shift, pl_triangle_cache_job* packed);

/* facets.c: AABB of a triangle, as (lower, 0, -upper, 0) rounded outward; the facets of a chunk in
 * a substep. False: out of memory. */
struct pl_moving_view;
pl_span pl_facet_box(const pl_box* box);
bool pl_facets_make(const struct pl_moving_view* view, pl_triangle_cache_chunk* chunk);

/* ------------------------------------------------------------------ lanes (lanes.simd.c) */

typedef struct pl_mesh_lanes
{
    const pl_span* box;
    const pl_facet* facet;
    const pl_facet_corners* corners;
    const pl_motion* motion; /* NULL: the mesh does not move */
    const uint32_t* list;
    uint32_t count;
    float thickness, friction, restitution, dt, shift; /* shift: largest vertex motion */
    const pl_running* running;
    unsigned lanes; /* mask of the eight */
    const float* start[3];
    float *x[3], *v[3];
    pl_settled* settled; /* NULL: the mesh moves */
    /* Out: touched lanes; lanes left to double precision, which were not moved. */
    unsigned touched, unsure;
    uint32_t tested;
} pl_mesh_lanes;

/* Particles for which lists are needed, by block of eight. */
typedef struct pl_mesh_paths
{
    uint32_t blocks;
    const float* mass;
    const float* const* start; /* NULL: x - dt v */
    float *const *x, *const *v;
    float dt;
    float thickness, shift;
    const uint8_t* without; /* by block: mask of particles to ignore; or NULL */
    /* Out, by block: mask of particles with mass; whether a counted one has left its span. */
    uint8_t *movable, *left;
} pl_mesh_paths;

typedef struct pl_mesh_kernels
{
    /* Whether each block's AABB, with all margins of a substep, is within its span. */
    bool (*within)(const pl_mesh_paths* paths, const pl_span* listed);
    /* AABB of one block; empty without particles. */
    pl_span (*span)(const pl_mesh_paths* paths, uint32_t block);
    /* Mask of the particles of a block whose AABBs, widened by "margin", touch one of the listed
     * triangles. */
    unsigned (*touching)(const pl_mesh_paths* paths, uint32_t block, const pl_span* box,
                         const uint32_t* list, uint32_t count, float margin);
    /* Indices from a list (NULL: all up to count) whose boxes touch the span. */
    uint32_t (*sift)(const pl_span* box, const uint32_t* list, uint32_t count, const pl_span* span,
                     uint32_t* out);
    void (*resolve)(pl_mesh_lanes* job);
} pl_mesh_kernels;

const pl_mesh_kernels* pl_mesh_kernels_for(uint32_t simd);

#endif

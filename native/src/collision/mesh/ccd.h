// SPDX-License-Identifier: GPL-3.0-or-later
/* Continuous collision detection (CCD) of particles against a mesh collider, within one substep. */
#ifndef PL_COLLISION_MESH_CCD_H
#define PL_COLLISION_MESH_CCD_H

#include "collision/collider/particle_collider.h"
#include "collision/mesh/mesh_collider.h"

#define PL_NO_TRIANGLE UINT32_MAX
#define PL_MOST_NEIGHBOURS 128

typedef struct pl_moving
{
    pl_corners at0, at1; /* at the substep's start and end */
} pl_moving;

/* The triangles around a group of neighbouring particles, found once for all of them. */
typedef struct pl_moving_neighbours
{
    pl_box box; /* they are all triangles that touch it */
    uint32_t count;
    pl_box swept[PL_MOST_NEIGHBOURS];
    uint32_t triangle[PL_MOST_NEIGHBOURS];
    pl_moving at[PL_MOST_NEIGHBOURS];
} pl_moving_neighbours;

/* The mesh over one substep, relative to a body's origin. */
typedef struct pl_moving_view
{
    const pl_mesh_collider* mesh;
    const pl_bvh* tree;
    vec3 origin;
    double t0, t1;
    double thickness, friction, restitution;
    pl_running running;
    bool solid;
    const pl_moving_neighbours* near; /* NULL: walk the tree */
} pl_moving_view;

/* First contact of a path. */
typedef struct pl_moving_meeting
{
    uint32_t triangle; /* in tree order, or PL_NO_TRIANGLE */
    bool crossing;
    double when;     /* time of the crossing, 0 to 1 */
    double distance; /* from the path's end to the nearest point */
    double side;     /* it crosses from: 1 the front, -1 the back */
    double weights[3];
} pl_moving_meeting;

pl_moving pl_moving_at(const pl_moving_view* s, uint32_t triangle);
/* AABB over the substep. */
pl_box pl_moving_box(const pl_moving_view* s, const pl_moving* m);

/* Whether any triangle's swept AABB touches the box. */
bool pl_moving_any(const pl_moving_view* s, const pl_box* box);
/* Collects all triangles around a box; false if there are too many. */
bool pl_moving_surround(const pl_moving_view* s, const pl_box* box, pl_moving_neighbours* near);
/* Whether a point is inside the solid at the start of the substep. */
bool pl_moving_inside(const pl_moving_view* s, vec3 p);
/* The triangle nearest to a point at the start of the substep, or PL_NO_TRIANGLE. */
uint32_t pl_moving_nearest(const pl_moving_view* s, vec3 p, double weights[3]);
/* The path's first crossing after time "after" (in 0 to 1); if there is none, the triangle nearest
 * to its end within the thickness. */
pl_moving_meeting pl_moving_meet(const pl_moving_view* s, const pl_collider_particle* q,
                                 double thickness, double after);

/* particle_mesh.c: moves the particle and changes its velocity if it touches. "inside": it starts
 * in the solid. */
bool pl_collide_mesh(const pl_moving_view* s, pl_collider_particle* q, bool inside);

static inline vec3 pl_corners_mix(const pl_corners* t, const double w[3])
{
    return v3_mad(v3_mad(v3_scale(t->a, w[0]), t->b, w[1]), t->c, w[2]);
}

static inline vec3 pl_corners_normal(const pl_corners* t)
{
    return v3_cross(v3_sub(t->b, t->a), v3_sub(t->c, t->a));
}

static inline bool pl_corners_area(const pl_corners* t)
{
    vec3 ab = v3_sub(t->b, t->a), ac = v3_sub(t->c, t->a), n = v3_cross(ab, ac);
    return v3_dot(n, n) > 1e-24 * v3_dot(ab, ab) * v3_dot(ac, ac);
}

static inline bool pl_moving_whole(const pl_moving* m)
{
    return pl_corners_area(&m->at0) && pl_corners_area(&m->at1);
}

static inline pl_box pl_box_widened(pl_box box, double by)
{
    vec3 margin = v3(by, by, by);
    return (pl_box){v3_sub(box.lower, margin), v3_add(box.upper, margin)};
}

#endif

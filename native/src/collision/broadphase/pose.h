// SPDX-License-Identifier: GPL-3.0-or-later
/* Poses of contact proxies: rest space to world by the total deformation gradient F. */
#ifndef PL_COLLISION_BROADPHASE_POSE_H
#define PL_COLLISION_BROADPHASE_POSE_H

#include "body/body.h"

/* F with singular values of at least PL_POSE_FLATTEST times the largest and a positive determinant.
 * Flat F gets a thickness, inverted F is flipped along its least direction; any other F is returned
 * unchanged. */
#define PL_POSE_FLATTEST 0.05
mat3 pl_pose_mend(mat3 f);

/* Eight surface particles of a cluster, gathered: in the body's arrays they are scattered. */
typedef struct pl_surface_eight
{
    float x[3][8], v[3][8];
} pl_surface_eight;

/* Fills eights of a body with surface[begin] to surface[end - 1] of its proxies. */
void pl_surface_gather(const pl_body* body, const pl_proxies* proxies, uint32_t begin, uint32_t end,
                       pl_surface_eight* eights);

/* Sets the poses of the finest clusters from their last fit, with AABBs of the proxy, widened by
 * "thickness", and of its surface particles. Both are swept over the last dt in a frame that moves
 * with the velocity "drift", so common motion does not enlarge them. "eights" are the body's, or
 * NULL. */
void pl_poses_follow(const pl_body* body, const pl_proxies* proxies, const pl_surface_eight* eights,
                     double dt, const double drift[3], double thickness, uint32_t begin,
                     uint32_t end, pl_proxy_pose* poses);
void pl_poses_set(const pl_body* body, const pl_proxies* proxies, double dt, const double drift[3],
                  double thickness, uint32_t begin, uint32_t end, pl_proxy_pose* poses);

/* The same as pl_poses_set at rest, with the rest origin for the world's zero. */
pl_status pl_poses_rest(const pl_body* body, const pl_proxies* proxies, double thickness,
                        pl_proxy_pose* poses);

/* Rest <-> world. Normals map with the transpose of the inverse: a plane n . r + a = 0 is
 * N . x + A = 0 in the world with N = F^-T n, and with n = F^T N the other way round. */
vec3 pl_pose_to_world(const pl_proxy_pose* pose, vec3 rest);
static inline vec3 pl_pose_to_rest(const pl_proxy_pose* pose, vec3 world)
{
    return v3_add(v3_fromd(pose->rest), m3_mulv(pose->inverse, v3_sub(world, v3_fromd(pose->x))));
}
vec3 pl_pose_normal_to_world(const pl_proxy_pose* pose, vec3 normal);
vec3 pl_pose_normal_to_rest(const pl_proxy_pose* pose, vec3 normal);
/* The offset a of the rest plane whose world plane passes through "point" (world) and has the rest
 * normal "normal". */
double pl_pose_plane_offset(const pl_proxy_pose* pose, vec3 normal, vec3 point);

/* A plane that cuts a finest cluster (fracture/cuts/cuts.h), from a world plane through "point",
 * mapped by the last fit. */
pl_cut_plane pl_pose_cut(const pl_body* body, uint32_t cluster, vec3 normal, vec3 point);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
/* Eight particles for the tests of colliders. The first is looked at unless a test says otherwise.
 */
#ifndef PLIANT_EIGHT_H
#define PLIANT_EIGHT_H

typedef struct eight
{
    float x[3][8], v[3][8], mass[8];
} eight;

static inline eight at(double x, double y, double z)
{
    eight e = {.mass = {1}};
    e.x[0][0] = (float)x, e.x[1][0] = (float)y, e.x[2][0] = (float)z;
    return e;
}

#endif

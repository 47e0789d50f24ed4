// SPDX-License-Identifier: GPL-3.0-or-later
/* Strain limits of clusters whose members are nearly collinear. */
#define PL_PATH scalar
#define PL_PATH_SCALAR 1
#include "native/support/test.h"

#include <dynamics/reduce_moments.h>
#include <math.h>

/* Moments of members of mass 1 that are in line but for "off", as float sums about a point "away"
 * from them. */
static pl_moments line_of(int members, double off, double away)
{
    pl_moments t;
    float x[3] = {0}, xx[6] = {0};
    memset(&t, 0, sizeof t);
    for (int i = 0; i < members; ++i)
    {
        float at[3] = {(float)(away + i - .5 * (members - 1)), (float)(.7 * away),
                       (float)(-.3 * away)};
        at[1] += (float)(i % 2 ? off : -off);
        for (int j = 0; j < 3; ++j)
        {
            x[j] += at[j];
            xx[j] += at[j] * at[j];
            xx[3 + j] += at[j] * at[(j + 1) % 3];
        }
    }
    t.m = vd_set1(members);
    for (int j = 0; j < 6; ++j)
        t.xx[j] = vd_set1(xx[j]);
    for (int j = 0; j < 3; ++j)
    {
        t.x[j] = vd_set1(x[j]);
        t.summed = vd_add(t.summed, t.xx[j]);
    }
    return t;
}

/* The largest entry of the inverse of the inertia. */
static double inverse_of(const pl_moments* t)
{
    vd x[3];
    vf inverse[6];
    float most = 0, lanes[8];
    for (int j = 0; j < 3; ++j)
        x[j] = vd_div(t->x[j], t->m);
    pl_inertia_inverse(t, x, inverse);
    for (int j = 0; j < 6; ++j)
    {
        vf_store(lanes, inverse[j]);
        most = fmaxf(most, fabsf(lanes[0]));
    }
    return most;
}

TEST(needles_are_not_turned_about_their_line)
{
    for (int members = 2; members <= 4; ++members)
        for (double off = 1e-7; off < 1e-3; off *= 10)
            for (double away = 0; away < 2000; away = 2 * away + .9)
            {
                pl_moments t = line_of(members, off, away);
                double most = inverse_of(&t), trace = members * (members * members - 1) / 12.0;
                CHECK_MSG(most * trace < 2e4, "%d members, %g off, %g away: %g times the inverse",
                          members, off, away, most * trace);
            }
}

/* What is left of its inertia is rounding. */
TEST(a_single_member_is_not_turned)
{
    for (double away = .9; away < 2000; away = 2 * away + .9)
    {
        pl_moments t = line_of(1, 0, away);
        CHECK_MSG(inverse_of(&t) == 0, "%g away: %g", away, inverse_of(&t));
    }
}

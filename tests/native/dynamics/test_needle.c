// SPDX-License-Identifier: GPL-3.0-or-later
/* Strain limits of clusters whose members are nearly collinear. */
#define PL_PATH scalar
#define PL_PATH_SCALAR 1
#include "native/support/test.h"

#include <dynamics/reduce_moments.h>
#include <math.h>

/* Moments of members of mass 1 on a line, except for "off", which is below the accuracy of float
 * sums about a point some widths away: the inertia about the line is rounding error. */
static pl_moments line_of(int members, double off, float rounding)
{
    pl_moments t;
    vd one = vd_set1(1);
    memset(&t, 0, sizeof t);
    for (int i = 0; i < members; ++i)
    {
        double at[3] = {i - .5 * (members - 1), i % 2 ? off : -off, 0};
        t.m = vd_add(t.m, one);
        for (int j = 0; j < 3; ++j)
        {
            t.x[j] = vd_add(t.x[j], vd_set1(at[j]));
            t.xx[j] = vd_add(t.xx[j], vd_set1(at[j] * at[j]));
            t.xx[3 + j] = vd_add(t.xx[3 + j], vd_set1(at[j] * at[(j + 1) % 3]));
        }
    }
    t.xx[1] = vd_add(t.xx[1], vd_set1(rounding));
    return t;
}

TEST(needles_are_not_turned_about_their_line)
{
    for (int members = 2; members <= 4; ++members)
        for (double off = 1e-7; off < 1e-3; off *= 10)
        {
            pl_moments t = line_of(members, off, 1e-8f);
            vd x[3];
            vf inverse[6];
            float most = 0, lanes[8];
            for (int j = 0; j < 3; ++j)
                x[j] = vd_div(t.x[j], t.m);
            pl_inertia_inverse(&t, x, inverse);
            for (int j = 0; j < 6; ++j)
            {
                vf_store(lanes, inverse[j]);
                most = fmaxf(most, fabsf(lanes[0]));
            }
            double trace = members * (members * members - 1) / 12.0; /* across the line */
            CHECK_MSG(most * trace < 2e4, "%d members, %g off their line: %g times the inverse",
                      members, off, most * trace);
        }
}

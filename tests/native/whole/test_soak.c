// SPDX-License-Identifier: GPL-3.0-or-later
/* The first frames of long bakes (tests/soak has the rest): limits hold, and stored frames are
 * skinned to the same bits in any order. */
#include "native/support/test.h"

#include <api/api.h>
#include <soak/soak.h>
#include <string.h>

static soak_window bake(const char* name, uint32_t frames, soak_window* early)
{
    soak s;
    soak_window late = {0};
    uint32_t index = 0;
    while (strcmp(soak_name(index), name) != 0)
        ++index;
    bool fine = soak_begin(&s, index, test_folder()) && soak_advance(&s, frames / 2, early) &&
                soak_advance(&s, frames - frames / 2, &late) && soak_check(&s);
    CHECK_MSG(fine, "%s: %s", name, s.fault);
    soak_end(&s);
    return late;
}

/* Copies used to get new clusters and divide again: 2,438 particles after 80 frames. */
TEST(a_body_that_flows_and_breaks_is_not_divided_for_ever)
{
    soak_window early, late = bake("tumbled-torn", 100, &early);
    CHECK(late.splits > 10 && late.pieces_ever > 4);
    CHECK_MSG(late.ids > 500 && late.ids <= late.limit && late.splits <= late.limit, "%u ids of %g",
              late.ids, late.limit);
    CHECK(late.live < late.particles / 2);
}

/* Checks how far particles are out of the box, in spacings. */
static void check_inside(const char* name, double most)
{
    soak s;
    soak_window w;
    uint32_t index = 0;
    while (strcmp(soak_name(index), name) != 0)
        ++index;
    bool fine = soak_begin(&s, index, test_folder()) && soak_advance(&s, 96, &w);
    CHECK_MSG(fine, "%s", s.fault);
    pl_body* body;
    pl_scene* scene;
    CHECK_OK(pl_get_body(s.body, &body, &scene));
    const pl_particles* p = &body->particles;
    double beyond = 0; /* the box has rotated twice, back to its initial orientation */
    for (uint32_t i = 0; i < p->slot_count; ++i)
        for (int k = 0; k < 3 && p->mass[i] > 0; ++k)
            beyond = fmax(beyond, fabs(p->x[k][i] + body->origin[k]) - .6);
    CHECK_MSG(beyond < most * body->spacing, "%s: a particle is %g spacings out", name,
              beyond / body->spacing);
    soak_end(&s);
}

/* Ghosts without contacts used to draw pieces out of the box, by nine spacings up to this frame. */
TEST(pieces_that_flow_stay_in_a_closed_box)
{
    check_inside("tumbled-torn", 3);
}

/* Ghosts that passed through a shell used to be held behind it: a fifth of the body was outside. */
TEST(pieces_that_flow_stay_in_a_shell)
{
    check_inside("tumbled-in-a-shell", .5);
}

TEST(a_stored_skin_of_a_body_that_flows_takes_no_more_with_every_frame)
{
    soak_window early, late = bake("tumbled", 240, &early);
    CHECK_MSG(late.skin < 2 * early.skin + 5e5, "from %g to %g bytes", early.skin, late.skin);
    CHECK(late.memory < 1.25 * early.memory && late.disk < 1.5 * early.disk);
}

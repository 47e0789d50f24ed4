# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of a channel: NumPy type, numbers per row."""

import numpy as np

from ._abi import Channel

CHANNELS = {
    Channel.POSITION: (np.float32, 3),
    Channel.VELOCITY: (np.float32, 3),
    Channel.REST: (np.float32, 3),
    Channel.MASS: (np.float32, 1),
    Channel.MASS_QUANTA: (np.uint64, 1),
    Channel.SHELL: (np.uint32, 1),
    Channel.DEFORMATION: (np.float32, 9),
    Channel.STRETCH: (np.float32, 1),
    Channel.NEAREST_CLUSTER: (np.uint32, 1),
    Channel.CLUSTER_CENTRE: (np.float32, 3),
    Channel.CLUSTER_RADIUS: (np.float32, 1),
    Channel.CLUSTER_MASS: (np.float32, 1),
    Channel.CLUSTER_REST: (np.float32, 3),
    Channel.CLUSTER_POSITION: (np.float32, 3),
    Channel.CLUSTER_GRADIENT: (np.float32, 9),
    Channel.CLUSTER_WIDTH: (np.float32, 2),
    Channel.CLUSTER_ALPHA: (np.float32, 2),
    Channel.MEMBER_BEGIN: (np.uint32, 1),
    Channel.MEMBER_PARTICLE: (np.uint32, 1),
    Channel.MEMBER_WEIGHT: (np.float32, 1),
    Channel.MEMBER_OFFSET: (np.float32, 3),
    Channel.PLASTIC_STRAIN: (np.float32, 1),
    Channel.CLUSTER_PLASTIC: (np.float32, 10),
    Channel.CLUSTER_PLANES: (np.float32, 24),
    Channel.PARENT: (np.uint32, 1),
    Channel.BIRTH: (np.float64, 1),
    Channel.PIECE: (np.uint32, 1),
    Channel.PIECE_PARENT: (np.uint32, 1),
    Channel.PIECE_BIRTH: (np.float64, 1),
    Channel.SPLIT_PLANE: (np.float32, 7),
    Channel.SPLIT_TIME: (np.float64, 1),
    Channel.SPLIT_CLUSTER: (np.uint32, 2),
    Channel.DIVIDED: (np.uint32, 4),
    Channel.CLUSTER_BIRTH: (np.uint64, 1),
    Channel.CLUSTER_FADE: (np.float32, 1),
    Channel.RENEWED: (np.float32, 1),
    Channel.CELL: (np.uint32, 1),
    Channel.CELL_POINT: (np.float32, 3),
    Channel.SUCCESSOR: (np.uint32, 1),
}

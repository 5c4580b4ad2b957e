#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Matches an archive's messages as readers do, by their order: sends as they were begun, receives as they were posted.

    otf2_pairs.py traces.otf2...

A line an archive: its pairs, as "length of the send:length of the receive"; one length of what has no other side, and
"+" before it if it is later than the last event of a rank: there the other side cannot be. A receive that a kill left open has its place in that order, but an archive does not say of which kind it is: it is of the
one whose later lengths then agree.
"""
import collections
import itertools
import sys

import otf2
from otf2.enums import LocationGroupType
from otf2.events import MpiIrecv, MpiIrecvRequest, MpiIsend, MpiRecv, MpiSend


def paired(sends, got, left_open):
    """What of those that are left open has a place in the kind has no length."""
    for count in range(len(left_open) + 1):
        for some in itertools.combinations(left_open, count):
            pairs = list(itertools.zip_longest(sends, sorted(got + [(at, None) for at in some], key=lambda r: r[0])))
            if all(not (send and receive) or receive[1] in (send[1], None) for send, receive in pairs):
                return [(send, None if receive and receive[1] is None else receive) for send, receive in pairs]
    return list(itertools.zip_longest(sends, sorted(got)))


def main(path):
    kinds, last = collections.defaultdict(lambda: ([], [])), {}
    with otf2.reader.open(path) as trace:
        groups = [g for g in trace.definitions.location_groups if g.location_group_type == LocationGroupType.PROCESS]
        rank_of = {g: int(g.name.split()[-1]) for g in groups}
        posted, number = {}, itertools.count()
        for location, event in trace.events:
            kind = type(event)
            if location.group not in rank_of:
                continue
            rank = rank_of[location.group]
            last[rank] = event.time
            if kind is MpiIrecvRequest:
                posted[rank, event.request_id] = next(number)
            elif kind in (MpiSend, MpiIsend):
                key = event.communicator, rank, event.receiver, event.msg_tag
                kinds[key][0].append((next(number), event.msg_length, event.time))
            elif kind in (MpiRecv, MpiIrecv):
                key = event.communicator, event.sender, rank, event.msg_tag
                at = next(number) if kind is MpiRecv else posted.pop((rank, event.request_id))
                kinds[key][1].append((at, event.msg_length, event.time))
    open_of = {rank: [at for (of, _), at in posted.items() if of == rank] for rank in rank_of.values()}
    pairs = itertools.chain(*(paired(sends, got, open_of[kind[2]]) for kind, (sends, got) in kinds.items()))
    stop = min(last.values(), default=0)
    late = lambda pair: not all(pair) and any(side and side[2:] and side[2] > stop for side in pair)
    print(*('+' * late(pair) + ':'.join(str(side[1]) for side in pair if side) for pair in pairs if any(pair)))


for name in sys.argv[1:]:
    main(name)

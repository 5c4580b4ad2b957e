#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints an archive's events as python3-otf2 reads them, for tests that judge them without our own reader.

    otf2_events.py traces.otf2

One event a line, by time: what (enter, leave, sample, send, receive, collective), nanoseconds since the archive's
begin, rank, location and then: of enter and leave the region, of samples the calling context, outermost first, with
source lines; of the others the communicator's number and, for messages, the other rank in it, tag and bytes. A
non-blocking receive has its line where it ended. A sample is a value of the metric "CPU time"; in an archive of calling
contexts it is a record of its own, and what is entered and left are the contexts' regions.
"""
import sys

import otf2
from otf2.enums import LocationGroupType
from otf2.events import (
    CallingContextEnter,
    CallingContextLeave,
    CallingContextSample,
    Enter,
    Leave,
    Metric,
    MpiCollectiveEnd,
    MpiIrecv,
    MpiIsend,
    MpiRecv,
    MpiSend,
)


def path_of(context):
    frames = []
    while context:
        at = context.source_code_location
        frames.append('{}:{}'.format(context.region.name, at.line_number) if at else context.region.name)
        context = context.parent
    return ' > '.join(reversed(frames))


def sampled(event):
    """The calling context of a value of the samples' metric; None: it is of another one."""
    members = getattr(event.metric, 'members', ())
    if [m.name for m in members] != ['CPU time']:
        return None
    return next((value for key, value in (event.attributes or {}).items() if key.name == 'fvmpi::call_path'), None)


def main(path):
    out = sys.stdout
    with otf2.reader.open(path) as trace:
        clock = trace.definitions.clock_properties
        ns = 1e9 / trace.timer_resolution
        groups = [g for g in trace.definitions.location_groups if g.location_group_type == LocationGroupType.PROCESS]
        rank_of = {g: int(g.name.split()[-1]) for g in groups}
        number = {}
        for location, event in trace.events:
            kind = type(event)
            if kind in (Enter, Leave):
                rest = event.region.name
                what = 'enter' if kind is Enter else 'leave'
            elif kind in (CallingContextEnter, CallingContextLeave):
                rest = event.calling_context.region.name
                what = 'enter' if kind is CallingContextEnter else 'leave'
            elif kind is CallingContextSample:
                rest = path_of(event.calling_context)
                what = 'sample'
            elif kind is Metric and sampled(event):
                rest = path_of(sampled(event))
                what = 'sample'
            elif kind in (MpiSend, MpiIsend, MpiRecv, MpiIrecv):
                comm = number.setdefault(id(event.communicator), len(number))
                sends = kind in (MpiSend, MpiIsend)
                peer = event.receiver if sends else event.sender
                rest = '{} {} {} {}'.format(comm, peer, event.msg_tag, event.msg_length)
                what = 'send' if sends else 'receive'
            elif kind is MpiCollectiveEnd:
                rest = str(number.setdefault(id(event.communicator), len(number)))
                what = 'collective'
            else:
                continue
            out.write(
                '{} {:.0f} {} {} {}\n'.format(
                    what,
                    (event.time - clock.global_offset) * ns,
                    rank_of[location.group],
                    location.name.replace(' ', '_'),
                    rest,
                )
            )


main(sys.argv[1])

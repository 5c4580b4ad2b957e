#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what an archive has of collective operations and of files as python3-otf2 reads it, for tests that judge it
without our own reader. JSON:

    otf2_operations.py traces.otf2

collectives: [row, begin, end, region, communicator, number in it or null, members, sent, received] of each call: it
begins and ends as the region in which it began, or, of a non-blocking one, when it is complete. The number is null
where not all members depend on each other, or it is not known. On a window, in place of the communicator there is the
window, once for fences and once for what makes and frees it. io: [row, begin, end, file, interface, kind, bytes or
null]: what is begun and completed; all else ends with its event and begins with the region around it. Times: ns.
"""
import json
import sys

import otf2
from otf2.enums import CollectiveOp, IoOperationMode
from otf2.events import (
    Enter,
    IoCreateHandle,
    IoDestroyHandle,
    IoOperationBegin,
    IoOperationComplete,
    IoSeek,
    Leave,
    MpiCollectiveBegin,
    MpiCollectiveEnd,
    NonBlockingCollectiveComplete,
    NonBlockingCollectiveRequest,
    RmaCollectiveBegin,
    RmaCollectiveEnd,
)

KINDS = {IoOperationMode.READ: 'read', IoOperationMode.WRITE: 'write', IoOperationMode.FLUSH: 'other'}


class Row:
    def __init__(self, number):
        self.number = number
        self.stack, self.begun, self.io = [], {}, {}
        self.counts = {}  # by communicator: collective operations that began
        self.collective = None  # of the call that is open: those of which a call began one


class Reading:
    def __init__(self):
        self.collectives, self.io = [], []
        self.order = []  # of each row, calls in the order in which they began: what they are numbered by

    def collective(self, row, call, event, end):
        comm = event.communicator
        call += [id(comm), len(comm.group.members), event.size_sent, event.size_received]
        call.append(event.collective_op == CollectiveOp.DESTROY_HANDLE or 'eighbor' in call[1])
        call.append(end)

    def of_window(self, call, event, end):
        of = '{} {}'.format(id(event.win), event.collective_op == CollectiveOp.BARRIER)
        members = len(event.win.comm.group.members)
        call += [of, members, event.bytes_sent, event.bytes_received, False, end]

    def take(self, row, event, ns):
        kind = type(event)
        if kind is Enter:
            row.stack.append([ns, event.region.name, []])
        elif kind is Leave:
            for call in row.stack.pop()[2]:
                call[-1] = ns  # it ends with its region
        elif kind in (MpiCollectiveBegin, RmaCollectiveBegin):
            row.collective = [row.stack[-1][0], row.stack[-1][1]]
            self.order.append((row.number, row.collective))
        elif kind in (MpiCollectiveEnd, RmaCollectiveEnd):
            if kind is MpiCollectiveEnd:
                self.collective(row, row.collective, event, ns)
            else:
                self.of_window(row.collective, event, ns)
            row.stack[-1][2].append(row.collective)
        elif kind is NonBlockingCollectiveRequest:
            row.begun[event.request_id] = [row.stack[-1][0], row.stack[-1][1]]
            self.order.append((row.number, row.begun[event.request_id]))
        elif kind is NonBlockingCollectiveComplete:
            self.collective(row, row.begun.pop(event.request_id), event, ns)
        else:
            self.file(row, event, ns)

    def file(self, row, event, ns):
        kind = type(event)
        if kind is IoOperationBegin:
            row.io[id(event.handle), event.matching_id] = (ns, KINDS[event.mode])
        elif kind is IoOperationComplete:
            begin, what = row.io.pop((id(event.handle), event.matching_id))
            size = None if event.bytes_result == 2**64 - 1 else event.bytes_result
            self.add_io(row, begin, ns, event.handle, what, size)
        elif kind in (IoCreateHandle, IoDestroyHandle, IoSeek):
            begin = row.stack[-1][0] if row.stack else ns
            self.add_io(row, begin, ns, event.handle, 'open' if kind is IoCreateHandle else 'other', None)

    def add_io(self, row, begin, ns, handle, what, size):
        self.io.append([row.number, begin, ns, handle.file.name, handle.io_paradigm.name, what, size])

    def numbered(self):
        counts = {}
        for row, call in self.order:
            if len(call) < 8:  # it did not end
                continue
            begin, region, comm, members, sent, received, alone, end = call
            number = counts[row, comm] = counts.get((row, comm), 0) + 1
            yield [row, begin, end, region, comm, None if alone else number, members, sent, received]


def main(path):
    with otf2.reader.open(path) as trace:
        clock = trace.definitions.clock_properties
        locations = sorted(trace.definitions.locations, key=lambda location: location._ref)
        rows = {location: Row(number) for number, location in enumerate(locations)}
        reading = Reading()
        for location, event in trace.events:
            ns = (event.time - clock.global_offset) * 10**9 // trace.timer_resolution
            reading.take(rows[location], event, ns)
        json.dump({'collectives': list(reading.numbered()), 'io': reading.io}, sys.stdout)


main(*sys.argv[1:])

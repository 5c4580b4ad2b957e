# SPDX-License-Identifier: BSD-3-Clause
"""What `fvmpi report DIR --json -` said, with words to say what it should have said.

    report = Report(json.loads(text))
    report.sane()
    site = report.callsite('MPI_Send', inside='exchange')
    site.expect(count=[3, 0], sent=[120, 0])         a value for each rank, or one number for all
    site.wait(rank=1, seconds=0.2, within=0.02)

Every word raises Mismatch (an AssertionError) that says what was wanted and what was found. A call site
is named by the MPI function, by the function that calls it (`inside`) and, where that is not enough, by
`through`, further functions that must stand in this order on the way out to main. Frames of inlined
functions count as frames.
"""
import functools
import os
import re


class Mismatch(AssertionError):
    pass


def check(condition, message, *values):
    if not condition:
        raise Mismatch(message.format(*values))


def problems(report):
    """What the report says of the recording, without what it says of any program: that it has no debug information, or
    that a sample came while the interpreter changed its frames."""
    of_programs = ('has no debug information', 'frames of Python could not be read')
    return [p for p in report['problems'] if not any(words in p['text'] for words in of_programs)]


def refused(kind, call):
    """The error that a call raises."""
    try:
        call()
    except kind as why:
        return why
    return check(False, 'no {}', kind.__name__)


def equal(what, found, wanted):
    check(found == wanted, '{}: found {}, wanted {}', what, found, wanted)


def close(what, found, wanted, within):
    check(
        isinstance(found, (int, float)) and abs(found - wanted) <= within,
        '{}: found {}, wanted {:.6f} +- {:.6f}',
        what,
        found,
        wanted,
        within,
    )


def has_parts(value):
    return isinstance(value, (dict, list))


def nulls(schema, data, where='', root=None):
    """Places of the data that are null where the JSON Schema does not allow it. Not a judge of all of a schema, and so
    needs no package."""
    root = root or schema
    schema = root['$defs'][schema['$ref'].rsplit('/', 1)[1]] if '$ref' in schema else schema
    if data is None:
        return [] if 'null' in schema.get('type', ['null']) else [where]
    if isinstance(data, dict) and 'prefixItems' in schema.get('properties', {}).get('rows', {}).get('items', {}):
        rows = schema['properties']['rows']['items']['prefixItems']
        may_not = [nulls(of, None, where, root) for of in rows]
        return [
            '{}[{}].{}'.format(where, i, column)
            for i, row in enumerate(data['rows'])
            if None in row
            for column, of, value, wrong in zip(data['columns'], rows, row, may_not)
            if (wrong if value is None else has_parts(value) and nulls(of, value, where, root))
        ]
    if isinstance(data, dict):
        other = schema.get('additionalProperties') or {}
        return [
            place
            for key, value in data.items()
            if value is None or has_parts(value)
            for place in nulls(schema.get('properties', {}).get(key, other), value, where + '.' + key, root)
        ]
    if isinstance(data, list):
        return [
            place
            for i, value in enumerate(data)
            if value is None or has_parts(value)
            for place in nulls(schema.get('items') or {}, value, '{}[{}]'.format(where, i), root)
        ]
    return []


@functools.lru_cache(None)
def plain(name):
    """Without its arguments: `work::Grid<int>::exchange(int)` -> `work::Grid<int>::exchange`."""
    if not name:
        return name
    name = name.replace('(anonymous namespace)', '{anonymous}').replace('operator()', 'operator{}')
    return re.sub(r'^\S+ (?=\S*::)', '', re.sub(r'(?<=[^(])\(.*$', '', name))


def plainly(data):
    """{"columns": [...], "rows": [[...], ...]} as a list of {column: value}."""
    if isinstance(data, dict) and len(data) == 2 and 'columns' in data and 'rows' in data:
        return [dict(zip(data['columns'], row)) for row in data['rows']]
    if isinstance(data, dict):
        return {key: plainly(value) if has_parts(value) else value for key, value in data.items()}
    return [plainly(value) for value in data] if isinstance(data, list) else data


class Site:
    def __init__(self, data, ranks):
        self.data = data
        self.ranks = ranks
        self.by_rank = {row['rank']: row for row in data['per_rank']}

    def __str__(self):
        return '{} <- {}'.format(self.data['function'], ' <- '.join(map(str, self.names)))

    @property
    def function(self):
        return self.data['function']

    @property
    def path(self):
        return self.data['path']

    @property
    def names(self):
        return [plain(frame['function']) for frame in self.path]

    def matches(self, function, inside, through):
        if function is not None and self.function != function:
            return False
        names = self.names
        if inside is not None and names[:1] != [inside]:
            return False
        at = 1
        for name in through:
            if name not in names[at:]:
                return False
            at = names.index(name, at) + 1
        return True

    def on(self, rank, key):
        """What one rank has here; a rank that never came by may be missing."""
        return self.by_rank[rank][key] if rank in self.by_rank else 0

    def each(self, key):
        return [self.on(rank, key) for rank in range(self.ranks)]

    def expect(self, **wanted):
        """count=, sent=, received=: a list with a value for each rank, or one for all of them."""
        keys = {'count': 'count', 'sent': 'bytes_sent', 'received': 'bytes_received'}
        for word, value in wanted.items():
            values = list(value) if isinstance(value, (list, tuple)) else [value] * self.ranks
            equal('{}: {} of each rank'.format(self, word), self.each(keys[word]), values)
            total = {'count': 'count', 'sent': 'bytes_sent', 'received': 'bytes_received'}[word]
            equal('{}: {} in all'.format(self, word), self.data[total], sum(values))

    def wait(self, rank, seconds, within):
        close('{}: wait of rank {}'.format(self, rank), self.on(rank, 'wait_s'), seconds, within)

    def consistent(self, lossy=False):
        """What must hold of every call site; lossy: paths may have been lost with a full disk or budget."""
        d, rows = self.data, self.data['per_rank']
        where = str(self)
        equal(where + ': ranks named once', len(self.by_rank), len(rows))
        check(
            set(self.by_rank) <= set(range(self.ranks)), '{}: ranks {} of {}', where, sorted(self.by_rank), self.ranks
        )
        for total, part in (('count', 'count'), ('bytes_sent', 'bytes_sent'), ('bytes_received', 'bytes_received')):
            equal('{}: {} against the sum over ranks'.format(where, total), d[total], sum(r[part] for r in rows))
        time = d['time']
        close(
            where + ': time against the sum over ranks',
            time['sum_s'],
            sum(r['time_sum_s'] for r in rows),
            1e-6 + 1e-6 * time['sum_s'],
        )
        check(d['count'] > 0, '{}: count {}', where, d['count'])
        close(where + ': mean', time['mean_s'], time['sum_s'] / d['count'], 1e-9 + 1e-6 * time['mean_s'])
        check(
            0 <= time['min_s'] <= time['mean_s'] * (1 + 1e-9) + 1e-12
            and time['mean_s'] <= time['max_s'] * (1 + 1e-9) + 1e-12,
            '{}: min, mean, max {}',
            where,
            time,
        )
        check(0 <= time['stddev_s'] <= (time['max_s'] - time['min_s']) + 1e-9, '{}: deviation {}', where, time)
        wait = d['wait_s']
        if wait is not None:
            check(-1e-9 <= wait <= time['sum_s'] + 1e-6, '{}: waits {} of {}', where, wait, time['sum_s'])
            close(where + ': wait against the sum over ranks', wait, sum(r['wait_s'] or 0 for r in rows), 1e-6)
            if wait > 0:
                check(d['wait_kind'] in ('exact', 'estimate'), '{}: wait_kind {}', where, d['wait_kind'])
        check(self.path or lossy, '{}: no path', where)

    def lines(self, sources):
        """Each frame in one of our sources must stand in a line that names what it calls there."""
        callee = self.function
        for frame in self.path:
            name = os.path.basename(frame['file'] or '')
            if name in sources:
                number = frame['line'] or 0
                check(0 < number <= len(sources[name]), '{}: {}:{} is no line', self, name, number)
                text = sources[name][number - 1]
                check(
                    callee in text or 'calls ' + callee in text,
                    '{}: {}:{} should call {} but is: {}',
                    self,
                    name,
                    number,
                    callee,
                    text.strip(),
                )
            callee = re.sub(r'<.*?>', '', plain(frame['function']) or '?').split('::')[-1].replace('{}', '()')


class Report:
    def __init__(self, data):
        self.data = data = plainly(data)
        self.ranks = data['run']['rank_count']
        self.sites = [Site(d, self.ranks) for d in data['callsites']]

    def rank(self, rank):
        found = [r for r in self.data['ranks'] if r['rank'] == rank]
        equal('entries of rank {}'.format(rank), len(found), 1)
        return found[0]

    def callsites(self, function=None, inside=None, through=()):
        return [s for s in self.sites if s.matches(function, inside, through)]

    def callsite(self, function, inside=None, through=()):
        found = self.callsites(function, inside, through)
        if len(found) != 1:
            near = [str(s) for s in self.sites if s.function == function][:8]
            raise Mismatch(
                '{} inside {}: {} call sites instead of one; of this function there are:\n  {}'.format(
                    function, ' <- '.join(map(str, (inside,) + tuple(through))), len(found), '\n  '.join(near) or 'none'
                )
            )
        return found[0]

    def total(self, function, key='count', rank=None):
        sites = self.callsites(function)
        return sum(s.data[key] if rank is None else s.on(rank, key) for s in sites)

    def dropped(self, rank):
        value = self.rank(rank)['dropped']
        return sum(value.values()) if isinstance(value, dict) else value

    def sampled(self, metric='cpu_time_s'):
        """Functions that were sampled, each with its numbers of this metric."""
        return [{**f['metrics'][metric], **f} for f in self.data['functions'] if metric in f['metrics']]

    # ---- the whole report

    KEYS = (
        'schema run ranks callsites histograms matrix communicators efficiency timeline functions locks '
        'sections io memory sensors findings counters noise'
    ).split()

    def shape(self, ranks=None, threaded=False):
        """The contract's keys, and sums that must agree whatever happened to the run. The times of a rank
        are its main thread's, so where other threads call MPI (threaded) its call sites have more."""
        equal('schema', self.data['schema'], 'fvmpi-profile-2')
        equal('missing keys', [k for k in self.KEYS if k not in self.data], [])
        equal(
            'missing keys of run',
            [
                k
                for k in ('command', 'mpi', 'rank_count', 'complete', 'start', 'elapsed_s')
                if k not in self.data['run']
            ],
            [],
        )
        if ranks is not None:
            equal('run.rank_count', self.ranks, ranks)
            equal('ranks', sorted(r['rank'] for r in self.data['ranks']), list(range(ranks)))
        ids = [s.data['id'] for s in self.sites]
        equal('call site ids that occur twice', len(ids) - len(set(ids)), 0)
        same = [str(s) + ' ' + str([(f['module'], f['offset']) for f in s.path]) for s in self.sites]
        equal('call sites that occur twice', sorted(set(x for x in same if same.count(x) > 1)), [])
        lossy = any(self.dropped(entry['rank']) for entry in self.data['ranks'])
        for site in self.sites:
            site.consistent(lossy)
        for entry in self.data['ranks']:
            r = entry['rank']
            inside = sum(s.on(r, 'time_sum_s') for s in self.sites)
            # a call that has not returned is in no call site; it counts while the rank lived
            pending = entry['in_call']['for_s'] if entry['in_call'] else 0
            if threaded:
                check(
                    0 < entry['mpi_time_s'] <= min(inside + pending, entry['app_time_s']) * 1.01,
                    'rank {}: mpi_time_s {} of {}, call sites {}, in a call for {}',
                    r,
                    entry['mpi_time_s'],
                    entry['app_time_s'],
                    inside,
                    pending,
                )
                continue
            slack = 1e-4 + 0.01 * inside
            check(
                inside - slack <= entry['mpi_time_s'] <= inside + pending + slack,
                'rank {}: mpi_time_s {}, call sites {}, in a call for {}',
                r,
                entry['mpi_time_s'],
                inside,
                pending,
            )
            waits = sum(s.on(r, 'wait_s') or 0 for s in self.sites)
            close('rank {}: wait_s against its call sites'.format(r), entry['wait_s'], waits, 1e-4 + 0.01 * waits)
        self.histogram_sums()

    def sane(self, ranks=None, program=None, threads=()):
        """... of a run that ended well and stayed within its budgets. All paths begin in main, which in a
        stripped `program` has no name; but for what functions named in `threads` call, which threads run."""
        self.shape(ranks)
        equal('run.complete', self.data['run']['complete'], True)
        for entry in self.data['ranks']:
            where = 'rank {}: '.format(entry['rank'])
            equal(where + 'state', entry['state'], 'finalized')
            equal(where + 'in_call', entry['in_call'], None)
            equal(where + 'dropped', self.dropped(entry['rank']), 0)
            check(entry['host'] and entry['pid'] > 0, where + 'host {}, pid {}', entry['host'], entry['pid'])
            check(
                0 < entry['mpi_time_s'] <= entry['app_time_s'] * 1.001,
                where + 'MPI {} of {}',
                entry['mpi_time_s'],
                entry['app_time_s'],
            )
            if not threads:  # a call is the last thing that is recorded
                outside, computing = entry['app_time_s'] - entry['mpi_time_s'], self.computing(entry['rank'])
                # the processor may be lost between two looks at the clock; and behind all regions a trace is written,
                # for as long as the disk takes
                lost = entry['ready_s'] or 0
                least = 0 if entry['trace'] else 0.99 * outside - 0.02 - lost
                check(
                    least <= computing <= outside * 1.001 + 1e-4 + lost,
                    where + '{} s between calls, {} s outside of MPI',
                    computing,
                    outside,
                )
        for site in self.sites:
            last = site.path[-1]
            if site.names[0] in threads:
                continue
            if program and last['function'] is None:
                equal('{}: module of the outermost frame'.format(site), os.path.basename(last['module']), program)
            else:
                equal('{}: outermost frame'.format(site), plain(last['function']), 'main')

    def computing(self, rank):
        """Seconds between calls, over all regions."""
        return sum(
            row['time_s']
            for region in self.data['waiting']['regions']
            for row in region['per_rank']
            if row['rank'] == rank
        )

    def region(self, before, behind):
        """Between calls inside these functions."""
        by_id = {s.data['id']: s for s in self.sites}
        found = [
            r
            for r in self.data['waiting']['regions']
            if r['from_callsite_id'] is not None
            and (by_id[r['from_callsite_id']].function, by_id[r['from_callsite_id']].names[0]) == before
            and (by_id[r['callsite_id']].function, by_id[r['callsite_id']].names[0]) == behind
        ]
        equal('regions from {} to {}'.format(before, behind), len(found), 1)
        return found[0]

    def histogram_sums(self):
        """The size histograms hold every byte that the call sites hold."""
        for direction in ('sent', 'received'):
            wanted = {}
            for s in self.sites:
                wanted[s.function] = wanted.get(s.function, 0) + s.data['bytes_' + direction]
            found = {f: sum(b['bytes'] for b in buckets) for f, buckets in self.histogram(direction).items()}
            equal(
                'bytes {} in the histograms'.format(direction),
                {f: n for f, n in found.items() if n},
                {f: n for f, n in wanted.items() if n},
            )

    def histogram(self, direction):
        """{function: [{'bytes', 'count', 'time_s', low_bytes, high_bytes}]}"""
        return {h['function']: h[direction] for h in self.data['histograms']}

    def matrix(self):
        found = {}
        for source, target, messages, volume in (row.values() for row in self.data['matrix']):
            check((source, target) not in found, 'matrix: {} -> {} occurs twice', source, target)
            found[source, target] = (messages, volume)
        return found

    def traffic(self, wanted):
        """wanted: {(from, to): (messages, bytes)}, world ranks; all that is not 0."""
        equal('matrix', sorted(self.matrix().items()), sorted(wanted.items()))

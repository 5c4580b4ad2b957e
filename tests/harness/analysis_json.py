# SPDX-License-Identifier: BSD-3-Clause
"""analysis.json as tests ask it; share/analysis.md."""
import json
import os

from report import check, close, equal, plain

EFFICIENCIES = ('parallel', 'load_balance', 'communication', 'serialization', 'transfer')


def waiting(kinds):
    """Without completions, in which nobody is waited for."""
    return sum(seconds for kind, seconds in kinds.items() if not kind.endswith('_completion'))


class Analysis:
    def __init__(self, directory):
        with open(os.path.join(directory, 'analysis.json')) as f:
            self.data = json.load(f)
        equal('schema', self.data['schema'], 'fvmpi-analysis-1')
        self.site_by_id = {site['id']: site for site in self.data['callsites']}
        self.ranks = self.data['run']['ranks']

    def inside(self, case, functions=None):
        """The call sites in function `case`, all or those that call one of `functions`."""
        return [
            s
            for s in self.data['callsites']
            if s['path']
            and plain(s['path'][0]['function']) == case
            and (functions is None or s['function'] in functions)
        ]

    def kind(self, sites, rank, kind):
        return sum(row['kinds'].get(kind, 0) for s in sites for row in s['per_rank'] if row['rank'] == rank)

    def waits(self, sites, rank, without=()):
        return sum(
            row['wait_s'] - sum(row['kinds'].get(k, 0) for k in without)
            for s in sites
            for row in s['per_rank']
            if row['rank'] == rank
        )

    def caused(self, sites, rank, kind, cause_sites, cause):
        """How long and how often `rank` waited in `sites` for `cause` in `cause_sites`."""
        ids, causes = {s['id'] for s in sites}, {s['id'] for s in cause_sites}
        rows = [
            w
            for w in self.data['waits']
            if (w['kind'], w['rank'], w['cause_rank']) == (kind, rank, cause)
            and w['callsite'] in ids
            and w['cause_callsite'] in causes
        ]
        return sum(w['wait_s'] for w in rows), sum(w['count'] for w in rows)

    def delays(self, sites, rank, where='computing', key='cost_s'):
        ids = {s['id'] for s in sites}
        return sum(
            d[key] for d in self.data['delays'] if (d['rank'], d['where']) == (rank, where) and d['callsite'] in ids
        )

    def critical(self, sites, rank):
        return sum(row['critical_s']['computing'] for s in sites for row in s['per_rank'] if row['rank'] == rank)

    def sums(self):
        """What must hold of every analysis."""
        d, sites = self.data, self.data['callsites']
        waits = sum(s['wait_s'] for s in sites)
        some = 1e-6 + 1e-6 * waits
        equal('ranks', [r['rank'] for r in d['ranks']], list(range(self.ranks)))
        for r in d['ranks']:
            where = 'rank {}: '.format(r['rank'])
            close(
                where + 'useful + wait + transfer',
                r['useful_s'] + r['wait_s'] + r['transfer_s'],
                r['elapsed_s'],
                0.01 * r['elapsed_s'],
            )
            close(where + 'wait + transfer', r['wait_s'] + r['transfer_s'], r['mpi_s'], some)
            check(min(r['useful_s'], r['wait_s'], r['transfer_s']) >= 0, where + 'negative: {}', r)
            for key in ('wait_s', 'caused_s'):
                close(
                    where + key,
                    sum(row[key] for s in sites for row in s['per_rank'] if row['rank'] == r['rank']),
                    r[key],
                    some,
                )
            before = sum(row['before_s'] for s in sites for row in s['per_rank'] if row['rank'] == r['rank'])
            check(before <= r['useful_s'] + some, where + 'computes {} before calls, {} in all', before, r['useful_s'])
            for key in ('delay_s', 'critical_s'):
                rows = [row[key] for s in sites for row in s['per_rank'] if row['rank'] == r['rank']]
                close(where + key, sum(row['computing'] + row['mpi'] for row in rows), r[key], some)
            check(r['elapsed_s'] <= d['run']['elapsed_s'] + some, where + 'longer than the run: {}', r['elapsed_s'])
        close('waits of all kinds', waiting({k['kind']: k['wait_s'] for k in d['kinds']}), waits, some)
        close('waits one by one', sum(w['wait_s'] for w in d['waits']) + d['waits_left_out']['wait_s'], waits, some)
        close(
            'causes',
            sum(r['caused_s'] for r in d['ranks']),
            sum(w['wait_s'] for w in d['waits'] if w['cause_rank'] is not None),
            some + d['waits_left_out']['wait_s'],
        )
        delays = sum(r['delay_s'] for r in d['ranks'])
        check(delays <= waits + some, 'charged {} of {} s waiting', delays, waits)
        close('charged and not explained', delays + d['unexplained_s'], waits, some)
        if len(d['delays']) < 1000:
            close('delays one by one', sum(row['cost_s'] for row in d['delays']), delays, some)
        for row in d['delays']:
            close('cost', row['direct_s'] + row['propagated_s'], row['cost_s'], some)
        length = d['critical_path']['length_s']
        close('critical path', sum(r['critical_s'] for r in d['ranks']), length, some)
        check(0 < length <= d['run']['elapsed_s'] + some, 'critical path of {} in {} s', length, d['run']['elapsed_s'])
        for s in sites:
            self.site_sums(s)
        for name in ('kinds', 'waits', 'delays'):
            values = [row.get('wait_s', row.get('cost_s')) for row in d[name]]
            equal(name + ': largest first', values, sorted(values, reverse=True))
        self.efficiencies()

    def site_sums(self, s):
        where = '{} {}: '.format(s['id'], s['function'])
        some = 1e-6 + 1e-6 * s['time_s']
        for key in ('count', 'time_s', 'wait_s', 'before_s', 'caused_s'):
            close(where + key, sum(row[key] for row in s['per_rank']), s[key], some)
        close(where + 'wait + transfer', s['wait_s'] + s['transfer_s'], s['time_s'], some)
        check(-some <= s['wait_s'] <= s['time_s'] + some, where + 'waits {} of {}', s['wait_s'], s['time_s'])
        close(where + 'kinds', waiting(s['kinds']), s['wait_s'], some)
        for row in s['per_rank']:
            close(where + 'kinds of rank {}'.format(row['rank']), waiting(row['kinds']), row['wait_s'], some)
        for key in ('delay_s', 'critical_s'):
            for part in ('computing', 'mpi'):
                close(where + key, sum(row[key][part] for row in s['per_rank']), s[key][part], some)
        check(s['imbalance_s'] <= s['critical_s']['computing'] + some, where + 'imbalance {}', s['imbalance_s'])

    def efficiencies(self):
        e = self.data['efficiency']
        for name in EFFICIENCIES:
            check(0 < e[name] <= 1 + 1e-6, '{} efficiency: {}', name, e[name])
        close('parallel efficiency', e['load_balance'] * e['communication'], e['parallel'], 1e-6)
        close('communication efficiency', e['serialization'] * e['transfer'], e['communication'], 1e-6)

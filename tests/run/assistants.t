#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs for scripts and assistants, of the experiments that tests/replay stores: fvmpi report --brief and --fail-if, fvmpi
explain, and fvmpi mcp, to which this script speaks the protocol as it is published."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + '/../harness')
import harness
from report import check, equal

REPLAY = os.path.join(HERE, '..', 'replay')
MOST = 2048  # bytes of a brief


def experiments(place):
    """Directories by name."""
    for packed in sorted(os.listdir(REPLAY)):
        if packed.endswith('.tar.xz'):
            with tarfile.open(os.path.join(REPLAY, packed)) as tar:
                tar.extractall(place)
    return {name: os.path.join(place, name) for name in sorted(os.listdir(place))}


def fvmpi(*words, rc=0):
    return harness.run([harness.FVMPI, *words]).ended(rc)


def of_json(directory):
    return json.loads(fvmpi('report', directory, '--json', '-').out)


def same_findings(name, brief, data):
    wanted = [{**f, 'file': f['file'] or None} for f in data['findings']]
    left = brief['findings_left_out']
    equal(name + ': findings', len(brief['findings']) + left, len(wanted))
    for found, finding in zip(brief['findings'], wanted):
        for key, value in found.items():
            text = finding[key]
            if isinstance(text, str):
                check(text.startswith(value) and (value == text or len(value) > 500), '{}: {}', key, value)
            else:
                equal('{}: {}'.format(name, key), value, text)
    return left


def brief(tap, runs):
    with tap.test('a brief has the findings of the report, in 2 KB'):
        all_left = 0
        for name, directory in runs.items():
            text, short = (
                fvmpi('report', directory, '--brief').out,
                fvmpi('report', directory, '--brief', '--json', '-').out,
            )
            data, found = of_json(directory), json.loads(short)
            for form in (text, short):
                check(len(form.encode()) <= MOST, '{}: {} bytes', name, len(form.encode()))
            all_left += same_findings(name, found, data)
            equal('schema', found['schema'], 'fvmpi-brief-1')
            equal('efficiency', found['parallel_efficiency'], (data['efficiency'] or {}).get('parallel'))
            equal('ranks', found['ranks'], len(data['ranks']))
            for finding in found['findings']:
                check('finding {}: {}'.format(finding['finding_id'], finding['title']) in text or all_left, '{}', text)
            first = fvmpi('report', directory, '--width', '3000', '--color', 'never').out.splitlines()[0]
            check(first.split(' (')[0][:60] in found['verdict'], '{}: {!r}, {!r}', name, first, found['verdict'])
    with tap.test('what was not recorded, by the option that records it'):
        found = json.loads(fvmpi('report', runs['profile'], '--brief', '--json', '-').out)['not_recorded']
        equal('io', found['io'], '--io')
        check({'--threads', '--memory', '--counters'} <= set(found.values()), '{}', found)
        found = json.loads(fvmpi('report', runs['threads'], '--brief', '--json', '-').out)['not_recorded']
        check('--threads' not in found.values(), '{}', found)
    with tap.test('a brief says that the report is incomplete'):
        cut = shutil.copytree(runs['profile'], os.path.join(harness.scratch('cut'), 'e'), symlinks=True)
        os.truncate(sorted(glob.glob(cut + '/*.fvr'))[-1], 20000)
        for directory, says in (runs['profile'], False), (cut, True):
            found = json.loads(fvmpi('report', directory, '--brief', '--json', '-').out)['incomplete']
            equal('truncated', 'truncated' in (found or ''), says)
            equal('as text', '\nincomplete: ' in fvmpi('report', directory, '--brief').out, found is not None)
    with tap.test('a brief is alone'):
        for more in ('--csv=x', '--html=x', '--table=run', '--text'):
            check('--brief' in fvmpi('report', runs['profile'], '--brief', more, rc=2).err, '{}', more)


def explain(tap, runs):
    with tap.test('each finding is explained, with its seconds and a table'):
        count = 0
        for name, directory in runs.items():
            for finding in of_json(directory)['findings']:
                done = fvmpi('explain', finding['finding_id'], directory, '--width', '200')
                text = done.out
                check(not done.err and '  0 rows' not in text, 'a table without rows: {} {}', text, done.err)
                check(finding['title'] in text and finding['text'][:40] in text, '{}: {}', finding['finding_id'], text)
                if finding['lost_s'] is not None:
                    check('{:.6g} s'.format(finding['lost_s']) in text, '{}: {}', finding, text)
                check('evidence: ' + finding['evidence'] in text and '--columns lists all' in text, '{}', text)
                count += 1
        check(count > 5, '{} findings', count)
    with tap.test('ids: one for each finding, and the same again'):
        for directory in runs.values():
            ids = [f['finding_id'] for f in of_json(directory)['findings']]
            equal('different', len(set(ids)), len(ids))
            equal('again', ids, [f['finding_id'] for f in of_json(directory)['findings']])
    with tap.test('a finding that the run has not'):
        names = [f['finding_id'] for f in of_json(runs['omp'])['findings']]
        said = fvmpi('explain', 'none', runs['omp'], rc=1).err
        check(all(name in said for name in names), '{}', said)


def fail_if(tap, runs):
    directory = runs['omp']
    data = of_json(directory)
    efficiency, finding = data['efficiency']['parallel'], data['findings'][0]
    judge = lambda *conditions, rc: fvmpi(
        'report', directory, '--brief', *['--fail-if=' + c for c in conditions], rc=rc
    ).err
    with tap.test('conditions: what holds, what does not'):
        key, share = finding['name'], finding['lost_share']
        for holds, fails in (
            ('parallel_efficiency<{}'.format(efficiency + 0.01), 'parallel_efficiency<{}'.format(efficiency - 0.01)),
            ('efficiency.parallel>{}'.format(efficiency - 0.01), 'efficiency.parallel>{}'.format(efficiency + 0.01)),
            ('{}>{}'.format(key, share - 0.01), '{}>{}'.format(key, share + 0.01)),
            ('rank_count>=2', 'rank_count>=3'),
        ):
            check(holds in judge(holds, rc=3), '{}', holds)
            equal(fails, judge(fails, rc=0), '')
            check(holds in judge(fails, holds, rc=3), '{}', holds)
        equal('a finding that is not there', judge('far_memory>0', rc=0), '')
    with tap.test('conditions: not known, and wrong ones'):
        check('not known' in judge('transfer<0.5', rc=1), 'a trace knows it')
        for wrong in ('parallel', 'parallel=1', 'parallel<', '<3', 'parallel<x', 'nothing_like_it<1'):
            check('--fail-if' in judge(wrong, rc=2), '{}', wrong)
        check('did you mean parallel' in judge('paralel<1', rc=2), 'no suggestion')


# ---- the protocol ----


class Client:
    def __init__(self, *directories):
        self.process = subprocess.Popen(
            [harness.FVMPI, 'mcp', *directories],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=harness.environment(),
        )
        self.count = 0

    def send(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b'\n')
        self.process.stdin.flush()

    def answer(self):
        message = json.loads(self.process.stdout.readline())
        equal('version', message['jsonrpc'], '2.0')
        return message

    def ask(self, method, **parameters):
        self.count += 1
        self.send({'jsonrpc': '2.0', 'id': self.count, 'method': method, 'params': parameters})
        message = self.answer()
        equal('id', message['id'], self.count)
        return message

    def tool(self, name, **arguments):
        return self.ask('tools/call', name=name, arguments=arguments)

    def text(self, name, **arguments):
        result = self.tool(name, **arguments)['result']
        equal('{} {}'.format(name, result), result['isError'], False)
        (content,) = result['content']
        equal('type', content['type'], 'text')
        return content['text']

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        status = self.process.wait(harness.LIMIT)
        equal('end', (status, rest), (0, b''))


def protocol(tap, place, runs):
    client = Client(place)
    with tap.test('mcp: an introduction, and tools with schemas'):
        result = client.ask('initialize', protocolVersion='2025-03-26', capabilities={}, clientInfo={'name': 't'})[
            'result'
        ]
        equal('version', result['protocolVersion'], '2025-03-26')
        check('tools' in result['capabilities'] and result['serverInfo']['name'] == 'fvmpi', '{}', result)
        client.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})  # which has no answer
        equal('ping', client.ask('ping')['result'], {})
        tools = client.ask('tools/list')['result']['tools']
        for tool in tools:
            equal('readOnlyHint', tool['annotations'], {'readOnlyHint': True})
            schema = tool['inputSchema']
            check(set(schema['required']) <= set(schema['properties']) and tool['description'], '{}', tool)
    with tap.test('mcp: what the commands say'):
        listed = client.text('runs').split()
        equal('runs', sorted(listed), sorted(os.path.realpath(run) for run in runs.values()))
        ours = json.loads(client.text('brief', experiment='omp'))
        equal('brief', ours, json.loads(fvmpi('report', runs['omp'], '--brief', '--json', '-').out))
        check(
            'what it is' in client.text('explain', experiment='omp', finding=ours['findings'][0]['finding_id']),
            'explain',
        )
        rows = json.loads(
            client.text('table', experiment=runs['omp'], table='ranks', columns='rank,state', where=['rank=1'])
        )
        equal('rows', (rows['columns'], [row[0] for row in rows['rows']]), (['rank', 'state'], [1]))
        check('mpi_functions' in client.text('tables') and 'cpu_s' in client.text('columns', table='ranks'), 'tables')
        check('Findings' in client.text('report', experiment='omp'), 'report')
        check(client.text('diff', a='openmpi', b='profile'), 'diff')
        select = '-- by SQL\nSELECT rank, state FROM ranks WHERE rank = 1'
        rows = json.loads(client.text('query', experiment='omp', select=select))
        equal('SQL', (rows['columns'], rows['complete'], rows['rows'][0][0]), (['rank', 'state'], True, 1))
        for wrong in ("ATTACH 'x' AS y", '--help', 'DELETE FROM ranks', 'SELECT nothing'):
            said = client.tool('query', experiment='omp', select=wrong)['result']
            check(said['isError'] and 'usage' not in said['content'][0]['text'], '{}: {}', wrong, said)
        refused = client.tool('explain', experiment='omp', finding='none')['result']
        equal(
            'a tool that fails says why',
            (refused['isError'], 'no such finding' in refused['content'][0]['text']),
            (True, True),
        )
    with tap.test('mcp: nothing outside, no options, no other parameters'):
        os.symlink('/', os.path.join(place, 'away'))
        for arguments in (
            {'experiment': '/etc'},
            {'experiment': '..'},
            {'experiment': 'away/etc'},
            {'experiment': 'none'},
            {'experiment': 'omp', 'finding': '--help'},
            {'experiment': 'omp', 'finding': 'x', 'output': 'y'},
            {'finding': 'x'},
            {'experiment': 7, 'finding': 'x'},
        ):
            message = client.tool('explain', **{'finding': 'x', **arguments})
            equal(str(arguments), message['error']['code'], -32602)
        equal('a longer name', client.tool('brief', experiment=place + 'x')['error']['code'], -32602)
    with tap.test('mcp: what is no message, or no method'):
        for data, code in (
            (b'{"jsonrpc": "2.0", "id": 1,\n', -32700),
            (b'\xff\xfe\x00\n', -32700),
            (b'[]\n', -32600),
            (b'3\n', -32700),
            (b'{"jsonrpc": "2.0", "id": 1}\n', -32600),
            (b'{"a": "' + b'x' * (1 << 20) + b'"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}\n', -32601),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}\n', -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}\n', -32602),
            (
                b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tables", "arguments": 1}}\n',
                -32602,
            ),
        ):
            client.send(data)
            equal(str(data[:60]), client.answer()['error']['code'], code)
        equal('goes on', client.ask('ping')['result'], {})
    with tap.test('mcp: two requests at once are answered in turn; it ends with its input'):
        two = [{'jsonrpc': '2.0', 'id': i, 'method': 'ping'} for i in ('a', 'b')]
        client.send(b''.join(json.dumps(m).encode() + b'\n' for m in two))
        equal('answers', [client.answer()['id'] for _ in two], ['a', 'b'])
        client.end()


def main():
    tap = harness.Tap()
    place = harness.scratch('runs')
    runs = experiments(place)
    brief(tap, runs)
    explain(tap, runs)
    fail_if(tap, runs)
    protocol(tap, place, runs)
    tap.done()


main()

#!/usr/bin/env python3
"""fvmpi live: who may ask, and for what; samples, interval, labels, /metrics; its end."""
import json
import os
import signal
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'mpi'))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'sensors'))
import harness
from report import check, equal
from trees import NODE, tree


def ask(base, path, token, method='GET', data=None, **headers):
    request = urllib.request.Request(base + path + '?token=' + token, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def main():
    tap = harness.Tap()
    process = harness.start([harness.FVMPI, 'live', '-i', '0.05', 'net.rx_bytes', 'meminfo.MemTotal'], env={'FVMPI_SENSORS_ROOT': tree(NODE)})
    address = process.stdout.readline().decode().split()
    if not address:
        with tap.test('live'):
            err = harness.finish(process).err
            if 'libmicrohttpd' in err:
                raise harness.Skip(err.strip())
            check(False, '{}', err)
        return tap.done()
    base, token = address[0].split('/?token=')
    host = base.split('//')[1]
    for what, wanted, given in (('no token', 403, {'token': ''}), ('another token', 403, {'token': '0' * 32}), ('good', 200, {}), ('foreign Host', 403, {'Host': 'evil'}),
                                ('foreign Origin', 403, {'Origin': 'http://evil'}), ('our Origin', 200, {'Origin': 'http://' + host}), ('PUT', 405, {'method': 'PUT'}),
                                ('traversal', 404, {'path': '/../../etc/passwd'}), ('GET of control', 405, {'path': '/control'})):
        with tap.test(what):
            equal(what, ask(base, given.pop('path', '/'), given.pop('token', token), given.pop('method', 'GET'), **given)[0], wanted)
    with tap.test('commands'):
        for command, wanted in ((b'interval 0.02', 200), (b'interval 0.001', 400), (b'label here', 200), (b'watch no.such', 400), (b'watch vmstat.pgfault', 200), (b'rotate', 400)):
            equal(command, ask(base, '/control', token, 'POST', command)[0], wanted)
    with tap.test('what is kept'):
        lines = harness.wait_until(lambda: (lambda l: l if len(l) > 20 else None)([json.loads(t) for t in ask(base, '/record', token)[1].splitlines()]), what='samples')
        equal('values', {len(line['values']) for line in lines if 'values' in line}, {3})
        equal('gauge', {line['values'][1] for line in lines if 'values' in line and line['values'][1] is not None}, {2048 * 1024})
        equal('labels', [line['label'] for line in lines if 'label' in line], ['here'])
    with tap.test('metrics'):
        text = ask(base, '/metrics', token)[1]
        check('fvmpi_net_rx_bytes_total{source="eth0"} 1000\n' in text and text.endswith('# EOF\n'), '{}', text)
    with tap.test('it ends'):
        os.kill(process.pid, signal.SIGINT)
        harness.finish(process).ended(0)
    tap.done()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that are not here: a script starts ranks below a process of that name on each of two "nodes", with the
environment that the launcher is documented to set. All ranks of a launch come to one experiment; those of another
launch, at the same time, to one of their own."""
import glob
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import check, equal

RANKS = 4


class Launch:
    """One mpiexec: the n-th of job J."""

    def __init__(self, nodes, n, job):
        self.nodes, self.n, self.job = nodes, n, job
        self.per_node = RANKS // nodes

    def places(self):
        return [(r, r // self.per_node, r % self.per_node) for r in range(RANKS)]


# Each gives the names of the processes above the ranks of a node, the outermost first, with their arguments, and the
# variables of a rank.


def slurm(l, rank, node, local):
    return [['slurmstepd']], {
        'SLURM_JOB_ID': l.job,
        'SLURM_STEP_ID': l.n,
        'SLURM_PROCID': rank,
        'SLURM_NTASKS': RANKS,
        'SLURM_LOCALID': local,
        'SLURM_NODEID': node,
        'SLURM_NNODES': 2,
        'SLURM_STEP_NUM_NODES': l.nodes,
        'SLURM_STEP_NUM_TASKS': RANKS,
    }


def slurm_pmi2(l, rank, node, local):
    above, env = slurm(l, rank, node, local)
    return above, dict(env, PMI_FD=11, PMI_RANK=rank, PMI_SIZE=RANKS, PMI_JOBID='{}.{}'.format(l.job, l.n))


def slurm_pmix(l, rank, node, local):
    above, env = slurm(l, rank, node, local)
    return above, dict(env, PMIX_NAMESPACE='slurm.pmix.{}.{}'.format(l.job, l.n), PMIX_RANK=rank)


def pals(l, rank, node, local):
    return [['palsd']], {
        'PALS_APID': '{:08d}-0000-4{:03d}-8000-000000000000'.format(l.job, l.n),
        'PALS_RANKID': rank,
        'PALS_NODEID': node,
        'PALS_LOCAL_RANKID': local,
        'PALS_DEPTH': 1,
        'PMI_RANK': rank,
        'PMI_SIZE': RANKS,
        'PMI_LOCAL_RANK': local,
        'PMI_LOCAL_SIZE': l.per_node,
        'PMI_CONTROL_PORT': 20000 + l.n,
        'PBS_JOBID': '{}.login'.format(l.job),
    }


def jsrun(l, rank, node, local):
    return [['jsmd']], {
        'LSB_JOBID': l.job,
        'JSM_NAMESPACE_RANK': rank,
        'JSM_NAMESPACE_SIZE': RANKS,
        'JSM_NAMESPACE_LOCAL_RANK': local,
        'JSM_NAMESPACE_LOCAL_SIZE': l.per_node,
        'PMIX_NAMESPACE': l.n,
        'PMIX_RANK': rank,
        'OMPI_COMM_WORLD_RANK': rank,
        'OMPI_COMM_WORLD_SIZE': RANKS,
        'OMPI_COMM_WORLD_LOCAL_RANK': local,
        'OMPI_COMM_WORLD_LOCAL_SIZE': l.per_node,
    }


def of_hydra(l, rank, local):
    return {'PMI_RANK': rank, 'PMI_SIZE': RANKS, 'PMI_FD': 9, 'MPI_LOCALRANKID': local, 'MPI_LOCALNRANKS': l.per_node}


def hydra(l, rank, node, local):
    port = 'login:{}'.format(30000 + 10 * l.job + l.n)
    return (
        [['hydra_pmi_proxy', '--control-port', port, '--rmk', 'user', '--proxy-id', str(node)]],
        dict(of_hydra(l, rank, local), HYDI_CONTROL_FD=7),
    )


def hydra_without_a_port(l, rank, node, local):
    return [['hydra_pmi_proxy']], of_hydra(l, rank, local)


def hydra_by_slurm(l, rank, node, local):
    """Its proxies are a step of Slurm's, and have no port."""
    _, env = slurm(l, node, node, 0)
    return [['slurmstepd'], ['hydra_pmi_proxy']], dict(env, **of_hydra(l, rank, local))


def intel(l, rank, node, local):
    return (
        [
            [
                'hydra_bstrap_proxy',
                '--upstream-host',
                'login',
                '--upstream-port',
                str(30000 + 10 * l.job + l.n),
                '--tree-level',
                '1',
                '--proxy-id',
                str(node),
            ],
            ['hydra_pmi_proxy', '--usize', '-1'],
        ],
        of_hydra(l, rank, local),
    )


def of_openmpi(l, rank, local):
    return {
        'OMPI_COMM_WORLD_RANK': rank,
        'OMPI_COMM_WORLD_SIZE': RANKS,
        'OMPI_COMM_WORLD_LOCAL_RANK': local,
        'OMPI_COMM_WORLD_LOCAL_SIZE': l.per_node,
        'PMIX_RANK': rank,
    }


def orted(l, rank, node, local):
    uri = '{};tcp://10.0.0.1:{}'.format(1000 * l.job, 40000 + l.n)
    return (
        [['orted' if node else 'orterun']],
        dict(of_openmpi(l, rank, local), PMIX_NAMESPACE=1000 * l.job + 1, OMPI_MCA_orte_hnp_uri=uri),
    )


def prte(l, rank, node, local):
    return (
        [['prted' if node else 'prterun']],
        dict(
            of_openmpi(l, rank, local), PMIX_NAMESPACE='prterun-login-{}@1'.format(100 * l.job + l.n), PRTE_LAUNCHED=1
        ),
    )


def prun(l, rank, node, local):
    """A machine that stays, under which jobs are started."""
    return (
        [['prted' if node else 'prte']],
        dict(of_openmpi(l, rank, local), PMIX_NAMESPACE='prte-login-{}@{}'.format(l.job, l.n), PRTE_LAUNCHED=1),
    )


def flux(l, rank, node, local):
    return [['flux-shell']], {
        'FLUX_JOB_ID': 'f{}{}'.format(l.job, l.n),
        'FLUX_TASK_RANK': rank,
        'FLUX_JOB_SIZE': RANKS,
        'FLUX_JOB_NNODES': l.nodes,
        'FLUX_TASK_LOCAL_ID': local,
        'PMI_RANK': rank,
        'PMI_SIZE': RANKS,
        'PMI_FD': 12,
    }


LAUNCHERS = [slurm, slurm_pmi2, slurm_pmix, pals, jsrun, hydra, hydra_by_slurm, intel, orted, prte, prun, flux]


class Site:
    def __init__(self):
        self.folder = harness.scratch('site')
        self.cc = harness.run(['mpicc.mpich', '-show']).ended(0).out.split()
        flags = [w for w in self.cc if w.startswith('-I')]
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stub_mpi.c')
        mpi, self.program = os.path.join(self.folder, 'libmpi.so.12'), os.path.join(self.folder, 'app')
        harness.run(['cc', '-shared', '-fPIC', *flags, source, '-Wl,-soname,libmpi.so.12', '-o', mpi]).ended(0)
        harness.run(['cc', '-DPROGRAM', *flags, source, mpi, '-Wl,-rpath,' + self.folder, '-o', self.program]).ended(0)
        self.programs = [self.program + '-of-the-first', self.program + '-of-the-second']
        for program in self.programs:
            os.link(self.program, program)
        self.script = os.path.join(self.folder, 'daemon')
        with open(self.script, 'w') as f:  # starts what FVTEST_BELOW says, and waits
            f.write(
                '#!/bin/sh\nnext=${FVTEST_BELOW%%:*}\nrest=${FVTEST_BELOW#*:}\n'
                'case $next in *.rank) for file in $FVTEST_RANKS; do sh "$file" & done ;;\n'
                '*) FVTEST_BELOW=$rest\n(exec $next) & ;;\nesac\nwait\n'
            )
        os.chmod(self.script, 0o755)

    def daemon(self, name):
        """A process of that name. A link, as what a thread writes another one's child may hold open, so that it cannot
        be executed (ETXTBSY)."""
        path = os.path.join(harness.scratch('daemon'), name)
        os.link(self.script, path)
        return path

    def start(self, launcher, launch, place, program, output='', pause=0, only=(0, 1)):
        """The processes of the nodes."""
        nodes, above = {}, {}
        for rank, node, local in launch.places():
            above[node], env = launcher(launch, rank, node, local)
            path = os.path.join(harness.scratch('rank'), 'a.rank')
            words = ["{}='{}'".format(k, v) for k, v in dict(env, STUB_RANK=rank, STUB_SIZE=RANKS).items()]
            with open(path, 'w') as f:
                f.write('export {}\nexec {} run {} {}\n'.format(' '.join(words), harness.FVMPI, output, program))
            nodes.setdefault(node, []).append(path)
        out = []
        for node in sorted(set(nodes) & set(only)):
            files = nodes[node]
            chain = [' '.join([self.daemon(d[0])] + d[1:]) for d in above[node][1:]] + ['.rank']
            env = harness.environment(
                {'FVTEST_BELOW': ':'.join(chain), 'FVTEST_RANKS': ' '.join(files), 'SLURM_PROCID': None}
            )
            out.append(
                subprocess.Popen(
                    [self.daemon(above[node][0][0])] + above[node][0][1:],
                    env=env,
                    cwd=place,
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
            )
            time.sleep(pause)
        return out


def ended(processes):
    for p in processes:
        _, said = p.communicate(timeout=harness.LIMIT)
        equal('status of ' + p.args[0], (p.returncode, said if b'cannot' in said else b''), (0, b''))


def experiments(place):
    found = {}
    for path in sorted(glob.glob(place + '/*/')):
        files = [os.path.basename(f) for f in glob.glob(path + 'rank-*.fvr')]
        if files:
            found[os.path.basename(path[:-1])] = sorted(files)
    return found


def one(site, launcher, nodes):
    place = harness.scratch('place')
    ended(site.start(launcher, Launch(nodes, 3, 17), place, site.program, pause=1.1 if nodes > 1 else 0))
    found = experiments(place)
    equal('experiments', [len(files) for files in found.values()], [RANKS])
    name = next(iter(found))
    check(name.startswith('fvmpi-app-{}p-'.format(RANKS)), '{}', name)
    if launcher in (slurm, slurm_pmi2, slurm_pmix) and nodes == 2:
        equal('name', name, 'fvmpi-app-{}p-job17.3'.format(RANKS))


def two(site, launcher, launches):
    """The second one while the first one's second node is late, and to the same directory."""
    place = harness.scratch('place')
    for of, nodes in ((0, [0]), (1, [0, 1]), (0, [1])):
        ended(site.start(launcher, launches[of], place, site.programs[of], '-o exp', only=nodes))
    found = experiments(place)
    equal('experiments', {name: len(files) for name, files in found.items()}, {'exp': RANKS, 'exp-2': RANKS})
    kinds = [harness.profile_of(os.path.join(place, name))['programs'] for name in found]
    equal('programs of an experiment', [len(p) for p in kinds], [1, 1])


def main():
    tap = harness.Tap()
    mpi = harness.Mpi('mpich')
    if mpi.missing():
        with tap.test('stand-in launchers'):
            raise harness.Skip(mpi.missing())
        tap.done()
    site, tests = Site(), []
    for launcher in LAUNCHERS:
        name = launcher.__name__
        for nodes in (1, 2):
            tests.append(
                ('{}: one experiment, on {} node{}'.format(name, nodes, 's' * (nodes > 1)), one, site, launcher, nodes)
            )
        tests.append(
            ('{}: two launches of a job'.format(name), two, site, launcher, [Launch(2, 1, 17), Launch(2, 2, 17)])
        )
        tests.append(
            (
                '{}: the first launches of two jobs'.format(name),
                two,
                site,
                launcher,
                [Launch(2, 1, 17), Launch(2, 1, 18)],
            )
        )
    tests.append(
        ('Hydra without a port, on two nodes: one experiment all the same', one, site, hydra_without_a_port, 2)
    )
    tap.together(tests, 6)
    tap.done()


main()

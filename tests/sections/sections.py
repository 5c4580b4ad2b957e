# SPDX-License-Identifier: BSD-3-Clause
"""What fvmpi report --json says of sections against what is known: sections.py PROFILE WHAT < program's output."""
import sys

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + '/../harness')
import harness
from report import plainly


def load(path):
    with open(path) as file:
        return plainly(harness.valid(file.read()))


class Sections:
    def __init__(self, path):
        self.json = load(path)
        self.lost = self.json["sections_lost"]
        self.whole = [s for s in self.json["sections"] if s["whole"]]
        self.items = {(s["section"], s["number"]): s for s in self.json["sections"] if not s["whole"]}

    def __getitem__(self, key):
        return self.items[key if isinstance(key, tuple) else (key, 0)]


failed = False


def expect(what, got, wanted):
    global failed
    if got != wanted:
        failed = True
        print(f"{what}: {got}, wanted {wanted}", file=sys.stderr)


def near(what, got, wanted, part=0.02, least=0.002):
    global failed
    if got is None or abs(got - wanted) > part * wanted + least:
        failed = True
        print(f"{what}: {got}, wanted {wanted} (2 % + 2 ms)", file=sys.stderr)


def told():
    """name number count seconds"""
    rows = []
    for line in sys.stdin.read().splitlines():
        words = line.rsplit(None, 3)
        if len(words) == 4:
            rows.append((words[0], int(words[1]), int(words[2]), float(words[3])))
    return rows


def faults(section, **wanted):
    every = ("open_at_end", "ended_by_thread_end", "ends_without_begin", "ends_on_another_thread")
    for key in every:
        expect(f"{section['section']} {section['number']} {key}", section["unbalanced"][key], wanted.get(key, 0))


def clean(s):
    for section in s.json["sections"]:
        faults(section)
    expect("lost", set(s.lost.values()), {0})


def clock(s, check=clean):
    for name, number, count, seconds in told():
        section = s[name, number]
        expect(f"{name} {number} count", section["count"], count)
        if seconds:
            near(f"{name} {number} elapsed", section["elapsed"]["sum_s"], seconds)
    check(s)


def nested(s):
    clock(s)
    expect("sections", len(s.items), 3)


def eighth(what, got, wanted):
    expect(f"{what}: {got} is {wanted} within an eighth", abs(got - wanted) <= wanted / 8, True)


def percentiles(s):
    for section in (s["each"]["instance"], s["rarely long"]["instance"], s["steady"]["instance"]):
        expect(
            "order",
            section["min_s"] <= section["p50_s"] <= section["p90_s"] <= section["p99_s"] <= section["max_s"],
            True,
        )
    for key, wanted in (("p50_s", 500e-6), ("p90_s", 900e-6), ("p99_s", 990e-6)):
        eighth(key, s["each"]["instance"][key], wanted)
        near(key, s["steady"]["instance"][key], 5e-6, 1e-6, 0)
        eighth(key, s["rarely long"]["instance"][key], 1e-3)
    near("max", s["rarely long"]["instance"]["max_s"], 1)
    expect("the only rank", [r["instance_p90_s"] for r in s["each"]["per_rank"]], [s["each"]["instance"]["p90_s"]])
    whole = s.whole[0]["instance"]
    expect("of the whole program", (whole["p50_s"], whole["p99_s"]), (None, None))


def overlap(s):
    clock(s)
    expect("overlapped", (s["first"]["unbalanced"]["overlapped"], s["second"]["unbalanced"]["overlapped"]), (1, 0))


def names(s):
    clock(s)
    expect("cut", [k for k in s.items if k[0].startswith("nn")], [("n" * 63, 0)])
    expect("no name", s[""]["count"], 1)
    expect("nested in itself", s["recursive"]["unbalanced"]["nested_in_itself"], 9)
    expect("overlapped", s["another"]["unbalanced"]["overlapped"], 50)
    expect("sections", len(s.items), 6)


def threads(s):
    section = s["threads"]
    expect("count", section["count"], 24)
    # the slots of ended threads are used again: 4 to 6 of them
    expect("threads", 4 <= section["thread_count"] <= 6, True)
    near("shortest", section["instance"]["min_s"], 0.02, 0.2, 0.01)
    expect("sum over threads", section["thread_time"]["sum_s"] >= 0.2 + 20 * 0.02, True)
    faults(section)
    faults(s["left open"], ended_by_thread_end=1)
    faults(s["of main"], ends_on_another_thread=1)
    expect("of main", s["of main"]["count"], 1)


def unbalanced(s):
    faults(s["never begun"], ends_without_begin=2)
    expect("never begun", s["never begun"]["count"], 0)
    faults(s["forked"])
    expect("forked", s["forked"]["count"], 1)
    faults(s["never ended"], open_at_end=1)
    expect("child", ("child", 0) in s.items, False)
    expect("never ended, so far", 0.03 <= s["never ended"]["elapsed"]["sum_s"] < 1, True)
    expect("deep", sum(v["count"] for k, v in s.items.items() if k[0] == "deep"), 64)
    expect("too deep", s.lost["too_deep_count"], 16)
    for number in range(64):
        faults(s["deep", number])


def many(s):
    expect("sections", len(s.items), 1024)
    expect("others", [v["count"] for v in s.items.values() if v["others"]], [2 * (1500 - 1023)])
    expect("each", {v["count"] for v in s.items.values() if not v["others"]}, {2})
    expect("too many", s.lost["too_many_count"], 2 * (1500 - 1023))


def level(s):
    expect("sections", sorted(n for _, n in s.items), [0, 1])
    expect("above", s.lost["above_level_count"], 3 + 4)
    expect("level", s["level", 1]["level"], 1)


def cpu(s):
    words = sys.stdin.read().split()
    burns, sleeps = s["burns"], s["sleeps"]
    near("CPU time", burns["user_time"]["sum_s"] + burns["system_time"]["sum_s"], float(words[3]), 0.02, 0.005)
    near("faults", burns["faults"]["sum"], float(words[4]), 0.02, 8)
    expect("faults of 64 MiB", burns["faults"]["sum"] > 20, True)
    expect("sleeps", sleeps["switches"]["sum"] >= 20 and sleeps["user_time"]["sum_s"] < 0.1, True)
    whole = s.whole[0]
    expect(
        "all has them, too", whole["user_time"]["sum_s"] + whole["system_time"]["sum_s"] >= float(words[3]) - 0.02, True
    )


def sampled(s):
    burns, whole = s["burns"], s.whole[0]
    user, got = burns["user_time"]["sum_s"], burns["sampled_cpu"]["sum_s"]
    # samples are of user mode, unless only a timer can be had
    expect("sampled CPU time", 0.7 * user - 0.05 <= got <= 1.3 * (user + burns["system_time"]["sum_s"]) + 0.05, True)
    expect("of all", whole["sampled_cpu"]["sum_s"] >= burns["sampled_cpu"]["sum_s"], True)
    expect("sleeps", s["sleeps"]["sampled_cpu"]["sum_s"] < 0.1, True)


def no_cpu(s):
    expect(
        "not measured",
        [
            s["burns"][k][v]
            for k, v in (("user_time", "sum_s"), ("system_time", "sum_s"), ("faults", "sum"), ("switches", "sum"))
        ],
        [None] * 4,
    )
    expect("of all it is", s.whole[0]["user_time"]["sum_s"] > 0, True)


def paused(s):
    name, number, count, seconds = told()[0]
    near("without the pause", s[name, number]["elapsed"]["sum_s"], seconds)
    expect("in the pause", s["within"]["count"], 0)


def killed(s):
    name, number, count, seconds = told()[0]
    whole = s["whole"]
    expect("count", (whole["count"], s["part"]["count"]), (1, 1))
    near("open until the last that is known", whole["elapsed"]["sum_s"], seconds)
    faults(whole, open_at_end=1)
    faults(s["part"])
    expect("user time of what is open", whole["user_time"]["sum_s"], None)


def interrupted(s):
    for name, number, count, _ in told():
        expect(name, s[name, number]["count"] + 0, count)
        faults(s[name, number])
    lost = s.lost["interrupted_count"]
    expect("handler and lost", s["handler"]["count"] + (lost + 1) // 2 >= 990, True)


def jumps(s):
    for name, number, count, _ in told():
        expect(name, s[name, number]["count"], count)
    faults(s["after"])
    for name in ("outer", "looped", "shallow"):
        expect(f"{name}: open", s[name]["unbalanced"]["open_at_end"], 0)
        expect(f"{name}: goes on", s[name]["count"] >= 100, True)
    expect("each leaves one begin or end at most", s.lost["interrupted_count"] <= 300, True)


def procedures(section):
    return {p["procedure"]: p for p in section["sampled_procedures"]}


def hot(s):
    clean(s)
    for name, wanted in (("a", {"alpha": 0.6}), ("ab", {"alpha": 0.3, "beta": 0.2}), ("b", {"beta": 0.4})):
        section = s[name]
        found = procedures(section)
        ticks = sum(p["ticks"] for p in section["costpaths"])
        expect(f"{name}: paths are all of it", ticks, sum(p["exclusive"]["ticks"] for p in found.values()))
        costs = s.json["costs"]["all"]
        near(f"{name}: samples", ticks * costs["time_s"] / costs["ticks"], section["sampled_cpu"]["sum_s"], 0.001, 1e-6)
        expect(f"{name}: procedures", {p for p in ("alpha", "beta") if p in found}, set(wanted))
        for p, seconds in wanted.items():
            near(f"{name}: {p}", found[p]["inclusive"]["time_s"], seconds, 0.25, 0.03)
        paths = [[f["function"] for f in p["path"]] for p in section["costpaths"]]
        expect(f"{name}: by call path", {p for p in ("alpha", "beta") for path in paths if p in path}, set(wanted))
    whole = procedures(s["a"])["alpha"]["inclusive"]["ticks"]
    total = next(p for p in s.json["costs"]["procedures"] if p["procedure"] == "alpha")["inclusive"]["ticks"]
    expect("what is outside of sections is not in them", whole < total, True)


def odd(s):
    clean_but = {"too_many_count"}
    expect("lost", {k for k, v in s.lost.items() if v}, clean_but)
    expect("cut", [k for k, _ in s.items if k.startswith("\u00e9")], ["\u00e9" * 31 + "\\xe2"])
    expect("others", [v["count"] for v in s.items.values() if v["others"]], [s.lost["too_many_count"]])
    expect("control characters", s["new\\x0aline\\x1b[31m\"\\", -7]["count"], 1)
    expect("of MPI's name", s["MPI_Send"]["count"], 1)


def early(s):
    clean(s)
    expect("counts", [s["constructor"]["count"], s["destructor"]["count"]], [1, 1])


def raii(s):
    clean(s)
    expect("counts", [s["main"]["count"], s["loop", 1]["count"], s["inner", 2]["count"]], [1, 9, 9])


def module(s):
    for section in s.json["sections"]:
        faults(section)
    expect("counts", [s["plain"]["count"], s["padded", 3]["count"], s["n" * 63, 7]["count"]], [4, 1, 1])
    expect("a pause", (s["paused"]["count"] if ("paused", 0) in s.items else 0, s["resumed"]["count"]), (0, 1))
    expect("level", (("level", 0) in s.items, s.lost["above_level_count"]), (False, 4))
    expect("labels", [(label["text"], label["origin"]) for label in s.json["labels"]], [("last", "program")])


def whole(s):
    expect("sections", len(s.items), 0)
    all_ = s.whole[0]
    expect("all", (all_["section"], all_["number"], all_["rank_count"]), ("all", 0, len(s.json["ranks"])))
    near("elapsed", all_["elapsed"]["sum_s"], sum(r["app_time_s"] for r in s.json["ranks"]), 1e-6, 1e-6)
    expect("CPU time", all_["user_time"]["sum_s"] is not None, True)
    expect("calls", all_["mpi_calls"]["sum"], sum(c["count"] for c in s.json["callsites"]))


def calls(section, function):
    return next((f for f in section["mpi_calls_by_function"] if f["function"] == function), None)


def classes(row, direction):
    return [row[f"{direction}_{size}_count"] for size in ("below_4k", "below_64k", "below_1m", "1m_and_above")]


def of_rank(section, rank):
    return next(r for r in section["per_rank"] if r["rank"] == rank)


def exchange(s):
    sizes = s["sizes"]
    expect("sent", classes(calls(sizes, "MPI_Send"), "sent"), [4, 4, 2, 2])
    expect("received", classes(calls(sizes, "MPI_Recv"), "received"), [4, 4, 2, 2])
    expect("calls", (calls(sizes, "MPI_Send")["count"], calls(sizes, "MPI_Recv")["count"]), (12, 12))
    expect(
        "of ranks", (of_rank(sizes, 0)["sent_below_64k_count"], of_rank(sizes, 1)["received_below_1m_count"]), (4, 2)
    )
    expect(
        "paths",
        sorted((p["function"], p["count"]) for p in sizes["callpaths"]),
        [("MPI_Recv", 1), ("MPI_Recv", 11), ("MPI_Send", 1), ("MPI_Send", 11)],
    )
    expect("path", any((f["function"] or "").startswith("sizes") for f in sizes["callpaths"][0]["path"]), True)
    at = {}
    for line in sys.stdin.read().splitlines():
        words = line.split()
        if words[0] == "at":
            at[tuple(map(int, words[1:4]))] = float(words[4])
    expect("barriers told", len(at), 16)
    for number in range(4):
        section = s["round", number]
        expect("kind", section["wait_kind"], "exact")
        for rank in range(2):
            waited = sum(max(0, at[number, k, 1 - rank] - at[number, k, rank]) for k in range(2))
            near(f"round {number} rank {rank} waits", of_rank(section, rank)["wait_s"], waited, 0.02, 0.005)
        expect("barriers", calls(section, "MPI_Barrier")["count"], 4)
    expect("overlap", [s[n]["mpi_calls"]["sum"] for n in "AB"], [6, 10])
    expect("overlap by function", [calls(s[n], "MPI_Barrier")["count"] for n in "AB"], [6, 10])
    expect("posted", classes(calls(s["post"], "MPI_Irecv"), "received"), [0, 0, 1, 0])
    expect("completed", classes(calls(s["complete"], "MPI_Wait"), "received"), [0, 0, 0, 0])
    expect("one rank", (s["rank 0 only"]["rank_count"], s["rank 0 only"]["count"]), (1, 1))
    nearly = s["nearly all"]
    expect("sums", nearly["mpi_calls"]["sum"], sum(f["count"] for f in nearly["mpi_calls_by_function"]))
    faults(s["too early"], ends_without_begin=2)
    expect("too early", s["too early"]["count"], 0)
    for section in (s for s in s.json["sections"] if s["count"]):
        in_functions, in_paths = (sum(f["time_s"] for f in section[k]) for k in ("mpi_calls_by_function", "callpaths"))
        near(f"{section['section']}: time", in_functions, section["mpi_time"]["sum_s"], 1e-6, 1e-6)
        if not section["whole"]:
            near(f"{section['section']}: paths", in_paths, in_functions, 1e-6, 1e-6)
            faults(section)
        expect(
            "waiting",
            section["wait"]["sum_s"] is None or section["wait"]["sum_s"] <= section["mpi_time"]["sum_s"] + 1e-6,
            True,
        )


def apart(s):
    """--section-instances 1: each instance of exchange() by itself, which is all of its section on the rank."""
    exchange(s)
    rows = s.json["section_instances"]
    expect("rows", len(rows), sum(sum(r["count"] for r in i["per_rank"]) for i in s.items.values()))
    for row in rows:
        of = of_rank(s[row["section"], row["number"]], row["rank"])
        functions = s[row["section"], row["number"]]["mpi_calls_by_function_and_rank"]
        of_calls = [f for f in functions if f["rank"] == row["rank"]]
        expect("number", row["instance_number"], 1)
        near("elapsed", row["elapsed_s"], of["elapsed_s"], 1e-6, 1e-6)
        near("MPI", row["mpi_time_s"], of["mpi_time_s"], 1e-6, 1e-6)
        if of_calls:
            expect("calls", row["calls"], sum(r["count"] for r in of_calls))
    known = {(r["section"], r["number"], r["rank"]): r for r in rows}
    moved = 1 + 100 + 4095 + 4096 + 5000 + 2 * 65535 + 65536 + 1048575 + 1048576 + (2 << 20)
    for rank in range(2):
        sizes, second = known["sizes", 0, rank], known["round", 1, rank]
        expect("sizes", (sizes["calls"], sizes["mpi_bytes"]), (12, moved))
        expect("round", (second["calls"], second["mpi_bytes"]), (2, 0))
    expect("begins", sorted(known, key=lambda k: known[k]["begin_s"])[0][0], "nearly all")


def first_ones(s):
    """--section-instances 3, of five; one each of others."""
    rows = [(r["section"], r["instance_number"]) for r in s.json["section_instances"]]
    expect("rows", rows, [("one", 1), ("step", 1), ("step", 2), ("step", 3)])
    expect("count", s["step"]["count"], 5)
    expect("lost", set(s.lost.values()), {0})


def warm_up(s):
    """Of 20 instances three are long; where others were disturbed, by the times of the instances."""
    times = [r["elapsed_s"] for r in s.json["section_instances"]]
    expect("instances", len(times), 20)
    bound, warm = max(times[10:]), 0
    while warm < 10 and times[warm] > bound:
        warm += 1
    (row,) = s.json["section_warm_up"]
    keys = ("section", "thread_count", "warm_up_count", "instance_count")
    expect("row", tuple(row[k] for k in keys), ("step", 1, int(warm > 0), warm))
    if warm:
        first, later = sum(times[:warm]) / warm, sum(times[warm:]) / (20 - warm)
        found = [row["warm_up_s"], row["steady_s"], row["excess_s"]]
        wanted = [first, later, warm * (first - later)]
        expect("times", [round(v, 6) for v in found], [round(v, 6) for v in wanted])


if __name__ == "__main__":
    globals()[sys.argv[2]](Sections(sys.argv[1]))
    sys.exit(failed)

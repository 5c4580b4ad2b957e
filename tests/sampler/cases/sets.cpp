// Which columns of a matrix are in a set? Columns are named by long keys, of which many begin alike. A
// tree set compares keys from their beginnings, with as many others as it is deep: where keys begin alike,
// that takes long. Repaired: a hash set, which reads each key as a whole, and once.
//
//     sets SECONDS [repaired]          CPU time
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <unordered_set>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

using Key = std::vector<uint64_t>;

struct Hash {
    size_t operator()(const Key &key) const
    {
        size_t sum = 0;

        for (size_t i = 0; i < key.size(); i++)
            sum += key[i] * (2 * i + 1);
        return sum;
    }
};

static std::set<Key> tree;
static std::unordered_set<Key, Hash> hashed;
static bool repaired;
static double field[4000];

static double cpu_s()
{
    timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

static uint64_t mixed(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return i ^ i >> 27;
}

// Every other key differs from the rest in its first word; those of the set only in their last.
static Key key_of(unsigned i)
{
    Key key(12000, i & 1 ? mixed(i) : 0);

    key.back() = i;
    return key;
}

extern "C" NOINLINE bool contains(const Key &key)
{
    return repaired ? hashed.find(key) != hashed.end() : tree.find(key) != tree.end();
}

extern "C" NOINLINE void assemble(double by)
{
    for (int pass = 0; pass < 12; pass++)
        for (int i = 1; i < 4000; i++)
            field[i] = 0.5 * (field[i] + field[i - 1]) + by;
}

int main(int argc, char **argv)
{
    double end = argc > 1 ? atof(argv[1]) : 1;
    std::vector<Key> columns;
    long found = 0;

    repaired = argc > 2 && !strcmp(argv[2], "repaired");
    for (unsigned i = 0; i < 64; i++) {
        columns.push_back(key_of(i));
        if (i & 1)
            continue; // not in the set
        if (repaired)
            hashed.insert(columns.back());
        else
            tree.insert(columns.back());
    }
    for (uint64_t i = 0; cpu_s() < end || i < 1000; i++) {
        bool is_in = contains(columns[mixed(i) % columns.size()]);

        assemble(is_in ? 1e-6 : 2e-6);
        if (i < 1000)
            found += is_in;
    }
    printf("first thousand %ld\n", found);
    return 0;
}

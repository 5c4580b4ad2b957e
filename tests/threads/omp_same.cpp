// What an OpenMP program sees of its own threads, locks, tasks and errors: it prints the same with fvmpi and without.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

static int copies, destroyed;
struct Counted {
    std::string text;
    explicit Counted(const char *t) : text(t) {}
    Counted(const Counted &other) : text(other.text)
    {
#pragma omp atomic
        copies++;
    }
    ~Counted()
    {
#pragma omp atomic
        destroyed++;
    }
};
struct Large {
    char bytes[5000];
};
struct alignas(128) Aligned {
    int value;
};

static void regions()
{
    int sizes[8] = { 0 };

#pragma omp parallel num_threads(3)
    sizes[omp_get_thread_num()] = omp_get_num_threads();
    printf("team %d %d %d\n", sizes[0], sizes[1], sizes[2]);
#pragma omp parallel num_threads(1)
    printf("one %d %d %d\n", omp_get_num_threads(), omp_in_parallel(), omp_get_level());
#pragma omp parallel if (0)
    printf("if %d %d %d %d\n", omp_get_num_threads(), omp_in_parallel(), omp_get_level(), omp_get_active_level());
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(3) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1000 * omp_get_level() + 100 * omp_get_team_size(2) + omp_get_ancestor_thread_num(1);
    printf("nested %d\n", sum);
    int caught = 0;
#pragma omp parallel num_threads(4) reduction(+ : caught)
    for (int i = 0; i < 100; i++)
        try {
#pragma omp critical
            if (i % 7 == omp_get_thread_num())
                caught += 1000;
            throw std::runtime_error("inside");
        } catch (const std::exception &e) {
            caught += (int)strlen(e.what());
        }
    printf("exceptions %d\n", caught);
}

static void worksharing()
{
    long sum = 0, minimum = 1000;
    std::vector<int> order;
    int shared = 0, copied[4];

#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for schedule(guided) reduction(min : minimum) num_threads(4)
    for (int i = 0; i < 1000; i++)
        minimum = std::min(minimum, 500L - i);
#pragma omp parallel for schedule(runtime) reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for schedule(monotonic : dynamic, 2) reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(4)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered
        order.push_back(i);
    }
#pragma omp parallel sections reduction(+ : sum) num_threads(4)
    {
#pragma omp section
        sum += 1;
#pragma omp section
        sum += 2;
    }
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        int value = omp_get_thread_num();
#pragma omp single copyprivate(value)
        value = 42;
        copied[omp_get_thread_num()] = value;
#pragma omp for schedule(dynamic) reduction(+ : shared)
        for (int i = 0; i < 10; i++)
            shared += i;
#pragma omp sections
        {
#pragma omp section
            sum += 4;
#pragma omp section
            sum += 8;
        }
    }
    printf("loops %ld %ld %d %s\n", sum, minimum, shared, std::is_sorted(order.begin(), order.end()) ? "sorted" : "no");
    printf("copied %d %d %d %d\n", copied[0], copied[1], copied[2], copied[3]);
}

static int fibonacci(int n)
{
    int a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 5)
    a = fibonacci(n - 1);
#pragma omp task shared(b) final(n < 4)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks()
{
    Counted counted("text");
    Large large;
    Aligned aligned = { 77 };
    long sum = 0, chain = 1, loop = 0, reduced = 0;
    int number = 0;

    memset(large.bytes, 1, sizeof(large.bytes));
#pragma omp parallel num_threads(4)
#pragma omp single
    number = fibonacci(15);
    printf("fibonacci %d\n", number);
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(counted, large, aligned, i)
        {
            long here = (long)counted.text.size() + large.bytes[4999] + aligned.value + i;
#pragma omp atomic
            sum += here;
        }
        for (int i = 0; i < 10; i++)
#pragma omp task depend(inout : chain)
            chain = chain * 3 % 1000003;
#pragma omp taskgroup
        {
#pragma omp task
#pragma omp atomic
            sum += 5;
        }
#pragma omp taskwait depend(in : chain)
#pragma omp taskloop grainsize(7) firstprivate(counted)
        for (int i = 0; i < 100; i++)
#pragma omp atomic
            loop += i + (long)counted.text.size();
#pragma omp taskloop if (0) num_tasks(5)
        for (int i = 0; i < 100; i++)
            loop += i;
#pragma omp taskloop reduction(+ : reduced)
        for (int i = 0; i < 100; i++)
            reduced += i;
#pragma omp taskloop num_tasks(3)
        for (unsigned long long i = 0; i < 100; i++)
#pragma omp atomic
            loop += (long)i;
    }
#pragma omp parallel reduction(task, + : reduced) num_threads(4)
    {
#pragma omp single
        for (int i = 0; i < 10; i++)
#pragma omp task in_reduction(+ : reduced)
            reduced += i;
    }
    printf("tasks %ld %ld %ld %ld copied %d destroyed %d\n", sum, chain, loop, reduced, copies, destroyed);
}

static void cancellation()
{
    int started = 0, found = -1, dropped = 0;

    printf("cancellation %d\n", omp_get_cancellation());
    if (!omp_get_cancellation())
        return;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
        started++;
#pragma omp barrier
#pragma omp cancel parallel if (omp_get_thread_num() == 2)
#pragma omp barrier
        found = 1; // nobody comes here
    }
#pragma omp parallel num_threads(4)
#pragma omp for
    for (int i = 0; i < 1000; i++) {
#pragma omp cancellation point for
        if (i % 250 == 10) {
#pragma omp cancel for
        }
        if (i % 250 > 10)
            found = 2;
    }
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
        for (int i = 0; i < 10; i++)
#pragma omp task shared(dropped)
#pragma omp atomic
            dropped++;
    }
    printf("cancelled %d %d %d\n", started, found, dropped);
}

static void locks()
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int counts[4], sum = 0;

    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    omp_set_lock(&lock);
    counts[0] = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    counts[1] = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    counts[2] = omp_test_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    counts[3] = omp_test_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    printf("locks %d %d %d %d\n", counts[0], counts[1], counts[2], counts[3]);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 1000; i++) {
        omp_set_lock(&lock);
        omp_set_nest_lock(&nest);
        sum++;
        omp_unset_nest_lock(&nest);
        omp_unset_lock(&lock);
    }
    printf("sum %d\n", sum);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

int main()
{
    printf("start %d %d %d\n", omp_get_max_threads(), omp_get_thread_limit() > 1, omp_get_num_threads());
    regions();
    worksharing();
    tasks();
    cancellation();
    locks();
#pragma omp barrier
    printf("end %d\n", omp_get_thread_num());
}

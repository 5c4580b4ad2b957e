// std::thread: arguments are moved, exceptions are caught, thread-local objects are destroyed.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

struct Local {
    int *count;
    ~Local() { ++*count; }
};

static void run(std::unique_ptr<int> value, int *caught, int *destroyed)
{
    thread_local Local local{destroyed};
    (void)&local;
    try {
        if (*value % 2)
            throw std::runtime_error("odd");
    } catch (const std::exception &) {
        ++*caught;
    }
}

int main()
{
    int caught[8] = {}, destroyed[8] = {}, sum[2] = {};
    std::vector<std::thread> threads;

    for (int i = 0; i < 8; i++)
        threads.emplace_back(run, std::make_unique<int>(i), &caught[i], &destroyed[i]);
    for (auto &t : threads)
        t.join();
    for (int i = 0; i < 8; i++)
        sum[0] += caught[i], sum[1] += destroyed[i];
    std::printf("caught %d destroyed %d\n", sum[0], sum[1]);
}

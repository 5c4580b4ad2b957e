// C++'s locks: they are POSIX threads' where the standard library makes them of these. What is printed is the same with
// fvmpi and without.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex a_mutex;
static std::timed_mutex a_timed;
static std::shared_timed_mutex a_shared;
static std::recursive_mutex a_recursive;
static std::once_flag a_once;

static void once()
{
    for (int i = 0; i < 3; i++)
        try {
            std::call_once(a_once, [i] {
                if (i < 1)
                    throw std::runtime_error("not yet");
                std::once_flag inner;
                std::call_once(inner, [] { std::puts("inside"); });
                std::printf("once, at %d\n", i);
            });
        } catch (const std::exception &e) {
            std::printf("%s\n", e.what());
        }
}

static void others()
{
    std::thread([] {
        std::printf("try %d", a_mutex.try_lock());
        std::printf(" %d", a_timed.try_lock_for(2ms));
        std::printf(" %d", a_timed.try_lock_until(std::chrono::steady_clock::now() + 2ms));
        std::printf(" %d", a_shared.try_lock_for(2ms));
        std::printf(" %d", a_shared.try_lock_shared_for(2ms));
        std::printf(" %d\n", a_recursive.try_lock());
    }).join();
}

static void locks()
{
    std::scoped_lock all(a_mutex, a_timed, a_shared, a_recursive);
    std::lock_guard again(a_recursive);

    others();
}

// A condition variable of any lock, and an exception through a wait's scope.
static void conditions()
{
    std::condition_variable_any any;
    std::condition_variable one;
    std::mutex m;
    bool go = false;
    std::thread t([&] {
        {
            std::shared_lock lock(a_shared);
            any.wait(lock, [&] { return go; });
        }
        std::unique_lock lock(m);
        std::printf("timed out %d\n", one.wait_for(lock, 2ms) == std::cv_status::timeout);
        std::printf("timed out %d\n", one.wait_until(lock, std::chrono::system_clock::now() + 2ms) ==
                                          std::cv_status::timeout);
    });
    {
        std::unique_lock lock(a_shared);
        go = true;
        any.notify_all();
    }
    t.join();
    try {
        std::unique_lock lock(m);
        one.wait_for(lock, 1ms, []() -> bool { throw std::runtime_error("thrown in a wait"); });
    } catch (const std::exception &e) {
        std::printf("%s, lock is free: %d\n", e.what(), m.try_lock());
        m.unlock();
    }
}

// These wait by futexes, which nobody sees.
static void unseen()
{
    std::latch latch(3);
    std::barrier barrier(3);
    std::counting_semaphore<4> semaphore(0);
    std::promise<int> promise;
    auto future = promise.get_future();
    std::vector<std::jthread> threads;

    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            latch.arrive_and_wait();
            barrier.arrive_and_wait();
            semaphore.release();
        });
    for (int i = 0; i < 3; i++)
        semaphore.acquire();
    std::jthread([&] { promise.set_value(7); });
    std::printf("future %d async %d\n", future.get(), std::async(std::launch::async, [] { return 8; }).get());
}

int main()
{
    once();
    locks();
    conditions();
    unseen();
}

// A queue of C++: locks of the heap and of a namespace, a condition, threads of the library.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

struct Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::queue<int> items;

    __attribute__((noinline)) void push(int item)
    {
        std::lock_guard<std::mutex> guard(mutex);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        items.push(item);
        filled.notify_one();
    }
    __attribute__((noinline)) int pop()
    {
        std::unique_lock<std::mutex> guard(mutex);
        filled.wait(guard, [&] { return !items.empty(); });
        int item = items.front();
        items.pop();
        return item;
    }
};

namespace app {
std::mutex taken;
int sum;
} // namespace app

static void work(Queue *queue)
{
    for (int i = 0; i < 20; i++) {
        int item = queue->pop();
        std::lock_guard<std::mutex> guard(app::taken);
        app::sum += item;
    }
}

int main()
{
    Queue *queue = new Queue;
    std::vector<std::thread> threads;

    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, queue);
    for (int i = 0; i < 80; i++)
        queue->push(i);
    for (auto &thread : threads)
        thread.join();
    return app::sum == 79 * 80 / 2 ? 0 : 1;
}

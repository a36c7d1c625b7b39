// C++ with exceptions and std::thread: thrown through frames, between threads, from threads that
// are joined.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
    int &count;
    explicit Guard(int &c) : count(c)
    {
        count++;
    }
    ~Guard()
    {
        count--;
    }
};

static int depth(int n, int &open)
{
    Guard guard(open);
    if (n == 0)
        throw std::out_of_range("the end");
    return depth(n - 1, open) + 1;
}

static void exceptions()
{
    int open = 0, caught = 0;
    for (int i = 0; i < 200; i++) {
        try {
            depth(i % 50, open);
        } catch (const std::exception &e) {
            caught += e.what()[0] == 't';
        }
    }
    std::cout << "caught " << caught << " open " << open << "\n";
    try {
        std::vector<int>().at(5);
    } catch (const std::out_of_range &) {
        std::cout << "out of range\n";
    }
    try {
        (void)dynamic_cast<const std::runtime_error &>(
            static_cast<const std::exception &>(std::logic_error("x")));
    } catch (const std::bad_cast &) {
        std::cout << "bad cast\n";
    }
}

static void queue_between_threads()
{
    std::queue<int> queue;
    std::mutex mutex;
    std::condition_variable filled;
    std::atomic<long> sum{0};
    std::vector<std::thread> consumers;
    bool done = false;

    for (int i = 0; i < 2; i++)
        consumers.emplace_back([&] {
            for (;;) {
                std::unique_lock lock(mutex);
                filled.wait(lock, [&] { return done || !queue.empty(); });
                if (queue.empty())
                    return;
                int value = queue.front();
                queue.pop();
                lock.unlock();
                sum += value;
            }
        });
    for (int i = 0; i < 1000; i++) {
        std::lock_guard lock(mutex);
        queue.push(i);
        filled.notify_one();
    }
    {
        std::lock_guard lock(mutex);
        done = true;
    }
    filled.notify_all();
    for (auto &thread : consumers)
        thread.join();
    std::cout << "sum " << sum << "\n";
}

int main()
{
    exceptions();
    queue_between_threads();
    auto failing =
        std::async(std::launch::async, []() -> int { throw std::runtime_error("from a thread"); });
    try {
        failing.get();
    } catch (const std::runtime_error &e) {
        std::cout << e.what() << "\n";
    }
    thread_local int own = 7;
    std::thread([] { own = 8; }).join();
    std::cout << "thread-local " << own << "\n";
    std::map<std::string, int> words;
    for (const char *word : {"one", "two", "three", "two"})
        words[word]++;
    for (const auto &[word, count] : words)
        std::cout << word << " " << count << "\n";
    return 3;
}

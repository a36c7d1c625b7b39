// Allocates by operator new in all its kinds, and in containers.
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <vector>

struct alignas(64) Wide {
    char bytes[64];
};

static void *volatile kept;

__attribute__((noinline)) static void fill(std::map<int, std::string> &map, int count)
{
    for (int i = 0; i < count; i++)
        map[i] = std::string(40, 'x');
}

__attribute__((noinline)) static void leak_here()
{
    kept = new int[100];
}

__attribute__((noinline)) static void kinds()
{
    Wide *wide = new Wide[3];
    kept = wide;
    delete[] wide;
    long *maybe = new (std::nothrow) long;
    kept = maybe;
    delete maybe;
    try {
        kept = ::operator new(static_cast<std::size_t>(-1) / 4); // fails
    } catch (const std::bad_alloc &) {
    }
    kept = ::operator new(5);
    ::operator delete(kept);
}

int main(int argc, char **)
{
    std::map<int, std::string> map;
    std::vector<int> numbers;

    fill(map, 1000);
    for (int i = 0; i < 10000; i++)
        numbers.push_back(i);
    kinds();
    for (int i = 0; i < 10 * argc; i++)
        leak_here();
    std::printf("%zu %zu\n", map.size(), numbers.size());
}

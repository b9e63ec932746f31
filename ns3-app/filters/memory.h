#ifndef PYSIM_FILTERS_MEMORY_H
#define PYSIM_FILTERS_MEMORY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

namespace pysim
{

/// Memory from Python's allocator: small pieces cost no header, and tracemalloc sees them.
inline void*
Allocate(size_t bytes)
{
    void* memory = PyMem_Malloc(bytes);
    if (!memory)
    {
        throw std::bad_alloc();
    }
    return memory;
}

/// The base of what is made with new from the same memory.
struct Allocated
{
    static void* operator new(size_t bytes)
    {
        return Allocate(bytes);
    }

    static void operator delete(void* memory)
    {
        PyMem_Free(memory);
    }
};

template <class T> struct Allocator
{
    using value_type = T;

    Allocator() = default;

    template <class Other> Allocator(const Allocator<Other>&)
    {
    }

    T* allocate(size_t count)
    {
        return static_cast<T*>(Allocate(count * sizeof(T)));
    }

    void deallocate(T* memory, size_t)
    {
        PyMem_Free(memory);
    }

    bool operator==(const Allocator&) const
    {
        return true;
    }

    bool operator!=(const Allocator&) const
    {
        return false;
    }
};

template <class T> using Vector = std::vector<T, Allocator<T>>;

/// Plain values that mostly are few: up to N of them stay where the sequence itself is.
template <class T, size_t N> class Sequence
{
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Sequence() = default;
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    ~Sequence()
    {
        if (m_items != m_few)
        {
            PyMem_Free(m_items);
        }
    }

    void Push(T item)
    {
        if (m_size == m_capacity)
        {
            Grow(m_size + 1);
        }
        m_items[m_size++] = item;
    }

    void Push(const T* items, size_t count)
    {
        if (m_capacity - m_size < count)
        {
            Grow(m_size + count);
        }
        std::memcpy(m_items + m_size, items, count * sizeof(T));
        m_size += count;
    }

    void Clear()
    {
        m_size = 0;
    }

    size_t Size() const
    {
        return m_size;
    }

    size_t Capacity() const
    {
        return m_capacity;
    }

    T operator[](size_t place) const
    {
        return m_items[place];
    }

    const T* begin() const
    {
        return m_items;
    }

    const T* end() const
    {
        return m_items + m_size;
    }

  private:
    void Grow(size_t least)
    {
        const size_t capacity = std::max(2 * m_capacity, least);
        T* items = static_cast<T*>(Allocate(capacity * sizeof(T)));
        std::memcpy(items, m_items, m_size * sizeof(T));
        if (m_items != m_few)
        {
            PyMem_Free(m_items);
        }
        m_items = items;
        m_capacity = capacity;
    }

    T* m_items{m_few};
    size_t m_size{0};
    size_t m_capacity{N};
    T m_few[N];
};

} // namespace pysim

#endif

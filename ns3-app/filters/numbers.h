#ifndef PYSIM_FILTERS_NUMBERS_H
#define PYSIM_FILTERS_NUMBERS_H

#include "memory.h"

#include <cstdint>
#include <utility>

namespace pysim
{

/// Numbers of subscriptions; up to two of them need no memory of their own.
class Numbers
{
  public:
    Numbers() = default;

    Numbers(Numbers&& other) noexcept
        : m_size(std::exchange(other.m_size, 0)),
          m_capacity(std::exchange(other.m_capacity, FEW)),
          m_items(other.m_items)
    {
    }

    ~Numbers()
    {
        Free();
    }

    uint32_t Size() const
    {
        return m_size;
    }

    const uint32_t* begin() const
    {
        return m_capacity > FEW ? m_items.many : m_items.few;
    }

    const uint32_t* end() const
    {
        return begin() + m_size;
    }

    void Push(uint32_t number)
    {
        if (m_size == m_capacity)
        {
            auto* many = static_cast<uint32_t*>(Allocate(2 * m_capacity * sizeof(uint32_t)));
            std::copy(begin(), end(), many);
            Free();
            m_items.many = many;
            m_capacity *= 2;
        }
        Items()[m_size++] = number;
    }

    /// Put the last number into this place, and @return it.
    uint32_t Remove(uint32_t place)
    {
        uint32_t* items = Items();
        const uint32_t last = items[--m_size];
        items[place] = last;
        if (m_capacity > FEW && m_size <= FEW)
        {
            std::copy(items, items + m_size, m_items.few);
            PyMem_Free(items);
            m_capacity = FEW;
        }
        return last;
    }

    /// Ask for the numbers where they are not in here, which then are in no cache.
    void Prefetch() const
    {
        if (m_capacity > FEW)
        {
            __builtin_prefetch(m_items.many);
            __builtin_prefetch(m_items.many + 16);
        }
    }

    size_t Bytes() const
    {
        return m_capacity > FEW ? m_capacity * sizeof(uint32_t) : 0;
    }

  private:
    static constexpr uint32_t FEW = 2;

    uint32_t* Items()
    {
        return m_capacity > FEW ? m_items.many : m_items.few;
    }

    void Free()
    {
        if (m_capacity > FEW)
        {
            PyMem_Free(m_items.many);
        }
    }

    uint32_t m_size{0};
    uint32_t m_capacity{FEW};

    union {
        uint32_t few[FEW];
        uint32_t* many;
    } m_items;
};

} // namespace pysim

#endif

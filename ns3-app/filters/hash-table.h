#ifndef PYSIM_FILTERS_HASH_TABLE_H
#define PYSIM_FILTERS_HASH_TABLE_H

#include "memory.h"

#include <cstdint>
#include <utility>

namespace pysim
{

/**
 * Slots in one piece of memory, found by their hash; empty, it owns none.
 *
 * A slot can be moved, is free when it is made, and says so (IsFree); else it has a Hash.
 */
template <class Slot> class HashTable
{
  public:
    HashTable() = default;

    HashTable(HashTable&& other) noexcept
        : m_slots(std::exchange(other.m_slots, nullptr)),
          m_mask(std::exchange(other.m_mask, 0)),
          m_count(std::exchange(other.m_count, 0))
    {
    }

    HashTable& operator=(HashTable&& other) noexcept
    {
        std::swap(m_slots, other.m_slots);
        std::swap(m_mask, other.m_mask);
        std::swap(m_count, other.m_count);
        return *this;
    }

    ~HashTable()
    {
        Free();
    }

    uint32_t Size() const
    {
        return m_count;
    }

    /// Memory of the table itself.
    size_t Bytes() const
    {
        return m_slots ? (size_t(m_mask) + 1) * sizeof(Slot) : 0;
    }

    /// The slot with this hash that is the `same`, or nullptr.
    template <class Same> Slot* Find(uint64_t hash, Same same) const
    {
        if (!m_slots)
        {
            return nullptr;
        }
        for (uint64_t place = hash & m_mask; !m_slots[place].IsFree(); place = (place + 1) & m_mask)
        {
            if (same(m_slots[place]))
            {
                return &m_slots[place];
            }
        }
        return nullptr;
    }

    /// Add a slot that is not in the table; pointers to others are void afterwards.
    Slot* Insert(Slot&& slot)
    {
        if (!m_slots || (m_count + 1) * 4 > (m_mask + 1) * 3)
        {
            Grow();
        }
        m_count++;
        return Put(std::move(slot));
    }

    /// Take out a slot that is in the table; pointers to others are void afterwards.
    void Erase(Slot* slot)
    {
        if (--m_count == 0)
        {
            Free();
            return;
        }
        // What came later and could stand here moves up, so that no gap ends a search too early.
        uint64_t gap = slot - m_slots;
        *slot = Slot();
        for (uint64_t place = (gap + 1) & m_mask; !m_slots[place].IsFree();
             place = (place + 1) & m_mask)
        {
            const uint64_t home = m_slots[place].Hash() & m_mask;
            if (((place - home) & m_mask) >= ((place - gap) & m_mask))
            {
                m_slots[gap] = std::move(m_slots[place]);
                m_slots[place] = Slot();
                gap = place;
            }
        }
    }

    template <class Visit> void ForEach(Visit visit) const
    {
        for (uint64_t place = 0; m_slots && place <= m_mask; place++)
        {
            if (!m_slots[place].IsFree())
            {
                visit(m_slots[place]);
            }
        }
    }

  private:
    Slot* Put(Slot&& slot)
    {
        uint64_t place = slot.Hash() & m_mask;
        while (!m_slots[place].IsFree())
        {
            place = (place + 1) & m_mask;
        }
        m_slots[place] = std::move(slot);
        return &m_slots[place];
    }

    void Grow()
    {
        const uint32_t capacity = m_slots ? 2 * (m_mask + 1) : 4;
        Slot* slots = static_cast<Slot*>(Allocate(capacity * sizeof(Slot)));
        for (uint32_t place = 0; place < capacity; place++)
        {
            new (&slots[place]) Slot();
        }
        HashTable old;
        std::swap(*this, old);
        m_slots = slots;
        m_mask = capacity - 1;
        m_count = old.m_count;
        old.ForEach([this](Slot& slot) { Put(std::move(slot)); });
    }

    void Free()
    {
        for (uint64_t place = 0; m_slots && place <= m_mask; place++)
        {
            m_slots[place].~Slot();
        }
        PyMem_Free(m_slots);
        m_slots = nullptr;
        m_mask = 0;
        m_count = 0;
    }

    Slot* m_slots{nullptr};
    uint32_t m_mask{0};
    uint32_t m_count{0};
};

} // namespace pysim

#endif

#ifndef PYSIM_FILTERS_ATTRIBUTE_H
#define PYSIM_FILTERS_ATTRIBUTE_H

#include "hash-table.h"
#include "ordered.h"
#include "patterns.h"

#include "../python/ref.h"

#include <memory>

namespace pysim
{

/**
 * The predicates on one attribute, by operator and kind, and the attribute's value in an event.
 *
 * What a match on equality needs is in the first cache line.
 */
class Attribute
{
  public:
    Attribute() = default;

    Attribute(PyObject* name, uint64_t hash)
        : m_hash(hash),
          m_name(Ref::Borrow(name))
    {
    }

    bool IsNamed(PyObject* name, uint64_t hash) const
    {
        return m_hash == hash && m_name && SameText(m_name.Get(), name);
    }

    uint64_t NameHash() const
    {
        return m_hash;
    }

    /// Hang an item at a predicate.
    void Add(const Condition& condition, uintptr_t item);
    /// Take it off again; no harm if it is not there.
    void Remove(const Condition& condition, uintptr_t item);
    /// What hangs at a predicate, or nullptr.
    const Posting* Find(const Condition& condition) const;

    /// What hangs at the equality with a value, or nullptr.
    Posting* AtEquality(const Value& value)
    {
        Equality* slot = FindEquality(value);
        return slot ? &slot->posting : nullptr;
    }

    /// Memory of all indexes, but not of what hangs there.
    size_t Bytes() const;

    /// Reach the items of all predicates that an event's value fulfils.
    void Collect(const Value& value, uint64_t match, Reached& reached)
    {
        if (Equality* found = FindEquality(value))
        {
            found->posting.AppendTo(reached);
        }
        if (m_others)
        {
            m_others->Collect(value, match, reached);
        }
    }

  private:
    struct Equality
    {
        bool IsFree() const
        {
            return value.Get().IsMissing();
        }

        uint64_t Hash() const
        {
            return value.Get().Hash();
        }

        Operand value;
        Posting posting;
    };

    /// What values of one kind are compared with.
    struct Numbers : Allocated
    {
        size_t Bytes() const;

        Ordered<Threshold> thresholds[5]; ///< by operator: NE to GE
        Ordered<Range> ranges;
    };

    struct Texts : Numbers
    {
        Patterns patterns[3]; ///< by operator: PREFIX to CONTAINS
    };

    /// Everything but equality.
    struct Others : Allocated
    {
        void Add(const Condition& condition, uintptr_t item);
        void Remove(const Condition& condition, uintptr_t item);
        const Posting* Find(const Condition& condition) const;
        size_t Bytes() const;
        void Collect(const Value& value, uint64_t match, Reached& reached);

        uint32_t items{0};
        Posting exists;
        std::unique_ptr<Numbers> numbers;
        std::unique_ptr<Texts> texts;
    };

    Equality* FindEquality(const Value& value) const
    {
        return m_equal.Find(value.Hash(),
                            [&](const Equality& slot) { return slot.value.Get() == value; });
    }

    uint64_t m_hash{0};
    Ref m_name;
    HashTable<Equality> m_equal;
    std::unique_ptr<Others> m_others;

  public:
    uint64_t match{0}; ///< the last one whose event had it
    Value value;       ///< in that event
    uint32_t users{0}; ///< leaves that name it; of a free place the number of the next one
};

} // namespace pysim

#endif

#ifndef PYSIM_FILTERS_PATTERNS_H
#define PYSIM_FILTERS_PATTERNS_H

#include "hash-table.h"
#include "subscription.h"

namespace pysim
{

/// Whether a text has the pattern as its start, as its end, or anywhere.
bool HasPattern(Operator op, PyObject* text, PyObject* pattern);

/// Hashes of all parts of a text, at the price of one walk over it; the walk is made when asked.
class PartHashes
{
  public:
    explicit PartHashes(PyObject* text)
        : m_text(text)
    {
    }

    /// The hash of `length` characters from `start` on; `power` is Power(length).
    uint64_t Of(Py_ssize_t start, Py_ssize_t length, uint64_t power);

    static uint64_t Power(Py_ssize_t length);
    static uint64_t OfWhole(PyObject* text);

  private:
    PyObject* m_text;
    Sequence<uint64_t, 128> m_starts; ///< the hashes of all starts, the empty one first
};

/// The strings that one operator is asked for on one attribute.
class Patterns
{
  public:
    bool IsEmpty() const
    {
        return m_table.Size() == 0;
    }

    void Add(const Value& pattern, uintptr_t item);
    void Remove(const Value& pattern, uintptr_t item);
    /// What hangs at a pattern, or nullptr.
    const Posting* Find(const Value& pattern) const
    {
        const Slot* slot = FindSlot(pattern);
        return slot ? &slot->posting : nullptr;
    }

    size_t Bytes() const
    {
        return m_table.Bytes() + m_lengths.capacity() * sizeof(Length);
    }

    /// @param match a number that no earlier call had
    void Collect(Operator op, PyObject* text, PartHashes& parts, uint64_t match, Reached& reached);

  private:
    struct Slot
    {
        bool IsFree() const
        {
            return pattern.Get().IsMissing();
        }

        uint64_t Hash() const
        {
            return hash;
        }

        uint64_t hash{0};
        Operand pattern;
        Posting posting;
        uint64_t seen{0}; ///< the last match that found it: a text may contain it twice
    };

    struct Length
    {
        Py_ssize_t length;
        uint32_t patterns;
    };

    Slot* FindSlot(const Value& pattern) const;
    static uint64_t SlotHash(uint64_t hash, Py_ssize_t length);

    HashTable<Slot> m_table;
    Vector<Length> m_lengths;
};

} // namespace pysim

#endif

#include "patterns.h"

#include <algorithm>

namespace pysim
{

namespace
{

constexpr uint64_t BASE = 0xD1342543DE82EF95;
constexpr uint32_t FEW = 8; ///< so many patterns are each looked for

uint64_t
Extended(uint64_t hash, Py_UCS4 character)
{
    return hash * BASE + character + 1;
}

} // namespace

bool
HasPattern(Operator op, PyObject* text, PyObject* pattern)
{
    switch (op)
    {
    case Operator::PREFIX:
        return PyUnicode_Tailmatch(text, pattern, 0, PY_SSIZE_T_MAX, -1) == 1;
    case Operator::SUFFIX:
        return PyUnicode_Tailmatch(text, pattern, 0, PY_SSIZE_T_MAX, 1) == 1;
    default:
        return PyUnicode_Contains(text, pattern) == 1;
    }
}

uint64_t
PartHashes::Of(Py_ssize_t start, Py_ssize_t length, uint64_t power)
{
    if (!m_starts.Size())
    {
        const auto kind = PyUnicode_KIND(m_text);
        const void* data = PyUnicode_DATA(m_text);
        const Py_ssize_t size = PyUnicode_GET_LENGTH(m_text);
        uint64_t hash = 0;
        m_starts.Push(hash);
        for (Py_ssize_t place = 0; place < size; place++)
        {
            hash = Extended(hash, PyUnicode_READ(kind, data, place));
            m_starts.Push(hash);
        }
    }
    return m_starts[start + length] - m_starts[start] * power;
}

uint64_t
PartHashes::Power(Py_ssize_t length)
{
    uint64_t power = 1;
    for (uint64_t factor = BASE; length; length >>= 1, factor *= factor)
    {
        power *= length & 1 ? factor : 1;
    }
    return power;
}

uint64_t
PartHashes::OfWhole(PyObject* text)
{
    uint64_t hash = 0;
    for (Py_ssize_t place = 0; place < PyUnicode_GET_LENGTH(text); place++)
    {
        hash = Extended(hash, PyUnicode_READ_CHAR(text, place));
    }
    return hash;
}

void
Patterns::Add(const Value& pattern, uintptr_t item)
{
    Slot* slot = FindSlot(pattern);
    if (!slot)
    {
        const Py_ssize_t length = PyUnicode_GET_LENGTH(pattern.Text());
        auto known = std::find_if(m_lengths.begin(), m_lengths.end(), [&](const Length& other) {
            return other.length == length;
        });
        if (known == m_lengths.end())
        {
            known = m_lengths.insert(known, {length, 0});
        }
        Slot fresh;
        fresh.hash = SlotHash(PartHashes::OfWhole(pattern.Text()), length);
        fresh.pattern = Operand(pattern);
        slot = m_table.Insert(std::move(fresh));
        known->patterns++;
    }
    slot->posting.Add(item);
}

void
Patterns::Remove(const Value& pattern, uintptr_t item)
{
    Slot* slot = FindSlot(pattern);
    if (!slot)
    {
        return;
    }
    slot->posting.Remove(item);
    if (!slot->posting.IsEmpty())
    {
        return;
    }
    m_table.Erase(slot);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(pattern.Text());
    auto known = std::find_if(m_lengths.begin(), m_lengths.end(), [&](const Length& other) {
        return other.length == length;
    });
    if (--known->patterns == 0)
    {
        m_lengths.erase(known);
    }
}

void
Patterns::Collect(Operator op, PyObject* text, PartHashes& parts, uint64_t match, Reached& reached)
{
    const Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    const uint32_t count = m_table.Size();
    // Few patterns in a long text: look for each of them, else ask for each part of the text.
    if (count <= FEW || (op == Operator::CONTAINS && count <= size / FEW * m_lengths.size()))
    {
        m_table.ForEach([&](const Slot& slot) {
            if (HasPattern(op, text, slot.pattern.Get().Text()))
            {
                slot.posting.AppendTo(reached);
            }
        });
        return;
    }
    for (const auto& [length, patterns] : m_lengths)
    {
        if (length > size)
        {
            continue;
        }
        const Py_ssize_t first = op == Operator::SUFFIX ? size - length : 0;
        const Py_ssize_t last = op == Operator::PREFIX ? 0 : size - length;
        const uint64_t power = PartHashes::Power(length);
        for (Py_ssize_t start = first; start <= last; start++)
        {
            const uint64_t hash = SlotHash(parts.Of(start, length, power), length);
            Slot* slot = m_table.Find(hash, [&](const Slot& other) {
                PyObject* pattern = other.pattern.Get().Text();
                return other.hash == hash && PyUnicode_GET_LENGTH(pattern) == length &&
                       PyUnicode_Tailmatch(text, pattern, start, start + length, -1) == 1;
            });
            if (slot && slot->seen != match)
            {
                slot->seen = match;
                slot->posting.AppendTo(reached);
            }
        }
    }
}

Patterns::Slot*
Patterns::FindSlot(const Value& pattern) const
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(pattern.Text());
    const uint64_t hash = SlotHash(PartHashes::OfWhole(pattern.Text()), length);
    return m_table.Find(hash, [&](const Slot& slot) { return slot.pattern.Get() == pattern; });
}

uint64_t
Patterns::SlotHash(uint64_t hash, Py_ssize_t length)
{
    return Mixed(hash + static_cast<uint64_t>(length));
}

} // namespace pysim

#include "agent-book.h"

#include "../model/frame-header.h"

#include <algorithm>

namespace pysim
{

namespace
{

constexpr uint32_t EMPTY = 1; ///< the checksum of nothing

/// Adler-32, as Python's zlib.adler32, so that a checksum is the same on every network.
uint32_t
Adler32(uint32_t checksum, const uint8_t* data, size_t size)
{
    constexpr uint32_t MODULUS = 65521;
    constexpr size_t BLOCK = 5552; // so many bytes cannot overflow the sums
    uint32_t low = checksum & 0xffff;
    uint32_t high = checksum >> 16;
    while (size > 0)
    {
        const size_t block = std::min(size, BLOCK);
#pragma GCC unroll 16
        for (const uint8_t* end = data + block; data < end; data++)
        {
            low += *data;
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
        size -= block;
    }
    return high << 16 | low;
}

} // namespace

AgentBook::Entry&
AgentBook::Find(PyObject* frame)
{
    const long type =
        PyBytes_GET_SIZE(frame) > static_cast<Py_ssize_t>(FrameHeader::TYPE_AT)
            ? reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame))[FrameHeader::TYPE_AT]
            : 0;
    for (Entry& entry : m_entries)
    {
        if (entry.type == type)
        {
            return entry;
        }
    }
    m_entries.push_back({type, {}, {}});
    return m_entries.back();
}

void
AgentBook::EnterReceived(PyObject* frame)
{
    Find(frame).received.Add(PyBytes_GET_SIZE(frame));
}

void
AgentBook::EnterSent(uint32_t target, PyObject* frame)
{
    Find(frame).sent.Add(PyBytes_GET_SIZE(frame));
    auto found = std::find_if(m_contents.begin(), m_contents.end(), [target](const auto& known) {
        return known.first == target;
    });
    if (found == m_contents.end())
    {
        found = m_contents.insert(found, {target, EMPTY});
    }
    found->second = Adler32(found->second,
                            reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame)),
                            PyBytes_GET_SIZE(frame));
}

Ref
AgentBook::ReadSide(Count Entry::* side) const
{
    Ref rows(PyDict_New());
    for (const Entry& entry : m_entries)
    {
        const Count& count = entry.*side;
        if (count.messages > 0)
        {
            Ref type(PyLong_FromLong(entry.type));
            Ref row(Py_BuildValue("[KK]",
                                  static_cast<unsigned long long>(count.messages),
                                  static_cast<unsigned long long>(count.bytes)));
            PyDict_SetItem(rows.Get(), type.Get(), row.Get());
        }
    }
    return rows;
}

PyObject*
AgentBook::Read() const
{
    Ref contents(PyDict_New());
    for (const auto& [target, checksum] : m_contents)
    {
        Ref key(PyLong_FromUnsignedLong(target));
        Ref value(PyLong_FromUnsignedLong(checksum));
        PyDict_SetItem(contents.Get(), key.Get(), value.Get());
    }
    return PyTuple_Pack(
        3, ReadSide(&Entry::sent).Get(), ReadSide(&Entry::received).Get(), contents.Get());
}

} // namespace pysim
